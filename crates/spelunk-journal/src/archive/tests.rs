//! Whatever is packed can be unpacked, and nothing else is packed.
#![expect(clippy::disallowed_methods, reason = "tests place files by hand")]

use std::path::Path;

use spelunk_types::{EventKind, FrameId, ModelRef, ScanOptions, Strategy};

use super::*;

/// A run with one event, a blob and a file next to its journal.
fn run_in(workspace: &Workspace, bytes: usize) -> RunId {
    let run = RunId::new(1_700_000_000_000, 1);
    let question = workspace.blobs().keep(&"why? ".repeat(2_000)).unwrap();
    let start = EventKind::RunStarted {
        format: spelunk_types::JOURNAL_FORMAT,
        engine: "0".into(),
        interpreter: 0,
        question,
        strategy: Strategy::Direct,
        sources: Vec::new(),
        scan: Box::new(ScanOptions::default()),
        model: ModelRef { provider: "p".into(), name: "m".into(), base_url: String::new() },
        sub_model: None,
        other_models: None,
        schema: None,
        turn: None,
        tools: None,
        focus: spelunk_types::Focus::General,
        corpus_digest: blobs::digest(b""),
        corpus: None,
        settings_digest: blobs::digest(b""),
        limits: Box::default(),
    };
    workspace.create_journal(&run).append(0, vec![(FrameId::root(), start)]).unwrap();
    let files = crate::DerivedFiles::of_run(workspace, &run).unwrap();
    files.replace("results/large.json", &vec![b'x'; bytes]).unwrap();
    run
}

fn listed(workspace: &Workspace) -> Vec<(String, u64)> {
    let files = workspace.dir().unwrap().files_below("").unwrap();
    files
        .into_iter()
        .filter(|(name, _)| Path::new(name).extension().is_none_or(|extension| extension != "lock"))
        .map(|(name, file)| (name, file.len))
        .collect()
}

#[test]
fn what_is_packed_is_unpacked_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    // Several full buffers and a partial one.
    let run = run_in(&workspace, 3 * PIECE_BYTES + 7);
    let before = listed(&workspace);
    let packed = archive(&workspace, &run, b"{}").unwrap();
    assert_eq!(workspace.runs().unwrap(), []);
    let unpacked = unarchive(&workspace, &run).unwrap();
    assert_eq!((packed.files, packed.bytes), (unpacked.files, unpacked.bytes));
    assert_eq!(listed(&workspace), before);
    assert_eq!(workspace.read_journal(&run).unwrap().len(), 1);
}

#[test]
fn what_would_not_be_unpacked_is_not_packed() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let run = run_in(&workspace, 1_000);
    let before = listed(&workspace);
    let bytes: u64 = 2 + before.iter().map(|(_, bytes)| bytes).sum::<u64>()
        - before.iter().filter(|(name, _)| !name.contains('/')).map(|(_, bytes)| bytes).sum::<u64>();
    let cases = [
        (Bounds { bytes_max: bytes - 1, entries_max: 4 }, format!("more than {} bytes", bytes - 1)),
        (Bounds { bytes_max: bytes, entries_max: 3 }, "more than 3 files".to_owned()),
    ];
    for (bounds, why) in cases {
        let refused = archive_within(&workspace, &run, b"{}", bounds).unwrap_err();
        assert_eq!(refused.to_string(), format!("run `{}` is too large for an archive: {why}", run.short()));
        // The run is untouched.
        assert_eq!(listed(&workspace), before);
    }
    // A run that just fits is packed, and the same bounds allow unpacking it.
    let bounds = Bounds { bytes_max: bytes, entries_max: 4 };
    archive_within(&workspace, &run, b"{}", bounds).unwrap();
    unarchive_within(&workspace, &run, bounds).unwrap();
    assert_eq!(listed(&workspace), before);
}

#[test]
fn files_that_were_left_by_a_killed_process_do_not_enter_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let run = run_in(&workspace, 10);
    let before = listed(&workspace);
    archive(&workspace, &run, b"{}").unwrap();
    let left = dir.path().join("tmp").join(format!("unpacked-{}-{run}", std::process::id())).join(RUN);
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("stranger"), "x").unwrap();
    unarchive(&workspace, &run).unwrap();
    assert_eq!(listed(&workspace), before);
}
