//! The order of the queue: tenants take turns, and each tenant's jobs come in the order in which they were queued.

use std::time::Duration;

use spelunk_fleet::{Fleet, QueuedJob};
use spelunk_testkit::NatsServer;

use super::options;

const SOON: Duration = Duration::from_secs(5);

fn text(job: &QueuedJob) -> String {
    String::from_utf8(job.body().to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_with_a_thousand_jobs_does_not_delay_the_first_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let connect = |name| Fleet::connect(options(&nats.url(), dir.path(), name), Duration::ZERO).unwrap();
    let (one, two) = (connect("one"), connect("two"));
    let queue = |tenant: &str, n_jobs: usize| {
        for n in 0..n_jobs {
            one.enqueue(tenant, &format!("{tenant}{n}"), format!("{tenant}{n}").into_bytes()).unwrap();
        }
    };
    queue("ann", 1000);
    let mut taken = Vec::new();
    for node in [&one, &two] {
        taken.push(node.next_job(SOON).await.unwrap().unwrap());
    }
    queue("bob", 2);
    queue("cem", 1);
    // The next round of any node has one of each.
    for _ in 0..3 {
        taken.push(one.next_job(SOON).await.unwrap().unwrap());
    }
    let first: Vec<String> = taken.iter().map(text).collect();
    let mut round = first[2..].to_vec();
    round.sort();
    assert_eq!(
        (&first[..2], round),
        (&["ann0".to_owned(), "ann1".to_owned()][..], vec!["ann2".into(), "bob0".into(), "cem0".into()])
    );
    // What is in progress is not given again, and those who have nothing more have no turn.
    for _ in 0..2 {
        taken.push(two.next_job(SOON).await.unwrap().unwrap());
    }
    let mut last: Vec<String> = taken[5..].iter().map(text).collect();
    last.sort();
    assert_eq!(last, ["ann3", "bob1"]);
    let status = one.status().unwrap();
    assert_eq!((status.queued, status.taken), (996, 7));
    for job in &taken {
        job.done().await;
    }
    let status = one.status().unwrap();
    assert_eq!((status.queued, status.taken), (996, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_waits_gets_what_is_queued_and_what_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let connect = |name| Fleet::connect(options(&nats.url(), dir.path(), name), Duration::ZERO).unwrap();
    let (one, two) = (connect("one"), connect("two"));
    assert!(one.next_job(Duration::ZERO).await.unwrap().is_none());
    let (queued, waited) = tokio::join!(
        tokio::task::spawn_blocking({
            let two = two.clone();
            move || two.enqueue("ann", "1", b"job".to_vec())
        }),
        one.next_job(SOON)
    );
    queued.unwrap().unwrap();
    let job = waited.unwrap().unwrap();
    assert_eq!(text(&job), "job");
    assert!(two.next_job(Duration::ZERO).await.unwrap().is_none());
    let ((), again) = tokio::join!(job.give_back(Duration::ZERO), two.next_job(SOON));
    assert_eq!(text(&again.unwrap().unwrap()), "job");
}
