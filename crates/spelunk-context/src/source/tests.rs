use expect_test::{Expect, expect};

use super::*;
use crate::testing::{explain, put, scan, tree};
use crate::{Corpus, ScanOptions};

#[track_caller]
fn check(root: &Path, wanted: &str, expected: &Expect) {
    let error = scan(&[&root.join(wanted)]).unwrap_err();
    expected.assert_eq(&explain(&error).replace(&root.display().to_string(), "ROOT"));
}

#[test]
fn a_missing_path_is_answered_with_what_is_near_it() {
    let root = tree(&[("notes/readme.md", "x"), ("notes/deep/a.md", "x")]);
    check(
        root.path(),
        "notes/README.mb",
        &expect![[r"
            source-not-found: `ROOT/notes/README.mb` does not exist
            hint: try `ROOT/notes/readme.md`, which does exist"]],
    );
    check(
        root.path(),
        "note",
        &expect![[r"
            source-not-found: `ROOT/note` does not exist
            hint: try `ROOT/notes`, which does exist"]],
    );
    check(
        root.path(),
        "notes/deeper/still/a.md",
        &expect![[r"
            source-not-found: `ROOT/notes/deeper/still/a.md` does not exist
            hint: look in `ROOT/notes`, the nearest directory that exists"]],
    );
    check(
        root.path(),
        "notes/readme.md/a",
        &expect![[r"
            source-not-found: `ROOT/notes/readme.md/a` does not exist
            hint: look in `ROOT/notes`, the nearest directory that exists"]],
    );
}

#[test]
fn a_named_file_is_taken_though_a_walk_would_leave_it_out() {
    let root = tree(&[("target/Cargo.lock", "x"), (".hidden", "y"), ("a.svg", "<svg/>")]);
    for name in ["target/Cargo.lock", ".hidden", "a.svg"] {
        let path = root.path().join(name);
        let corpus = scan(&[&path]).unwrap();
        assert_eq!(crate::testing::names(&corpus), format!("{}\n", name::tail(&path, 1)));
    }
}

#[test]
fn a_named_file_that_is_not_text_is_refused_with_the_reason() {
    let root = tree(&[]);
    put(root.path(), "a.bin", b"\0\0\0");
    check(
        root.path(),
        "a.bin",
        &expect![[r"
            source-unreadable: `a.bin` is not text: it is a binary file
            hint: extract its text first and pass that file"]],
    );
}

#[test]
fn a_named_secret_is_refused_unless_it_was_asked_for() {
    let root = tree(&[("server.key", "k")]);
    check(
        root.path(),
        "server.key",
        &expect![[r"
            source-unreadable: `ROOT/server.key` may contain secrets and was not read
            hint: exclude it, or pass `--allow-secrets` if it must be read"]],
    );
    let sources = [SourceInput::Path(root.path().join("server.key"))];
    let corpus =
        Corpus::scan(&sources, &ScanOptions { allow_secrets: true, ..ScanOptions::default() }, &mut |_| {})
            .unwrap();
    assert_eq!(crate::testing::names(&corpus), "server.key\n");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_secret_is_a_secret_under_any_name() {
    let root = tree(&[("id_rsa", "k")]);
    std::os::unix::fs::symlink(root.path().join("id_rsa"), root.path().join("notes.txt")).unwrap();
    check(
        root.path(),
        "notes.txt",
        &expect![[r"
            source-unreadable: `ROOT/notes.txt` may contain secrets and was not read
            hint: exclude it, or pass `--allow-secrets` if it must be read"]],
    );
}

#[cfg(unix)]
#[test]
fn a_device_is_refused_without_being_opened() {
    check(
        Path::new("/dev"),
        "null",
        &expect![[r"
            source-unreadable: `ROOT/null` is neither a file nor a directory
            hint: write it to a file first, or pipe it in as standard input"]],
    );
}

#[test]
fn a_file_is_named_by_the_path_that_was_typed_if_it_leads_down() {
    let root = tree(&[("b/two.md", "text")]);
    let named = |typed: &str| {
        let source = SourceInput::Typed { path: root.path().join("b/two.md"), typed: typed.into() };
        let corpus = Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}).unwrap();
        corpus.documents()[0].name.clone()
    };
    assert_eq!(named("b/two.md"), "b/two.md");
    assert_eq!(named("./b//two.md"), "b/two.md");
    assert_eq!(named("../w/b/two.md"), "two.md");
    assert_eq!(named("/w/b/two.md"), "two.md");
}

#[test]
fn files_of_one_name_are_told_apart_by_what_was_typed() {
    let root = tree(&[("a/x.md", "one"), ("b/x.md", "two")]);
    let source = |typed: &str| SourceInput::Typed { path: root.path().join(typed), typed: typed.into() };
    let sources = [source("b/x.md"), source("a/x.md")];
    let corpus = Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(crate::testing::names(&corpus), "a/x.md\nb/x.md\n");
}
