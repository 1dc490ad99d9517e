use std::sync::Arc;

use expect_test::expect;

use super::*;
use crate::View;
use crate::testing::{append, explain, names, put, scan, tree};

#[test]
fn documents_are_sorted_by_name_and_know_their_place() {
    let root = tree(&[("b", "22"), ("a/z", "1"), ("a.txt", "333"), ("B", "4")]);
    let corpus = scan(&[root.path()]).unwrap();
    let rows: Vec<_> = corpus.documents().iter().map(|d| (d.idx, d.name.as_str(), d.bytes)).collect();
    assert_eq!(rows, [(0, "B", 1), (1, "a.txt", 3), (2, "a/z", 1), (3, "b", 2)]);
    assert_eq!(corpus.bytes(), 7);
    assert_eq!((corpus.reports()[0].documents, corpus.reports()[0].bytes), (4, 7));
}

#[test]
fn the_digest_follows_names_and_content_and_not_the_place_on_disk() {
    let digest = |files: &[(&str, &str)]| scan(&[tree(files).path()]).unwrap().digest().clone();
    let first = digest(&[("a", "1"), ("b", "2")]);
    assert_eq!(first, digest(&[("b", "2"), ("a", "1")]));
    assert_ne!(first, digest(&[("a", "1"), ("b", "3")]));
    assert_ne!(first, digest(&[("a", "1"), ("c", "2")]));
}

#[test]
fn several_sources_put_their_names_before_their_documents() {
    let root = tree(&[("docs/a.md", "1"), ("src/a.md", "2"), ("notes.md", "3")]);
    let path = |name| SourceInput::Path(root.path().join(name));
    let text = SourceInput::Text { name: "stdin".into(), bytes: b"4".to_vec() };
    let sources = [path("src"), path("docs"), path("notes.md"), text];
    let corpus = Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    expect![[r"
        docs/a.md
        notes.md
        src/a.md
        stdin
    "]]
    .assert_eq(&names(&corpus));
    let of: Vec<_> = corpus.reports().iter().map(|report| report.source.as_str()).collect();
    assert_eq!(of, ["src", "docs", "notes.md", "stdin"]);
}

#[test]
fn sources_of_the_same_name_are_told_apart_by_what_is_above_them() {
    let root = tree(&[("x/docs/a.md", "1"), ("y/docs/a.md", "2"), ("x/n.md", "3"), ("y/n.md", "4")]);
    let paths = ["x/docs", "y/docs", "x/n.md", "y/n.md"].map(|name| root.path().join(name));
    let corpus = scan(&[&paths[0], &paths[1], &paths[2], &paths[3]]).unwrap();
    expect![[r"
        x/docs/a.md
        x/n.md
        y/docs/a.md
        y/n.md
    "]]
    .assert_eq(&names(&corpus));
}

#[test]
fn a_file_that_comes_twice_is_one_document() {
    let root = tree(&[("d/a.md", "1"), ("d/b.md", "2")]);
    let corpus = scan(&[&root.path().join("d"), &root.path().join("d/a.md")]).unwrap();
    assert_eq!(names(&corpus), "d/a.md\nd/b.md\n");
    assert_eq!(corpus.reports()[1].skipped, BTreeMap::from([("duplicate".to_owned(), 1)]));
}

#[test]
fn texts_of_the_same_name_get_a_number() {
    let text = |name: &str, bytes: &str| SourceInput::Text { name: name.into(), bytes: bytes.into() };
    let sources = [text("t", "1"), text("t", "2"), text("t~2", "3"), text(" ", "4"), text("t", "5")];
    let corpus = Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    expect![[r"
        t
        text
        t~2
        t~3
        t~4
    "]]
    .assert_eq(&names(&corpus));
}

#[test]
fn text_is_judged_like_a_file() {
    let text = |bytes: &[u8]| SourceInput::Text { name: "stdin".into(), bytes: bytes.to_vec() };
    let scan = |bytes| Corpus::scan(&[text(bytes)], &ScanOptions::default(), &mut |_| {});
    assert_eq!(scan(b"\xef\xbb\xbfhi").unwrap().documents()[0].bytes, 5);
    expect![[r"
        source-unreadable: `stdin` is not text: it is a binary file
        hint: extract its text first and pass that file"]]
    .assert_eq(&explain(&scan(b"\0").unwrap_err()));
    expect![[r"
        source-empty: no readable documents in `stdin`: skipped 1 empty
        hint: pass a path that contains text files"]]
    .assert_eq(&explain(&scan(b"").unwrap_err()));
}

#[test]
fn nothing_readable_is_an_error_that_says_why() {
    let check = |root: &tempfile::TempDir, expected: expect_test::Expect| {
        let error = scan(&[&root.path().join("d")]).unwrap_err();
        expected.assert_eq(&explain(&error));
    };
    let empty = tree(&[("d/x/.keep", "")]);
    check(
        &empty,
        expect![[r"
            source-empty: no readable documents in `d`: skipped 1 hidden
            hint: pass a skipped file itself to read it"]],
    );
    let secret = tree(&[("d/.env", "x"), ("d/id_rsa", "x"), ("d/.aws/credentials", "x")]);
    check(
        &secret,
        expect![[r"
            source-empty: no readable documents in `d`: skipped 3 secret
            hint: pass `--allow-secrets` if they must be read"]],
    );
    let ignored = tree(&[("d/.gitignore", "*"), ("d/a.txt", "x"), ("d/out/b.txt", "x")]);
    put(ignored.path(), "d/c.png", b"\0");
    check(
        &ignored,
        expect![[r"
            source-empty: no readable documents in `d`: skipped 2 excluded, 1 hidden, 1 ignored
            hint: pass a skipped file itself to read it"]],
    );
}

#[test]
fn no_sources_are_no_documents() {
    let corpus = Corpus::scan(&[], &ScanOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(View::of(Arc::new(corpus)).documents().len(), 0);
}

#[test]
fn examples_are_few_and_counts_are_complete() {
    let root = tree(&[("a.txt", "x")]);
    for n in 0..12 {
        put(root.path(), format!("e{n:02}"), b"");
    }
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!(crate::testing::skipped(&corpus), "12 empty: e00 e01 e02 e03 e04\n");
}

/// How a corpus was found.
fn pins_of(corpus: &Corpus) -> Pins {
    let pin = |document: &DocEntry| crate::Pin { bytes: document.bytes, modified: document.digest_time() };
    corpus.documents().iter().map(|document| (document.name.clone(), pin(document))).collect()
}

#[test]
fn files_that_have_grown_are_scanned_as_they_were() {
    // The last word of the log is a secret only where nothing follows it.
    let key = format!("AKIA{}", "Q".repeat(16));
    let root = tree(&[("a.log", &format!("one\n{key}")), ("b.md", "two\n")]);
    let line = b"0123456789abcde\n";
    put(root.path(), "large.log", &line.repeat((64 << 20) / line.len() + 1));
    let before = scan(&[root.path()]).unwrap();
    append(root.path(), "a.log", b"x and more\n");
    append(root.path(), "large.log", b"more\n");
    let again = |pins: &Pins| {
        let sources = [SourceInput::Path(root.path().to_owned())];
        Corpus::scan_pinned(&sources, &ScanOptions::default(), pins, &mut |_| {}).unwrap()
    };
    let after = again(&pins_of(&before));
    assert_eq!((after.digest(), after.reports()), (before.digest(), before.reports()));
    assert_ne!(again(&Pins::new()).digest(), before.digest());
    // What was rewritten is not what it was, however long it is now.
    put(root.path(), "b.md", b"other, and longer\n");
    assert_ne!(again(&pins_of(&before)).digest(), before.digest());
}
