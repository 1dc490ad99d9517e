//! Paths cannot leave the desk, and hostile names become harmless.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{DeskPath, Taken, document_path, is_unprintable, sanitised_name};

fn parsed(given: &str) -> String {
    match DeskPath::parse(given) {
        Ok(path) => path.as_str().to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_path_is_read_from_the_top_of_the_desk() {
    assert_eq!(parsed("scratch/a.txt"), "scratch/a.txt");
    assert_eq!(parsed("/scratch//./a.txt"), "scratch/a.txt");
    assert_eq!(parsed("./scratch/a/"), "scratch/a");
    assert_eq!(parsed("/"), "");
    assert_eq!(parsed("."), "");
    assert_eq!(parsed("/tmp/x"), "scratch/tmp/x");
    assert_eq!(parsed("tmp/x"), "tmp/x");
    assert_eq!(parsed("übung/日本.md"), "übung/日本.md");
    assert_eq!(parsed("a/...b/..c"), "a/...b/..c");
}

#[test]
fn what_is_no_path_is_refused_by_name() {
    let why = "is not a valid path: ";
    assert_eq!(parsed(""), format!("`` {why}it is empty"));
    let parent = "`..` is not allowed; write the path relative to the folder";
    assert_eq!(parsed("../etc/passwd"), format!("`../etc/passwd` {why}{parent}"));
    assert_eq!(parsed("scratch/../../x"), format!("`scratch/../../x` {why}{parent}"));
    assert_eq!(parsed("/.."), format!("`/..` {why}{parent}"));
    let control = "it contains a control character or a text direction mark";
    assert_eq!(parsed("a\0b"), format!("`a\\u{{0}}b` {why}{control}"));
    assert_eq!(parsed("a\nb"), format!("`a\\nb` {why}{control}"));
    assert_eq!(parsed("a\u{202e}b"), format!("`a\\u{{202e}}b` {why}{control}"));
    assert_eq!(parsed("..\\x"), format!("`..\\x` {why}it contains a backslash; separate parts with `/`"));
    let long = "x".repeat(201);
    let told = format!("`{}…` {why}a part has 201 bytes; the maximum is 200", "x".repeat(120));
    assert_eq!(parsed(&long), told);
    let deep = "a/".repeat(25);
    assert_eq!(parsed(&deep), format!("`{deep}` {why}it is 25 levels deep; the maximum is 24"));
    let told = format!("`{}…` {why}it has 1001 bytes; the maximum is 1000", "/".repeat(120));
    assert_eq!(parsed(&"/".repeat(1001)), told);
}

#[test]
fn parents_and_names() {
    let path = DeskPath::parse("a/b/c.md").unwrap();
    assert_eq!(path.name(), "c.md");
    assert_eq!(path.parent(), Some(DeskPath::parse("a/b").unwrap()));
    assert_eq!(DeskPath::parse("a").unwrap().parent(), Some(DeskPath::top()));
    assert_eq!(DeskPath::top().parent(), None);
    assert!(path.is_within(&DeskPath::parse("a/b").unwrap()));
    assert!(!path.is_within(&DeskPath::parse("a/b/c").unwrap()));
    assert!(path.is_within(&DeskPath::top()));
}

fn names(given: &[&str]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    for name in given {
        let name = sanitised_name(name, &taken);
        taken.insert(name);
    }
    let mut named = Vec::new();
    let mut again = BTreeSet::new();
    for name in given {
        let name = sanitised_name(name, &again);
        again.insert(name.clone());
        named.push(name);
    }
    assert_eq!(again, taken);
    named
}

#[test]
fn hostile_names_of_attachments_become_plain_ones() {
    let given = [
        "report.pdf",
        "../../etc/passwd",
        "..\\..\\boot.ini",
        "",
        "..",
        " . . ",
        ".bashrc",
        "CON",
        "nul.txt",
        "a:b*c?.md",
        "evil\u{202e}gpj.exe",
        "new\nline.txt",
        "full\u{ff0f}width\u{2024}md",
        "Report.PDF",
        "report.pdf",
        "zero\u{200b}width",
        "trailing. ",
    ];
    let expected = [
        "report.pdf",
        "passwd",
        "boot.ini",
        "attachment",
        "attachment-2",
        "attachment-3",
        "bashrc",
        "_CON",
        "_nul.txt",
        "a_b_c_.md",
        "evilgpj.exe",
        "newline.txt",
        "width.md",
        "Report-2.PDF",
        "report-3.pdf",
        "zerowidth",
        "trailing",
    ];
    assert_eq!(names(&given), expected);
}

#[test]
fn a_long_name_keeps_its_extension() {
    let name = sanitised_name(&format!("{}.tar", "ü".repeat(300)), &BTreeSet::new());
    assert_eq!(name, format!("{}.tar", "ü".repeat(58)));
}

#[test]
fn documents_keep_their_names_where_they_can() {
    let at = |name: &str| document_path("input/contexts", name, |_| Taken::Free).as_str().to_owned();
    assert_eq!(at("src/main.rs"), "input/contexts/src/main.rs");
    assert_eq!(at(".github/x.yml"), "input/contexts/.github/x.yml");
    assert_eq!(at("/abs/../../x"), "input/contexts/abs/x");
    assert_eq!(at("a\\b\nc"), "input/contexts/a_b_c");
    assert_eq!(at(".."), "input/contexts/document");
    let taken = |path: &str| if path == "input/contexts/a.md" { Taken::Document } else { Taken::Free };
    assert_eq!(document_path("input/contexts", "a.md", taken).as_str(), "input/contexts/a-2.md");
    assert_eq!(document_path("input/contexts", "a.md/b", taken).as_str(), "input/contexts/a-2.md/b");
}

proptest! {
    #[test]
    fn nothing_escapes(given in "([a-z./\\\\ ]|\\.\\.|\\PC|\u{0}|\u{202e}|/){0,40}") {
        if let Ok(path) = DeskPath::parse(&given) {
            let text = path.as_str();
            prop_assert!(!text.starts_with('/') && !text.ends_with('/'));
            prop_assert!(text.is_empty() || text.split('/').all(|part| !matches!(part, "" | "." | "..")));
            prop_assert!(!text.contains('\\') && !text.chars().any(is_unprintable));
            // Parsing a path again changes nothing.
            let top = DeskPath::top();
            let again = if text.is_empty() { top } else { DeskPath::parse(text).unwrap() };
            prop_assert_eq!(again, path);
        }
    }

    #[test]
    fn every_name_of_an_attachment_is_one_plain_part(given in "(\\PC|[./\\\\:*?\u{0}\n\u{202e}]|\\.\\.){0,200}") {
        let name = sanitised_name(&given, &BTreeSet::new());
        let path = DeskPath::parse(&format!("input/attachments/{name}")).unwrap();
        prop_assert_eq!(path.name(), name.as_str());
        prop_assert!(!name.starts_with('.') && name.len() <= 125);
    }

    #[test]
    fn every_document_lies_below_its_directory(name in "(\\PC|[./\\\\\u{0}\n]|\\.\\./){0,300}") {
        let path = document_path("input/contexts", &name, |_| Taken::Free);
        prop_assert_eq!(DeskPath::parse(path.as_str()).unwrap(), path.clone());
        prop_assert!(path.is_within(&DeskPath::parse("input/contexts").unwrap()) && path.as_str() != "input/contexts");
    }
}
