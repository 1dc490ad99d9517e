//! What a desk holds, who may change it, and its limits.

use proptest::prelude::*;

use crate::{Desk, DeskError, DeskLimits, DeskPath, Entry, Rights, Zone};

fn path(path: &str) -> DeskPath {
    DeskPath::parse(path).unwrap()
}

fn told<T>(result: Result<T, DeskError>) -> String {
    match result {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_empty_desk_has_its_areas() {
    let desk = Desk::new(DeskLimits::default());
    let names = |at: &str| {
        let listed = desk.list(&path(at)).unwrap();
        listed.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("/"), "cache input output scratch state tools");
    assert_eq!(names("input"), "attachments contexts");
    assert_eq!(names("scratch"), "scripts tmp");
    assert_eq!(names("state"), "buffers");
}

#[test]
fn rights_follow_the_areas() {
    let rights = |at: &str| Zone::rights(&path(at));
    for read_only in [
        "/",
        "input",
        "input/prompt.md",
        "tools/x.py",
        "state/job.json",
        "state/metrics.json",
        "cache/llm/x",
        "other",
        "state/notes.md/x",
        "outputs/x",
    ] {
        assert_eq!(rights(read_only), Rights::Read, "{read_only}");
    }
    for writable in
        ["scratch/a", "output/answer.md", "cache/indexes/a.json", "state/notes.md", "scratch/tmp/x/y"]
    {
        assert_eq!(rights(writable), Rights::Write, "{writable}");
    }
    assert_eq!(rights("state/evidence.jsonl"), Rights::Through("Evidence"));
    assert_eq!(rights("state/buffers/a.jsonl"), Rights::Through("Buffer"));
}

#[test]
fn the_engine_writes_where_the_model_may_not() {
    let mut desk = Desk::new(DeskLimits::default());
    let job = path("state/job.json");
    desk.put(&job, "{}").unwrap();
    let read_only = "`state/job.json` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`";
    assert_eq!(told(desk.write(&job, "{\"calls_max\": 1000000}")), read_only);
    assert_eq!(told(desk.append(&job, b"x")), read_only);
    assert_eq!(told(desk.remove(&job)), read_only);
    assert_eq!(told(desk.rename(&job, &path("output/job.json"))), read_only);
    assert_eq!(told(desk.rename(&path("output/x"), &job)), read_only);
    assert_eq!(
        told(desk.append(&path("state/evidence.jsonl"), b"{}\n")),
        "`state/evidence.jsonl` can only be appended to with the Evidence tool"
    );
    assert_eq!(desk.read(&job).unwrap().as_ref(), b"{}");
    assert_eq!(told(desk.remove_all(&path("scratch"))), read_only.replace("state/job.json", "scratch"));
}

#[test]
fn every_limit_refuses_with_its_number_and_changes_nothing() {
    let limits = DeskLimits { files_max: 3, bytes_max: 10, file_bytes_max: 6, ..DeskLimits::default() };
    let mut desk = Desk::new(limits);
    desk.write(&path("scratch/a"), "123456").unwrap();
    let before = desk.digest();
    assert_eq!(
        told(desk.write(&path("scratch/a"), "1234567")),
        "`scratch/a` would have 7 bytes; the maximum per file is 6; split it into several files"
    );
    assert_eq!(
        told(desk.append(&path("scratch/a"), b"7")),
        "`scratch/a` would have 7 bytes; the maximum per file is 6; split it into several files"
    );
    assert_eq!(
        told(desk.write(&path("scratch/b"), "12345")),
        "the folder would have 11 bytes; the maximum is 10; remove files under `scratch/`"
    );
    assert_eq!(
        told(desk.write(&path("scratch/x/y/z"), "1")),
        "the folder can have at most 3 files and directories; remove some under `scratch/`"
    );
    assert_eq!(
        told(desk.make_directory(&path("scratch/p/q/r"))),
        told(desk.write(&path("scratch/x/y/z"), "1"))
    );
    assert_eq!(desk.digest(), before);
    desk.write(&path("scratch/a"), "1").unwrap();
    desk.write(&path("scratch/b"), "12345").unwrap();
    assert_eq!(desk.bytes(), 6);
}

#[test]
fn a_file_is_no_directory_and_a_directory_no_file() {
    let mut desk = Desk::new(DeskLimits::default());
    desk.write(&path("scratch/a"), "x").unwrap();
    desk.make_directory(&path("scratch/d/e")).unwrap();
    assert_eq!(told(desk.write(&path("scratch/a/b"), "x")), "`scratch/a` is a file, not a directory");
    assert_eq!(told(desk.write(&path("scratch/d"), "x")), "`scratch/d` is a directory; name a file in it");
    assert_eq!(told(desk.make_directory(&path("scratch/a"))), "`scratch/a` already exists");
    assert_eq!(told(desk.remove(&path("scratch/d"))), "`scratch/d` is a directory that is not empty");
    assert_eq!(told(desk.read(&path("scratch/A"))), "`scratch/A` does not exist; did you mean `scratch/a`?");
    assert_eq!(told(desk.read(&path("scratch/none"))), "`scratch/none` does not exist");
    assert_eq!(desk.entry(&path("scratch/d/e")), Some(Entry::Directory));
}

#[test]
fn a_directory_moves_with_what_is_in_it() {
    let mut desk = Desk::new(DeskLimits::default());
    desk.write(&path("scratch/a/b/c"), "1").unwrap();
    desk.write(&path("scratch/a-b"), "2").unwrap();
    desk.rename(&path("scratch/a"), &path("output/z/y")).unwrap();
    let all: Vec<&str> = desk.files().map(|(path, _)| path.as_str()).collect();
    assert_eq!(all, ["output/z/y/b/c", "scratch/a-b"]);
    assert_eq!(desk.entry(&path("scratch/a")), None);
    assert_eq!(desk.entry(&path("output/z")), Some(Entry::Directory));
    assert!(desk.rename(&path("output/z"), &path("output/z/y/x")).is_err());
    desk.remove_all(&path("output/z")).unwrap();
    assert_eq!(desk.bytes(), 1);
}

#[test]
fn a_clone_is_another_desk() {
    let mut desk = Desk::new(DeskLimits::default());
    desk.write(&path("scratch/a"), "one").unwrap();
    desk.write(&path("scratch/gone"), "x").unwrap();
    let before = desk.clone();
    desk.append(&path("scratch/a"), b" two").unwrap();
    desk.write(&path("output/b"), "b").unwrap();
    desk.remove(&path("scratch/gone")).unwrap();
    assert_eq!(before.read(&path("scratch/a")).unwrap().as_ref(), b"one");
    let changed: Vec<String> = desk.changed_since(&before).iter().map(ToString::to_string).collect();
    assert_eq!(changed, ["output/b", "scratch/a", "scratch/gone"]);
    assert_ne!(desk.digest(), before.digest());
    // How it got there does not matter.
    let mut other = Desk::new(DeskLimits::default());
    other.write(&path("output/b"), "b").unwrap();
    other.write(&path("scratch/a"), "one two").unwrap();
    assert_eq!(other.digest(), desk.digest());
}

#[test]
fn lines_and_slices_of_a_file() {
    let mut desk = Desk::new(DeskLimits::default());
    let at = path("scratch/a");
    desk.write(&at, "one\r\ntwo\n\nfour").unwrap();
    let read = desk.lines(&at, 2, 2).unwrap();
    assert_eq!((read.lines, read.n_lines), (vec!["two".to_owned(), String::new()], 4));
    assert_eq!(desk.lines(&at, 9, 2).unwrap().lines, Vec::<String>::new());
    assert_eq!(desk.slice(&at, 5..8).unwrap(), "two");
    assert_eq!(desk.slice(&at, 12..u64::MAX).unwrap(), "ur");
    desk.write(&at, "").unwrap();
    assert_eq!(desk.lines(&at, 1, 5).unwrap().n_lines, 0);
}

/// An action of the model or the engine.
#[derive(Debug, Clone)]
enum Step {
    Write(String, usize),
    Append(String, usize),
    Make(String),
    Remove(String),
    RemoveAll(String),
    Rename(String, String),
}

fn place() -> impl Strategy<Value = String> {
    "(scratch|output|state|input)(/[ab]){0,3}"
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (place(), 0..40_usize).prop_map(|(path, n)| Step::Write(path, n)),
        (place(), 0..40_usize).prop_map(|(path, n)| Step::Append(path, n)),
        place().prop_map(Step::Make),
        place().prop_map(Step::Remove),
        place().prop_map(Step::RemoveAll),
        (place(), place()).prop_map(|(from, to)| Step::Rename(from, to)),
    ]
}

proptest! {
    #[test]
    fn whatever_is_done_the_desk_stays_whole(steps in prop::collection::vec(step(), 0..60)) {
        let limits = DeskLimits { files_max: 12, bytes_max: 200, file_bytes_max: 60, ..DeskLimits::default() };
        let mut desk = Desk::new(limits);
        desk.put(&path("input/prompt.md"), "given").unwrap();
        for step in steps {
            let before = desk.clone();
            let done = match &step {
                Step::Write(at, n) => desk.write(&path(at), vec![b'x'; *n]),
                Step::Append(at, n) => desk.append(&path(at), &vec![b'y'; *n]),
                Step::Make(at) => desk.make_directory(&path(at)),
                Step::Remove(at) => desk.remove(&path(at)),
                Step::RemoveAll(at) => desk.remove_all(&path(at)),
                Step::Rename(from, to) => desk.rename(&path(from), &path(to)),
            };
            if done.is_err() {
                prop_assert_eq!(desk.digest(), before.digest(), "{:?} was refused and changed something", step);
            }
            let bytes: usize = desk.files().map(|(_, bytes)| bytes.len()).sum();
            prop_assert_eq!(bytes as u64, desk.bytes());
            prop_assert!(desk.bytes() <= 200 && desk.files().len() <= 12);
            prop_assert_eq!(desk.read(&path("input/prompt.md")).unwrap().into_owned(), b"given".to_vec());
            for (file, _) in desk.files() {
                let above = file.parent().unwrap();
                prop_assert_eq!(desk.entry(&above), Some(Entry::Directory), "{} has no directory", file);
                prop_assert!(desk.list(&above).unwrap().iter().any(|(name, _)| name == file.name()));
            }
        }
    }
}
