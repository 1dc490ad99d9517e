use expect_test::expect;

use super::*;
use crate::testing::{explain, names, put, scan, skipped, tree};

#[test]
fn a_walk_takes_text_and_counts_everything_else() {
    let root = tree(&[
        ("b.md", "b"),
        ("a/deep/c.rs", "c"),
        ("empty.txt", ""),
        (".hidden", "x"),
        (".github/w.yml", "x"),
        (".spelunk/runs/j.jsonl", "x"),
        (".env", "x"),
        (".env.example", "x"),
        ("certs/server.pem", "x"),
        ("node_modules/m/index.js", "x"),
        ("Cargo.lock", "x"),
        ("app.min.js", "x"),
        ("types.d.ts", "x"),
        ("draft.md~", "x"),
        ("logo.SVG", "<svg/>"),
    ]);
    put(root.path(), "data.bin", b"\0\x01");
    put(root.path(), "cyrillic.txt", b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0");
    let corpus = scan(&[root.path()]).unwrap();
    expect![[r"
        a/deep/c.rs
        b.md
    "]]
    .assert_eq(&names(&corpus));
    expect![[r#"
        1 binary: data.bin
        1 empty: empty.txt
        1 encoding: cyrillic.txt
        6 excluded: Cargo.lock app.min.js draft.md~ logo.SVG node_modules/
        3 hidden: .env.example .github/ .hidden
        2 secret: .env certs/server.pem
    "#]]
    .assert_eq(&skipped(&corpus));
}

#[test]
fn ignore_files_count_outside_of_a_git_repository_and_the_nearest_one_decides() {
    let root = tree(&[
        (".gitignore", "*.log\n/only-here\nlogs/\n[broken\n"),
        ("a.log", "x"),
        ("a.txt", "x"),
        ("only-here", "x"),
        ("sub/only-here", "x"),
        ("sub/.gitignore", "!keep.log\n"),
        ("sub/keep.log", "x"),
        ("sub/other.log", "x"),
        ("sub/logs/a.txt", "x"),
        ("two/.ignore", "!b.log"),
        ("two/b.log", "x"),
    ]);
    let corpus = scan(&[root.path()]).unwrap();
    expect![[r"
        a.txt
        sub/keep.log
        sub/only-here
        two/b.log
    "]]
    .assert_eq(&names(&corpus));
    expect![[r"
        3 hidden: .gitignore sub/.gitignore two/.ignore
        4 ignored: a.log only-here sub/logs/ sub/other.log
    "]]
    .assert_eq(&skipped(&corpus));
}

#[test]
fn ignore_files_further_up_count_only_inside_of_a_repository() {
    let files = [("top/.gitignore", "*.log"), ("top/sub/a.log", "x"), ("top/sub/a.txt", "x")];
    let plain = tree(&files);
    assert_eq!(names(&scan(&[&plain.path().join("top/sub")]).unwrap()), "a.log\na.txt\n");
    let repository = tree(&files);
    put(repository.path(), "top/.git/info/exclude", b"secretish.txt\n");
    put(repository.path(), "top/sub/secretish.txt", b"x");
    assert_eq!(names(&scan(&[&repository.path().join("top/sub")]).unwrap()), "a.txt\n");
}

#[test]
fn a_directory_that_is_excluded_by_default_can_be_named() {
    let root = tree(&[("target/doc/a.txt", "x"), ("target/.env", "x")]);
    assert_eq!(names(&scan(&[&root.path().join("target")]).unwrap()), "doc/a.txt\n");
}

#[test]
fn an_overlong_ignore_file_is_not_obeyed_and_said_so() {
    let root = tree(&[("d/a.txt", "x")]);
    put(root.path(), "d/.ignore", &b"*.txt\n".repeat(200_000));
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!(
        (names(&corpus).as_str(), skipped(&corpus).as_str()),
        ("d/a.txt\n", "1 hidden: d/.ignore\n1 unreadable: d/.ignore\n")
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_so_a_loop_ends() {
    use std::os::unix::fs::symlink;
    let root = tree(&[("a/a.txt", "x")]);
    symlink(root.path(), root.path().join("a/loop")).unwrap();
    symlink(root.path().join("a/a.txt"), root.path().join("link.txt")).unwrap();
    symlink("nowhere", root.path().join("dangling")).unwrap();
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!(names(&corpus), "a/a.txt\n");
    assert_eq!(skipped(&corpus), "3 symlink: a/loop dangling link.txt\n");
}

#[cfg(unix)]
#[test]
fn a_socket_is_special_and_is_not_opened() {
    let root = tree(&[("a.txt", "x")]);
    let _listener = std::os::unix::net::UnixListener::bind(root.path().join("s")).unwrap();
    assert_eq!(skipped(&scan(&[root.path()]).unwrap()), "1 special: s\n");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_or_hold_newlines_are_documents_like_any_other() {
    use std::os::unix::ffi::OsStrExt as _;
    let root = tree(&[("a\nb.txt", "x")]);
    put(root.path(), std::ffi::OsStr::from_bytes(b"c\xfe.txt"), b"1");
    put(root.path(), std::ffi::OsStr::from_bytes(b"c\xff.txt"), b"2");
    let view = crate::View::of(scan(&[root.path()]).unwrap().into());
    let texts: Vec<_> = view
        .documents()
        .map(|document| (document.name.as_str(), view.read_owned(document).unwrap()))
        .collect();
    let expected = [("a\\nb.txt", "x"), ("c\u{fffd}.txt", "1"), ("c\u{fffd}.txt~2", "2")];
    assert_eq!(texts, expected.map(|(name, text)| (name, text.to_owned())));
}

// Root can read everything, so permission bits prove nothing when run as root; the mapping is tested in `error`.
#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_counted_and_the_walk_goes_on() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tree(&[("a.txt", "x"), ("closed/b.txt", "x"), ("closed.txt", "x")]);
    let close = |name: &str, mode| {
        fs::set_permissions(root.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close("closed", 0o000);
    close("closed.txt", 0o000);
    let binds = list(&root.path().join("closed")).is_err();
    let corpus = scan(&[root.path()]);
    let named = scan(&[&root.path().join("closed")]);
    close("closed", 0o755);
    if binds {
        let corpus = corpus.unwrap();
        assert_eq!(names(&corpus), "a.txt\n");
        assert_eq!(skipped(&corpus), "2 unreadable: closed/ closed.txt\n");
        expect![[r"
            source-unreadable: could not read `ROOT/closed`
              caused by: Permission denied (os error 13)
            hint: run as a user who may read it, or exclude it"]]
        .assert_eq(&explain(&named.unwrap_err()).replace(&root.path().display().to_string(), "ROOT"));
    }
}

#[test]
fn a_directory_of_a_thousand_levels_is_walked_without_recursion() {
    let root = tree(&[]);
    let deep = "d/".repeat(1000);
    put(root.path(), format!("{deep}a.txt"), b"x");
    assert_eq!(names(&scan(&[root.path()]).unwrap()), format!("{deep}a.txt\n"));
}

// Also affects root, unlike permission bits. The path is too long to create at once, so one half is moved into the
// other.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_whose_path_is_too_long_to_open_is_counted_and_the_walk_goes_on() {
    let root = tree(&[("z.txt", "x")]);
    let half = format!("{}/", "d".repeat(200)).repeat(12);
    put(root.path(), format!("upper/{half}a.txt"), b"x");
    put(root.path(), format!("lower/{half}b.txt"), b"x");
    crate::testing::move_into(&root.path().join("lower"), &root.path().join(format!("upper/{half}lower")));
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!(names(&corpus), format!("upper/{half}a.txt\nz.txt\n"));
    assert_eq!(corpus.reports()[0].skipped, std::collections::BTreeMap::from([("unreadable".to_owned(), 1)]));
}
