//! Shares of a model's rate: all nodes together have the whole of it.

use std::time::{Duration, Instant};

use spelunk_fleet::Fleet;
use spelunk_model::{CallPlaces as _, Rate};
use spelunk_testkit::NatsServer;
use spelunk_types::ModelRef;

use super::options;

const REQUESTS: u64 = 640;

fn rate(requests: u64, tokens: u64) -> Rate {
    Rate { requests_per_minute: Some(requests), tokens_per_minute: Some(tokens) }
}

fn model() -> ModelRef {
    ModelRef { provider: "openai".into(), name: "m".into(), base_url: "http://127.0.0.1:1".into() }
}

/// What each node may use now: requests, or zero. Asking for it is using it.
fn parts(nodes: &[&Fleet]) -> Vec<u64> {
    let of = |node: &&Fleet| node.share(&model(), rate(REQUESTS, 64_000));
    let requests = |part: Option<Rate>| {
        let Some(part) = part else { return 0 };
        assert_eq!(part.tokens_per_minute, part.requests_per_minute.map(|requests| requests * 100));
        part.requests_per_minute.unwrap()
    };
    nodes.iter().map(of).map(requests).collect()
}

/// Waits until the nodes have these parts.
#[track_caller]
fn until(nodes: &[&Fleet], expected: &[u64]) {
    let began = Instant::now();
    loop {
        let have = parts(nodes);
        if have == expected {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{have:?} and not {expected:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn shares_are_borrowed_and_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let connect = |name| Fleet::connect(options(&nats.url(), dir.path(), name), Duration::ZERO).unwrap();
    let (a, b, c) = (connect("a"), connect("b"), connect("c"));
    // A node has nothing before it asked for it.
    assert_eq!(parts(&[&a]), [0]);
    until(&[&a], &[640]);
    until(&[&a, &b], &[320, 320]);
    until(&[&a, &b, &c], &[210, 210, 220]);
    // One that does not call the model any more leaves its part to the others, and so does one that goes.
    until(&[&b, &c], &[320, 320]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(b.leave());
    until(&[&c], &[640]);
    // Another rate is another matter.
    assert_eq!(c.share(&model(), rate(1, 1)), None);
}
