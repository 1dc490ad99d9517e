//! Documents on a desk: found by name, read in place, never written.

use std::sync::Arc;

use spelunk_context::{Corpus, ScanOptions, SourceInput, View};

use super::{DocumentPaths, Entry, Lines};
use crate::{Desk, DeskLimits, DeskPath};

fn path(path: &str) -> DeskPath {
    DeskPath::parse(path).unwrap()
}

#[test]
fn hostile_names_get_places_of_their_own() {
    let names = vec!["a", "a/b", "a", "../../etc/passwd", "x/../y", "", "c/d/e.md", "c/d"];
    let paths = DocumentPaths::of(names.into_iter());
    let placed: Vec<String> = paths.names.iter().map(|(path, name)| format!("{path} = {name}")).collect();
    let expected = [
        "input/contexts/a = a",
        "input/contexts/a-2/b = a/b",
        "input/contexts/a-3 = a",
        "input/contexts/c/d-2 = c/d",
        "input/contexts/c/d/e.md = c/d/e.md",
        "input/contexts/document = ",
        "input/contexts/etc/passwd = ../../etc/passwd",
        "input/contexts/x/y = x/../y",
    ];
    assert_eq!(placed, expected);
}

#[test]
fn a_listing_shows_one_level() {
    let mut desk = view_desk(&[("b/x/1", "x"), ("b/x/2", "x"), ("b-c", "x"), ("b.md", "3"), ("a/1", "x")]);
    let names = |at: &str| {
        let listed = desk.list(&path(at)).unwrap();
        listed.iter().map(|(name, entry)| format!("{name} {entry:?}")).collect::<Vec<_>>()
    };
    let document = "Document { bytes: 1 }";
    assert_eq!(
        names("input/contexts"),
        [
            "a Directory".to_owned(),
            "b Directory".to_owned(),
            format!("b-c {document}"),
            format!("b.md {document}")
        ]
    );
    assert_eq!(names("input/contexts/b"), ["x Directory"]);
    assert_eq!(names("input/contexts/b/x"), [format!("1 {document}"), format!("2 {document}")]);
    assert_eq!(desk.entry(&path("input/contexts/b/x")), Some(Entry::Directory));
    assert!(desk.put(&path("input/contexts/new"), "x").is_err());
    assert!(desk.write(&path("input/contexts/b.md"), "x").is_err());
    assert_eq!(desk.read(&path("input/contexts/b.md")).unwrap().as_ref(), b"3");
}

pub(crate) fn view_desk(documents: &[(&str, &str)]) -> Desk {
    let source = |(name, text): &(&str, &str)| SourceInput::Text {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let sources: Vec<SourceInput> = documents.iter().map(source).collect();
    let corpus = Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    let mut desk = Desk::new(DeskLimits::default());
    desk.mount(View::of(Arc::new(corpus)));
    desk
}

#[test]
fn a_view_is_read_where_it_is() {
    let desk = view_desk(&[("a.md", "one\ntwo\nthree\n"), ("b.md", "é\n")]);
    let a = path("input/contexts/a.md");
    assert_eq!(desk.lines(&a, 2, 1).unwrap(), Lines { lines: vec!["two".to_owned()], n_lines: 3 });
    assert_eq!(desk.lines(&a, 4, 9).unwrap(), Lines { lines: Vec::new(), n_lines: 3 });
    assert_eq!(desk.slice(&a, 4..7).unwrap(), "two");
    assert_eq!(desk.slice(&path("input/contexts/b.md"), 1..3).unwrap(), "\n");
    assert_eq!(desk.read(&a).unwrap().as_ref(), b"one\ntwo\nthree\n");
    assert_eq!(desk.bytes(), 0);
}

#[test]
fn secrets_do_not_leave_and_offsets_stay_those_of_what_is_shown() {
    let desk = view_desk(&[("a.env", "KEY=1\nAWS_KEY=AKIAQYLPMN5HHHFPZAM2\nend\n")]);
    let a = path("input/contexts/a.env");
    let text = desk.text(&a).unwrap().into_owned();
    assert!(!text.contains("AKIAQYLPMN5HHHFPZAM2"), "{text}");
    let end = text.find("end").unwrap() as u64;
    assert_eq!(desk.slice(&a, end..end + 3).unwrap(), "end");
}
