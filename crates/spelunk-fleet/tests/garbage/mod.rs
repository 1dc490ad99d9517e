//! Removal of blobs that nothing needs any more.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use spelunk_fleet::SnapshotFile;
use spelunk_journal::{Blobs, Disk, GcReport, SharedRuns as _, collect_garbage, digest};
use spelunk_testkit::NatsServer;
use spelunk_types::BlobId;

use super::{node, run, workspace};

#[test]
fn a_blob_that_nothing_names_is_removed_after_a_day_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let a = node(&nats, dir.path(), "a");
    let fleet = a.fleet();
    let put = |text: &str| {
        let blob = digest(text.as_bytes());
        fleet.put_blob(&blob, text.as_bytes()).unwrap();
        blob
    };
    let file = |name: &str, text: &str| {
        let path = dir.path().join(format!("file-{name}"));
        std::fs::write(&path, text).unwrap();
        SnapshotFile { name: name.to_owned(), path }
    };
    let snapshot = |name: &str, text: &str| fleet.upload_snapshot(vec![file(name, text)]).unwrap().manifest;
    let has = |blob: &BlobId| fleet.get_blob(blob).unwrap().is_some();
    // A job names its snapshot itself, or in a blob; a note names one, too.
    let (short, long, noted, loose) =
        (snapshot("a", "file a"), snapshot("b", "file b"), snapshot("c", "file c"), snapshot("d", "file d"));
    let ticket = put(&format!("{{\"snapshots\":[{{\"manifest\":\"{long}\"}}]}}"));
    fleet.enqueue("ann", "1", format!("{{\"manifest\":\"{short}\"}}").into_bytes()).unwrap();
    fleet.enqueue("ann", "2", format!("{{\"blob\":\"{ticket}\"}}").into_bytes()).unwrap();
    fleet.note_run(&run(1), format!("{{\"manifest\":\"{noted}\"}}").into_bytes()).unwrap();
    let (of_journal, useless) = (put("named by a journal"), put("named by nothing"));
    // Within a day, everything stays, whoever names it.
    let here = workspace(&a, dir.path(), "a");
    let all = GcReport { blobs_kept: 11, ..GcReport::default() };
    assert_eq!(collect_garbage(&here, false).unwrap(), all);
    let named: BTreeSet<BlobId> = a.named_blobs().unwrap();
    let of = |texts: &[&str]| texts.iter().map(|text| digest(text.as_bytes())).collect::<Vec<_>>();
    let mut expected: BTreeSet<BlobId> = [&short, &long, &noted, &ticket].into_iter().cloned().collect();
    expected.extend(of(&["file a", "file b", "file c"]));
    assert_eq!(named, expected);
    // Later, only what is named.
    let named: BTreeSet<BlobId> = named.into_iter().chain([of_journal.clone()]).collect();
    let manifest_bytes = fleet.get_blob(&loose).unwrap().unwrap().len() as u64;
    let removed = GcReport { blobs_kept: 8, files_removed: 3, bytes_removed: manifest_bytes + 6 + 16 };
    assert_eq!(a.collect_older(named.clone(), Duration::ZERO, true).unwrap(), removed);
    assert!(has(&useless) && has(&loose));
    assert_eq!(a.collect_older(named.clone(), Duration::ZERO, false).unwrap(), removed);
    assert!(!has(&useless) && !has(&loose) && !has(&of(&["file d"])[0]));
    assert!(named.iter().all(has));
    assert_eq!(
        a.collect_older(named, Duration::ZERO, false).unwrap(),
        GcReport { blobs_kept: 8, ..GcReport::default() }
    );
}

#[test]
fn a_blob_that_was_removed_is_stored_again_although_a_node_has_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let (a, b) = (node(&nats, dir.path(), "a"), node(&nats, dir.path(), "b"));
    let blobs = Blobs::new(Arc::clone(&a) as Arc<dyn Disk>);
    let blob = blobs.put(b"text").unwrap();
    a.collect_older(BTreeSet::new(), Duration::ZERO, false).unwrap();
    assert_eq!(b.fleet().get_blob(&blob).unwrap(), None);
    assert_eq!(blobs.put(b"text").unwrap(), blob);
    assert_eq!(b.fleet().get_blob(&blob).unwrap(), Some(b"text".to_vec()));
}
