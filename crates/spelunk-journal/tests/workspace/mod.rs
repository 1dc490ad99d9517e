//! Locks, listing, blobs, repair and garbage on the real file system.

use std::path::Path;

use spelunk_journal::{
    DerivedFiles, GcReport, JournalError, JournalTail, RepairReport, Workspace, collect_garbage, digest,
    repair,
};
use spelunk_types::{EventKind, Explain, RunId, Text};

use crate::{at_root, finished, inline, run, started, warned};

fn workspace() -> (tempfile::TempDir, Workspace) {
    let directory = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(&directory.path().join(".spelunk")).unwrap();
    (directory, workspace)
}

fn journal_path(workspace: &Workspace, run: &RunId) -> std::path::PathBuf {
    workspace.root().unwrap().join(format!("runs/{run}/journal.jsonl"))
}

fn write_run(workspace: &Workspace, run: &RunId, more: Vec<EventKind>) {
    let mut journal = workspace.create_journal(run);
    let facts = std::iter::once(started()).chain(more).map(at_root).collect();
    journal.append(1, facts).unwrap();
}

#[test]
fn one_writer_at_a_time() {
    let (_directory, workspace) = workspace();
    let lock = workspace.lock(&run()).unwrap();
    let refused = workspace.lock(&run()).unwrap_err();
    let pid = std::process::id();
    assert_eq!(refused.to_string(), format!("another process (pid {pid}) is working on run `3f9a2b1c`"));
    assert_eq!(refused.hint().unwrap(), "watch it with `spelunk tail 3f9a2b1c`");
    drop(lock);
    workspace.lock(&run()).unwrap();
}

#[test]
fn a_run_is_found_by_the_beginning_of_either_name_and_the_newest_by_none() {
    let (_directory, workspace) = workspace();
    let runs =
        [RunId::new(1_000, 0xaa00_0001), RunId::new(2_000, 0xaa00_0002), RunId::new(3_000, 0xbb00_0001)];
    for run in &runs {
        write_run(&workspace, run, Vec::new());
    }
    assert_eq!(workspace.runs().unwrap(), runs);
    assert_eq!(workspace.find(Some("bb")).unwrap(), runs[2]);
    assert_eq!(workspace.find(Some("rlm-19700101T000002Z")).unwrap(), runs[1]);
    assert_eq!(workspace.find(None).unwrap(), runs[2]);
    let ambiguous = workspace.find(Some("aa")).unwrap_err();
    assert_eq!(ambiguous.to_string(), "2 runs begin with `aa`");
    assert_eq!(ambiguous.hint().unwrap(), "choose one of aa000001, aa000002");
    assert_eq!(workspace.find(Some("cc")).unwrap_err().to_string(), "there is no run `cc`");
}

#[test]
fn a_workspace_of_another_format_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("workspace.toml"), "format = 9\n").unwrap();
    let refused = Workspace::open(directory.path()).map(|_| ()).unwrap_err();
    assert!(matches!(refused, JournalError::WorkspaceNewer { format, .. } if format == "format = 9"));
}

#[test]
fn a_blob_is_checked_against_its_name() {
    let (_directory, workspace) = workspace();
    let blobs = workspace.blobs();
    let long = "x".repeat(Text::INLINE_BYTES_MAX + 1);
    let text = blobs.keep(&long).unwrap();
    assert_eq!(text, Text::Blob { blob: digest(long.as_bytes()), bytes: long.len() as u64 });
    assert_eq!(blobs.text(&text).unwrap(), long);
    assert_eq!(blobs.keep("short").unwrap(), inline("short"));
    let blob = digest(long.as_bytes());
    let path = workspace.root().unwrap().join(format!("blobs/{}/{blob}", blob.to_string().get(..2).unwrap()));
    std::fs::write(&path, "xx").unwrap();
    assert_eq!(blobs.get(&blob).unwrap_err().to_string(), format!("blob `{blob}` is damaged"));
    assert_eq!(blobs.put(long.as_bytes()).unwrap(), blob);
    assert_eq!(blobs.text(&text).unwrap(), long, "a damaged blob is mended by writing it again");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(blobs.get(&blob).unwrap_err().to_string(), format!("blob `{blob}` is missing"));
}

#[test]
fn what_was_said_stays_in_its_event_up_to_a_length() {
    let (_directory, workspace) = workspace();
    let said = "x".repeat(Text::SAID_INLINE_BYTES_MAX);
    assert_eq!(workspace.blobs().keep_said(&said).unwrap(), inline(&said));
    let longer = format!("{said}x");
    let kept = workspace.blobs().keep_said(&longer).unwrap();
    assert_eq!(kept, Text::Blob { blob: digest(longer.as_bytes()), bytes: longer.len() as u64 });
}

#[test]
fn repair_keeps_the_sound_beginning_and_sets_the_rest_aside() {
    let (_directory, workspace) = workspace();
    write_run(&workspace, &run(), vec![warned("a"), warned("b"), finished()]);
    let path = journal_path(&workspace, &run());
    let sound = std::fs::read_to_string(&path).unwrap();
    let report = repair(&workspace, &run()).unwrap();
    assert_eq!(report, RepairReport { events_kept: 4, bytes_cut: 0, kept_in: None });
    std::fs::write(&path, sound.replace("\"b\"", "\"B\"")).unwrap();
    let report = repair(&workspace, &run()).unwrap();
    let aside = format!("runs/{}/journal.cut-at-3", run());
    let cut: String = sound.split_inclusive('\n').skip(2).collect();
    let expected = RepairReport { events_kept: 2, bytes_cut: cut.len() as u64, kept_in: Some(aside.clone()) };
    assert_eq!(report, expected);
    assert_eq!(workspace.read_journal(&run()).unwrap().len(), 2);
    let kept = std::fs::read_to_string(workspace.root().unwrap().join(aside)).unwrap();
    assert_eq!(kept, cut.replace("\"b\"", "\"B\""));
}

fn touch(path: &Path, bytes: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn garbage_is_what_no_run_names() {
    let (_directory, workspace) = workspace();
    let blobs = workspace.blobs();
    let long = |letter: &str| letter.repeat(3_000);
    let message = blobs.keep(&long("m")).unwrap();
    let record =
        serde_json::to_string(&serde_json::json!({ "messages": [message], "pad": long("p") })).unwrap();
    let kind = EventKind::CallStarted {
        call: "0#0".parse().unwrap(),
        model: "openai/m".into(),
        prompt: digest(b"prompt"),
        text: blobs.keep(&record).unwrap(),
        reserved: None,
    };
    write_run(&workspace, &run(), vec![kind, finished()]);
    blobs.keep(&long("g")).unwrap();
    touch(&workspace.root().unwrap().join("tmp/1-2"), "staged");
    let expected = GcReport { blobs_kept: 2, files_removed: 2, bytes_removed: 3_006 };
    assert_eq!(collect_garbage(&workspace, true).unwrap(), expected);
    assert_eq!(collect_garbage(&workspace, false).unwrap(), expected);
    let clean = GcReport { blobs_kept: 2, files_removed: 0, bytes_removed: 0 };
    assert_eq!(collect_garbage(&workspace, false).unwrap(), clean);
    assert_eq!(blobs.text(&message).unwrap(), long("m"), "a message of a kept prompt is kept");
}

#[test]
fn garbage_is_not_collected_under_a_run() {
    let (_directory, workspace) = workspace();
    let lock = workspace.lock(&run()).unwrap();
    assert!(matches!(collect_garbage(&workspace, false), Err(JournalError::WorkspaceBusy)));
    drop(lock);
    collect_garbage(&workspace, false).unwrap();
}

#[test]
fn a_reader_follows_whole_lines_without_a_lock() {
    let (_directory, workspace) = workspace();
    write_run(&workspace, &run(), vec![warned("a")]);
    let mut tail = JournalTail::open(&workspace, &run()).unwrap();
    assert_eq!(tail.read_new().unwrap().len(), 2);
    let path = journal_path(&workspace, &run());
    let before = std::fs::read(&path).unwrap();
    let mut opened = workspace.open_journal(&run()).unwrap();
    opened.journal.append(2, vec![at_root(finished())]).unwrap();
    let after = std::fs::read(&path).unwrap();
    std::fs::write(&path, &after[..before.len() + 10]).unwrap();
    assert_eq!(tail.read_new().unwrap().len(), 0, "half a line is no event");
    std::fs::write(&path, &after).unwrap();
    let new = tail.read_new().unwrap();
    assert_eq!(new.iter().map(spelunk_journal::Record::seq).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_run_without_a_whole_first_line_is_not_there() {
    let (_directory, workspace) = workspace();
    write_run(&workspace, &run(), Vec::new());
    let path = journal_path(&workspace, &run());
    let whole = std::fs::read(&path).unwrap();
    for torn in [&whole[..0], &whole[..10], &whole[..whole.len() - 1]] {
        std::fs::write(&path, torn).unwrap();
        assert_eq!(workspace.runs().unwrap(), []);
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(workspace.runs().unwrap(), [run()]);
}

#[test]
fn a_text_that_no_run_names_yet_is_no_garbage_while_it_is_held() {
    let (_directory, workspace) = workspace();
    let hold = workspace.hold().unwrap();
    let blob = workspace.blobs().put(b"text of a run that is about to begin").unwrap();
    assert!(matches!(collect_garbage(&workspace, false), Err(JournalError::WorkspaceBusy)));
    // The hold is shared: others may take it, and a run may start.
    drop((workspace.hold().unwrap(), workspace.lock(&run()).unwrap()));
    workspace.blobs().get(&blob).unwrap();
    drop(hold);
    assert_eq!(collect_garbage(&workspace, false).unwrap().files_removed, 1);
}

#[test]
fn writers_of_derived_files_never_share_a_staging_file() {
    let directory = tempfile::tempdir().unwrap();
    let write = |letter: u8| {
        let files = DerivedFiles::within(directory.path());
        let (name, bytes) = (format!("{}.txt", letter as char), vec![letter; 20_000]);
        for _ in 0..200 {
            files.replace(&name, &bytes).unwrap();
            assert!(
                std::fs::read(directory.path().join(&name)).unwrap() == bytes,
                "{name} holds another's bytes"
            );
        }
    };
    std::thread::scope(|scope| {
        for letter in *b"abcd" {
            scope.spawn(move || write(letter));
        }
    });
    let mut names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt", "b.txt", "c.txt", "d.txt"]);
}

#[cfg(unix)]
#[test]
fn a_derived_file_that_is_a_blob_is_stored_once_in_its_workspace_and_copied_elsewhere() {
    use std::os::unix::fs::MetadataExt as _;
    let (directory, workspace) = workspace();
    let run = RunId::new(1_700_000_000_000, 1);
    let blob = workspace.blobs().put(b"a text").unwrap();
    let (beside, elsewhere) =
        (DerivedFiles::of_run(&workspace, &run).unwrap(), DerivedFiles::within(directory.path().join("out")));
    for files in [&beside, &beside, &elsewhere] {
        files.replace_by_blob("context.txt", &blob, b"a text").unwrap();
        assert_eq!(std::fs::read(files.root().join("context.txt")).unwrap(), b"a text");
        let names = std::fs::read_dir(files.root()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["context.txt"]);
    }
    let n_names = |files: &DerivedFiles| files.root().join("context.txt").metadata().unwrap().nlink();
    assert_eq!((n_names(&beside), n_names(&elsewhere)), (2, 1));
    // Whoever replaces it leaves the blob alone.
    beside.replace("context.txt", b"another").unwrap();
    assert_eq!(workspace.blobs().get(&blob).unwrap(), b"a text");
    // A blob that is in no file of its own is written.
    beside.replace_by_blob("context.txt", &digest(b"gone"), b"gone").unwrap();
    assert_eq!(std::fs::read(beside.root().join("context.txt")).unwrap(), b"gone");
}

#[test]
fn what_a_killed_process_left_beside_a_journal_is_removed_and_nothing_else() {
    let (_directory, workspace) = workspace();
    let run = RunId::new(1_700_000_000_000, 1);
    let files = DerivedFiles::of_run(&workspace, &run).unwrap();
    files.replace("answer.md", b"whole").unwrap();
    for name in [".staged-12-3", ".staged-0123456789abcdef", "staged-by-hand"] {
        touch(&files.root().join(name), "half");
    }
    files.remove_leftovers();
    let mut names: Vec<_> =
        std::fs::read_dir(files.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["answer.md", "staged-by-hand"]);
}

#[test]
fn a_staging_file_that_another_writer_left_is_not_written_into() {
    let (_directory, workspace) = workspace();
    let tmp = workspace.root().unwrap().join("tmp");
    std::fs::create_dir_all(&tmp).unwrap();
    // Leftovers of a process with the same pid, in another container or before it was killed.
    for n in 0..50 {
        touch(&tmp.join(format!("{}-{n}", std::process::id())), "somebody's");
    }
    workspace.blobs().put(b"mine").unwrap();
    let names = std::fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().path());
    assert!(names.map(|path| std::fs::read_to_string(path).unwrap()).all(|text| text == "somebody's"));
}

#[test]
fn replies_are_evicted_beyond_the_limit_whoever_stored_them() {
    let (directory, workspace) = workspace();
    // A record has a checksum of 32 bytes.
    let record = [7; 100];
    let replies = workspace.replies();
    for n in 0_u8..3 {
        replies.put(&digest(&[n]), &record).unwrap();
    }
    assert_eq!(replies.trim(3 * 132).unwrap(), 0);
    // Another run of the same process: what is there is known, and what it stores is added.
    let other = Workspace::open(&directory.path().join(".spelunk")).unwrap().replies();
    other.put(&digest(&[3]), &record).unwrap();
    assert_eq!(other.trim(4 * 132).unwrap(), 0);
    assert_eq!(other.trim(4 * 132 - 1).unwrap(), 1);
    replies.put(&digest(&[4]), &record).unwrap();
    assert_eq!(replies.trim(2 * 132).unwrap(), 2);
    let n_left = (0_u8..5).filter(|n| replies.get(&digest(&[*n])).is_some()).count();
    assert_eq!(n_left, 2);
}
