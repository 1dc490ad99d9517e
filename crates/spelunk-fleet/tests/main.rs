//! What a fleet promises its nodes, with a real NATS server: the files of a node behave as those of one machine, and of
//! two writers only one writes.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests stop at the first surprise")]

mod access;
mod calls;
mod garbage;
mod outage;
mod queue;
mod rates;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelunk_fleet::{Fleet, FleetError, FleetOptions, FleetWorkspace, NodeReport, OUTAGE_MAX, SnapshotFile};
use spelunk_fs::PrivateDir;
use spelunk_journal::{Blobs, Disk, FileDisk, Journal, JournalError, SharedRuns as _, Workspace, digest};
use spelunk_testkit::{FaultDisk, NatsServer};
use spelunk_types::{EventKind, Explain as _, FrameId, RunId};

const LEASE: Duration = Duration::from_secs(1);

fn run(tail: u32) -> RunId {
    RunId::new(1_700_000_000_000, tail)
}

fn options(nats: &str, dir: &Path, node: &str) -> FleetOptions {
    FleetOptions {
        url: nats.to_owned(),
        credentials: None,
        ca_file: None,
        prefix: "test".into(),
        node: node.into(),
        lease: LEASE,
        cache: dir.join(node).join("cache"),
        cache_bytes_max: 1 << 20,
        calls_max: 2,
        outage_max: OUTAGE_MAX,
    }
}

fn node(nats: &NatsServer, dir: &Path, name: &str) -> Arc<FleetWorkspace> {
    let fleet = Fleet::connect(options(&nats.url(), dir, name), Duration::ZERO).unwrap();
    FleetWorkspace::new(fleet, PrivateDir::new(dir.join(name).join("files")))
}

fn workspace(node: &Arc<FleetWorkspace>, dir: &Path, name: &str) -> Workspace {
    let opened = Workspace::open(&dir.join(name).join("files")).unwrap();
    opened.with_shared(Arc::clone(node) as Arc<dyn Disk>, Arc::clone(node) as _)
}

fn warning(n: usize) -> (FrameId, EventKind) {
    let kind = EventKind::WarningRaised { message: format!("warning {n}"), hint: String::new() };
    (FrameId::root(), kind)
}

/// A journal line of its own, without the meaning of events.
fn line(n: usize) -> Vec<u8> {
    format!("{{\"line\":{n}}}\n").into_bytes()
}

/// What every disk does, wherever its files are.
fn keeps_the_contract(disk: &Arc<dyn Disk>) {
    let journal = format!("runs/{}/journal.jsonl", run(1));
    assert_eq!(disk.read(&journal).unwrap(), None);
    assert_eq!(disk.read_at(&journal, 0, 4).unwrap(), None);
    for n in 0..3 {
        disk.append(&journal, &line(n)).unwrap();
    }
    disk.sync(&journal).unwrap();
    disk.sync_name(&journal).unwrap();
    let whole = [line(0), line(1), line(2)].concat();
    assert_eq!(disk.read(&journal).unwrap(), Some(whole.clone()));
    assert_eq!(disk.read_at(&journal, 3, 4).unwrap(), Some(whole[3..7].to_vec()));
    assert_eq!(disk.read_at(&journal, 1_000, 4).unwrap(), Some(Vec::new()));
    let blobs = Blobs::new(Arc::clone(disk));
    let large = vec![7; 3 << 20];
    for bytes in [&b""[..], b"short", &large] {
        let blob = blobs.put(bytes).unwrap();
        assert_eq!(blob, digest(bytes));
        assert_eq!(blobs.get(&blob).unwrap(), bytes);
        assert_eq!(blobs.put(bytes).unwrap(), blob);
    }
    disk.create("cache/a", b"1").unwrap();
    disk.create("cache/a", b"22").unwrap();
    disk.truncate("cache/a", 1).unwrap();
    assert_eq!(disk.read("cache/a").unwrap(), Some(b"2".to_vec()));
}

#[test]
fn files_of_a_node_behave_as_those_of_one_machine() {
    let dir = tempfile::tempdir().unwrap();
    keeps_the_contract(&(Arc::new(FileDisk::new(dir.path().join("file"))) as _));
    keeps_the_contract(&(Arc::new(FaultDisk::sound()) as _));
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    keeps_the_contract(&(node(&nats, dir.path(), "a") as _));
}

#[test]
fn what_one_node_wrote_another_one_reads() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let (a, b) = (node(&nats, dir.path(), "a"), node(&nats, dir.path(), "b"));
    let (here, there) = (workspace(&a, dir.path(), "a"), workspace(&b, dir.path(), "b"));
    assert!(!there.has(&run(1)) && there.runs().unwrap().is_empty());
    let lock = here.lock(&run(1)).unwrap();
    assert!(here.is_locked(&run(1)) && there.is_locked(&run(1)));
    let journal = format!("runs/{}/journal.jsonl", run(1));
    let blob = here.blobs().put(&vec![1; 500_000]).unwrap();
    for n in 0..100 {
        a.append(&journal, &line(n)).unwrap();
    }
    assert!(there.has(&run(1)));
    assert_eq!(there.runs().unwrap(), [run(1)]);
    there.refresh(&run(1));
    let expected: Vec<u8> = (0..100).flat_map(line).collect();
    assert_eq!(b.read(&journal).unwrap(), Some(expected.clone()));
    assert_eq!(there.blobs().get(&blob).unwrap().len(), 500_000);
    a.append(&journal, &line(100)).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    there.refresh(&run(1));
    assert_eq!(b.read(&journal).unwrap(), Some([expected, line(100)].concat()));
    drop(lock);
    assert!(!there.is_locked(&run(1)));
    // A copy that somebody damaged is fetched again.
    std::fs::write(dir.path().join("b/files").join(&journal), b"{").unwrap();
    std::thread::sleep(Duration::from_millis(60));
    there.refresh(&run(1));
    assert_eq!(b.read(&journal).unwrap().map(|bytes| bytes.len()), Some((0..=100).flat_map(line).count()));
    spelunk_journal::remove_run(&here, &run(1)).unwrap();
    assert!(!there.has(&run(1)) && there.runs().unwrap().is_empty());
}

#[test]
fn a_reader_in_the_process_of_the_writer_leaves_its_journal_alone() {
    use std::io::Read as _;
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let a = node(&nats, dir.path(), "a");
    let here = workspace(&a, dir.path(), "a");
    let journal = format!("runs/{}/journal.jsonl", run(8));
    let _lock = here.lock(&run(8)).unwrap();
    a.append(&journal, &line(0)).unwrap();
    let mut written = std::fs::File::open(dir.path().join("a/files").join(&journal)).unwrap();
    here.refresh(&run(8));
    a.append(&journal, &line(1)).unwrap();
    let mut lines = Vec::new();
    written.read_to_end(&mut lines).unwrap();
    assert_eq!(lines, [line(0), line(1)].concat());
}

#[test]
fn a_run_has_one_lease_and_a_writer_that_lost_it_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let (a, b) = (node(&nats, dir.path(), "a"), node(&nats, dir.path(), "b"));
    let (here, there) = (workspace(&a, dir.path(), "a"), workspace(&b, dir.path(), "b"));
    let journal = format!("runs/{}/journal.jsonl", run(2));
    let lock = here.lock(&run(2)).unwrap();
    a.append(&journal, &line(0)).unwrap();
    let refused = there.lock(&run(2)).err().unwrap();
    assert!(matches!(&refused, JournalError::Leased { node, .. } if node == "a"), "{refused}");
    // Renewed for longer than it is valid.
    std::thread::sleep(LEASE * 2);
    assert!(there.lock(&run(2)).is_err());
    drop(lock);
    // Both believe that they may write: the second one read the journal after the first one wrote.
    let _lock = there.lock(&run(2)).unwrap();
    b.catch_up(&run(2)).unwrap();
    b.append(&journal, &line(1)).unwrap();
    let refused = a.append(&journal, &line(9)).unwrap_err();
    let refused = refused.get_ref().unwrap().downcast_ref::<FleetError>().unwrap();
    assert!(matches!(refused, FleetError::TakenOver { .. }), "{refused}");
    a.catch_up(&run(2)).unwrap();
    assert_eq!(a.read(&journal).unwrap(), Some([line(0), line(1)].concat()));
}

#[test]
fn a_server_that_comes_back_loses_nothing_and_stores_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut nats) = NatsServer::start(dir.path()) else { return };
    let a = node(&nats, dir.path(), "a");
    let here = workspace(&a, dir.path(), "a");
    let _lock = here.lock(&run(4)).unwrap();
    let mut journal = Journal::create(Arc::clone(&a) as _, &run(4));
    journal.append(1, (0..3).map(warning).collect()).unwrap();
    nats.kill();
    let writing = std::thread::spawn(move || {
        let began = Instant::now();
        journal.append(2, (3..6).map(warning).collect()).unwrap();
        began.elapsed()
    });
    std::thread::sleep(Duration::from_secs(2));
    nats.restart();
    let waited = writing.join().unwrap();
    assert!(waited > Duration::from_secs(1), "{waited:?}");
    let b = node(&nats, dir.path(), "b");
    workspace(&b, dir.path(), "b").refresh(&run(4));
    let bytes = b.read(&format!("runs/{}/journal.jsonl", run(4))).unwrap().unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap().lines().count(), 6);
}

#[test]
fn a_fleet_that_cannot_be_used_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let refused = |options: FleetOptions| {
        let error = Fleet::connect(options, Duration::ZERO).err().unwrap();
        (error.code().name(), error.to_string())
    };
    let away = options("nats://me:secret@127.0.0.1:1", dir.path(), "a");
    let (code, message) = refused(away);
    assert_eq!(code, "fleet-unavailable");
    assert!(message.contains("nats://127.0.0.1:1") && !message.contains("secret"), "{message}");
    let odd = FleetOptions { prefix: "a.b".into(), ..options(&nats.url(), dir.path(), "a") };
    assert_eq!(refused(odd).0, "fleet-unusable");
    drop(node(&nats, dir.path(), "a"));
    let other = FleetOptions { lease: LEASE * 2, ..options(&nats.url(), dir.path(), "b") };
    let (code, message) = refused(other);
    assert_eq!(code, "fleet-unusable");
    assert_eq!(
        message,
        "the stream `KV_test_leases` exists with other settings: its values expire after 1000 ms, not 2000 ms"
    );
}

#[test]
fn a_snapshot_is_sent_once_and_unpacked_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let (a, b) = (node(&nats, dir.path(), "a"), node(&nats, dir.path(), "b"));
    let files: Vec<SnapshotFile> = [("a.md", "alpha"), ("deep/b.md", "beta"), ("deep/same.md", "alpha")]
        .iter()
        .map(|(name, text)| {
            let path = dir.path().join("text").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            SnapshotFile { name: (*name).to_owned(), path }
        })
        .collect();
    let first = a.fleet().upload_snapshot(files.clone()).unwrap();
    let again = a.fleet().upload_snapshot(files).unwrap();
    assert_eq!((first.files, first.bytes), (3, 14));
    assert_eq!((again.bytes_sent, &again.manifest), (0, &first.manifest));
    let unpacked = b.snapshot(&first.manifest).unwrap();
    assert_eq!(std::fs::read_to_string(unpacked.join("deep/b.md")).unwrap(), "beta");
    assert_eq!(
        b.snapshot_of(&unpacked.join("deep/b.md")),
        Some((first.manifest.clone(), Some("deep/b.md".into())))
    );
    assert_eq!(b.snapshot_of(&unpacked), Some((first.manifest, None)));
    assert_eq!(b.snapshot_of(dir.path()), None);
    let unknown = b.snapshot(&digest(b"nothing")).unwrap_err();
    assert!(unknown.to_string().contains("is missing"), "{unknown}");
}

/// A server keeps only so many consumers, and a viewer asks every few seconds.
#[tokio::test(flavor = "multi_thread")]
async fn asking_for_the_state_leaves_no_consumer_behind() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let fleet = Fleet::connect(options(&nats.url(), dir.path(), "a"), Duration::ZERO).unwrap();
    let report = NodeReport { role: "worker", version: "1", slots: 4, running: 0, calls_max: 2, calls: 0 };
    fleet.report(&report).await.unwrap();
    for _ in 0..3 {
        assert_eq!(fleet.status().unwrap().nodes.into_keys().collect::<Vec<_>>(), ["a"]);
    }
    let client = async_nats::connect(nats.url()).await.unwrap();
    let context = async_nats::jetstream::new(client);
    for bucket in ["KV_test_nodes", "KV_test_leases"] {
        let stream = context.get_stream(bucket).await.unwrap();
        assert_eq!(stream.get_info().await.unwrap().state.consumer_count, 0, "{bucket}");
    }
    fleet.leave().await;
    assert!(fleet.status().unwrap().nodes.is_empty());
}

#[test]
fn three_servers_survive_the_loss_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut cluster) = NatsServer::cluster(dir.path(), 3) else { return };
    let url = cluster.iter().map(NatsServer::url).collect::<Vec<_>>().join(",");
    // A new cluster needs a moment to choose its leader.
    let began = Instant::now();
    let fleet = loop {
        match Fleet::connect(options(&url, dir.path(), "a"), Duration::ZERO) {
            Ok(fleet) => break fleet,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(fleet.status().unwrap().replicas, 3);
    let a = FleetWorkspace::new(fleet, PrivateDir::new(dir.path().join("a/files")));
    let journal = format!("runs/{}/journal.jsonl", run(5));
    let _lease = a.lease(&run(5)).unwrap();
    for n in 0..30 {
        if n == 10 {
            cluster[0].kill();
        }
        a.append(&journal, &line(n)).unwrap();
    }
    let url = cluster[1..].iter().map(NatsServer::url).collect::<Vec<_>>().join(",");
    let fleet = Fleet::connect(options(&url, dir.path(), "b"), Duration::from_secs(10)).unwrap();
    let b = FleetWorkspace::new(fleet, PrivateDir::new(dir.path().join("b/files")));
    b.catch_up(&run(5)).unwrap();
    assert_eq!(b.read(&journal).unwrap(), Some((0..30).flat_map(line).collect()));
}

const ACCOUNTS: &str = "accounts {
  one { jetstream: enabled, users: [{ user: ann, password: \"s@same\" }] }
  two { jetstream: enabled, users: [{ user: bob, password: mellon }] }
}
";

#[test]
fn accounts_see_nothing_of_each_other_and_need_the_right_password() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::configured(dir.path(), ACCOUNTS) else { return };
    let as_user = |who: &str| nats.url().replace("nats://", &format!("nats://{who}@"));
    let connect =
        |who: &str, node: &str| Fleet::connect(options(&as_user(who), dir.path(), node), Duration::ZERO);
    let of = |who: &str, node: &str| {
        FleetWorkspace::new(connect(who, node).unwrap(), PrivateDir::new(dir.path().join(node).join("files")))
    };
    let (ann, other) = (of("ann:s%40same", "a"), of("bob:mellon", "b"));
    let _lease = ann.lease(&run(6)).unwrap();
    ann.append(&format!("runs/{}/journal.jsonl", run(6)), &line(0)).unwrap();
    let blob = digest(b"of ann");
    ann.fleet().put_blob(&blob, b"of ann").unwrap();
    assert!(ann.has(&run(6)).unwrap() && !other.has(&run(6)).unwrap());
    assert_eq!((other.runs().unwrap(), other.fleet().get_blob(&blob).unwrap()), (vec![], None));
    assert!(other.lease(&run(6)).is_ok());
    let refused = connect("ann:wrong", "c").err().unwrap();
    assert_eq!(refused.code().name(), "fleet-unavailable");
    assert!(refused.to_string().contains("authorization"), "{refused}");
    assert!(!refused.to_string().contains("wrong"), "{refused}");
}

#[test]
fn a_full_store_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::configured(dir.path(), "jetstream { max_file_store: 2MB }\n") else {
        return;
    };
    let options = FleetOptions { outage_max: LEASE * 10, ..options(&nats.url(), dir.path(), "a") };
    let fleet = Fleet::connect(options, Duration::ZERO).unwrap();
    let a = FleetWorkspace::new(fleet, PrivateDir::new(dir.path().join("files")));
    let _lease = a.lease(&run(7)).unwrap();
    let journal = format!("runs/{}/journal.jsonl", run(7));
    let long = format!("{{\"text\":\"{}\"}}\n", "x".repeat(400_000));
    let full = (0..20).find_map(|_| a.append(&journal, long.as_bytes()).err()).unwrap();
    let error = full.get_ref().unwrap().downcast_ref::<FleetError>().unwrap();
    assert!(matches!(error, FleetError::Full { .. }), "{error}");
    assert!(error.hint().unwrap().contains("storage limits"));
    // A blob is refused at once, too: waiting does not help.
    let large = vec![1; 3 << 20];
    let full = a.fleet().put_blob(&digest(&large), &large).unwrap_err();
    assert!(matches!(full, FleetError::Full { .. }), "{full}");
}
