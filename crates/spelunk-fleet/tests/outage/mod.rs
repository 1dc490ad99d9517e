//! Servers that are away, slow or out of reach.

use std::sync::Arc;
use std::time::{Duration, Instant};

use spelunk_fleet::{Fleet, FleetError, FleetOptions, FleetWorkspace, OUTAGE_MAX};
use spelunk_fs::PrivateDir;
use spelunk_journal::{Disk as _, SharedRuns as _, digest};
use spelunk_testkit::{NatsServer, Proxy};

use super::{LEASE, line, node, options, run};

fn of_fleet(error: &std::io::Error) -> &FleetError {
    error.get_ref().unwrap().downcast_ref().unwrap()
}

fn behind(proxy: &Proxy, dir: &std::path::Path, name: &str, outage_max: Duration) -> Arc<FleetWorkspace> {
    let options = FleetOptions { outage_max, ..options(&proxy.url(), dir, name) };
    let fleet = Fleet::connect(options, Duration::ZERO).unwrap();
    FleetWorkspace::new(fleet, PrivateDir::new(dir.join(name).join("files")))
}

#[test]
fn a_run_waits_ten_minutes_for_the_servers_and_records_nothing_meanwhile() {
    assert_eq!(OUTAGE_MAX, Duration::from_mins(10));
    let dir = tempfile::tempdir().unwrap();
    let Some(mut nats) = NatsServer::start(dir.path()) else { return };
    let proxy = Proxy::to(nats.port());
    let outage_max = Duration::from_secs(2);
    let a = behind(&proxy, dir.path(), "a", outage_max);
    let journal = format!("runs/{}/journal.jsonl", run(1));
    let _lease = a.lease(&run(1)).unwrap();
    a.append(&journal, &line(0)).unwrap();
    nats.kill();
    let began = Instant::now();
    let silent = a.append(&journal, &line(1)).unwrap_err();
    assert!(matches!(of_fleet(&silent), FleetError::Silent { .. }), "{silent}");
    assert!(began.elapsed() >= outage_max, "{:?}", began.elapsed());
    assert!(FleetError::is_outage(&silent));
    // The copy has no more than the fleet.
    assert_eq!(a.read(&journal).unwrap(), Some(line(0)));
    // Blobs wait as long.
    let began = Instant::now();
    assert!(a.fleet().put_blob(&digest(b"blob"), b"blob").is_err());
    assert!(began.elapsed() >= outage_max, "{:?}", began.elapsed());
    // A process that stops does not wait.
    a.fleet().close();
    let began = Instant::now();
    assert!(a.append(&journal, &line(1)).is_err());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn a_writer_that_was_cut_off_writes_nothing_after_the_takeover() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let proxy = Proxy::to(nats.port());
    let (a, b) = (behind(&proxy, dir.path(), "a", OUTAGE_MAX), node(&nats, dir.path(), "b"));
    let journal = format!("runs/{}/journal.jsonl", run(1));
    let _ours = a.lease(&run(1)).unwrap();
    a.append(&journal, &line(0)).unwrap();
    proxy.cut();
    let writing = {
        let (a, journal) = (Arc::clone(&a), journal.clone());
        // It is on its way when the network is cut, and arrives after the takeover.
        std::thread::spawn(move || a.append(&journal, &line(66)).unwrap_err())
    };
    let began = Instant::now();
    let _theirs = loop {
        match b.lease(&run(1)) {
            Ok(lease) => break lease,
            Err(error) => assert!(began.elapsed() < LEASE * 20, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    b.catch_up(&run(1)).unwrap();
    b.append(&journal, &line(1)).unwrap();
    proxy.heal();
    let refused = writing.join().unwrap();
    assert!(matches!(of_fleet(&refused), FleetError::TakenOver { .. }), "{refused}");
    // A node that meets another writer when it begins returns the run to the queue.
    assert!(FleetError::is_outage(&refused));
    b.append(&journal, &line(2)).unwrap();
    a.catch_up(&run(1)).unwrap();
    assert_eq!(a.read(&journal).unwrap(), Some([line(0), line(1), line(2)].concat()));
    // It works on other runs.
    let other = format!("runs/{}/journal.jsonl", run(2));
    let _lease = a.lease(&run(2)).unwrap();
    a.append(&other, &line(7)).unwrap();
    assert!(b.has(&run(2)).unwrap());
}

#[test]
fn slow_servers_are_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let proxy = Proxy::to(nats.port());
    let a = behind(&proxy, dir.path(), "a", OUTAGE_MAX);
    proxy.delay(Duration::from_millis(100));
    let journal = format!("runs/{}/journal.jsonl", run(1));
    let _lease = a.lease(&run(1)).unwrap();
    for n in 0..10 {
        a.append(&journal, &line(n)).unwrap();
    }
    // The lease is kept although each answer takes 200 ms.
    std::thread::sleep(LEASE * 3);
    let b = node(&nats, dir.path(), "b");
    assert!(b.lease(&run(1)).is_err());
    a.append(&journal, &line(10)).unwrap();
    b.catch_up(&run(1)).unwrap();
    assert_eq!(b.read(&journal).unwrap(), Some((0..11).flat_map(line).collect()));
}

#[test]
fn leases_that_end_while_they_are_renewed_are_released() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let proxy = Proxy::to(nats.port());
    let (a, b) = (behind(&proxy, dir.path(), "a", OUTAGE_MAX), node(&nats, dir.path(), "b"));
    let leases: Vec<_> = (1..=16).map(|n| a.lease(&run(n)).unwrap()).collect();
    // From now on, most of the time is spent waiting for a renewal.
    proxy.delay(LEASE / 5);
    std::thread::sleep(LEASE);
    drop(leases);
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(a.fleet().status().unwrap().leases));
    told.recv_timeout(Duration::from_mins(1)).expect("the fleet answers");
    let began = Instant::now();
    while !b.fleet().status().unwrap().leases.is_empty() {
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", b.fleet().status());
        std::thread::sleep(Duration::from_millis(20));
    }
}
