use expect_test::expect;

use super::*;
use crate::testing::{explain, names, skipped, tree};
use crate::{Corpus, SourceInput};

fn scan(root: &std::path::Path, options: &ScanOptions) -> Result<Corpus, SourceError> {
    Corpus::scan(&[SourceInput::Path(root.to_owned())], options, &mut |_| {})
}

fn words(globs: &str) -> Vec<String> {
    globs.split_whitespace().map(str::to_owned).collect()
}

/// The names in one tree that these globs keep, on one line.
#[track_caller]
fn check(include: &str, exclude: &str, expected: &str) {
    let root = tree(&[
        (".env", "x"),
        (".github/ci.yml", "x"),
        (".hidden.rs", "x"),
        ("Cargo.lock", "x"),
        ("README.md", "x"),
        ("art/logo.svg", "x"),
        ("src/a.rs", "x"),
        ("src/deep/b.rs", "x"),
        ("src/deep/b.min.js", "x"),
        ("target/doc/c.rs", "x"),
        ("web/dist/d.js", "x"),
    ]);
    let options = ScanOptions { include: words(include), exclude: words(exclude), ..ScanOptions::default() };
    let listed = match scan(root.path(), &options) {
        Ok(corpus) => names(&corpus).trim_end().replace('\n', " "),
        Err(SourceError::Empty { .. }) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(listed, expected, "include `{include}` exclude `{exclude}`");
}

#[test]
fn what_include_and_exclude_leave_of_a_tree() {
    check("", "", "README.md src/a.rs src/deep/b.rs");
    check("*", "", "README.md src/a.rs src/deep/b.rs");
    check("**/*", "", "README.md src/a.rs src/deep/b.rs");
    check("*.rs", "", "src/a.rs src/deep/b.rs");
    check("src/*.rs", "", "src/a.rs");
    check("./src/*.rs", "", "src/a.rs");
    check("/a.rs", "", "nothing");
    check("src", "", "src/a.rs src/deep/b.rs");
    check("src/", "", "src/a.rs src/deep/b.rs");
    check("deep", "", "src/deep/b.rs");
    check("*.{md,rs}", "", "README.md src/a.rs src/deep/b.rs");
    check("", "*.rs", "README.md");
    check("", "deep", "README.md src/a.rs");
    check("", "src/deep/**", "README.md src/a.rs");
    check("*.rs", "src/deep", "src/a.rs");
    check("*.rs", "*.rs *.md", "nothing");
}

#[test]
fn an_include_that_names_it_beats_a_default_exclusion() {
    check("*.svg", "", "art/logo.svg");
    check("Cargo.lock README.md", "", "Cargo.lock README.md");
    check("*.min.js", "", "src/deep/b.min.js");
    check("target", "", "target/doc/c.rs");
    check("target/**/*.rs", "", "target/doc/c.rs");
    check("web/dist/*", "", "web/dist/d.js");
    check(".github", "", ".github/ci.yml");
    check(".hidden*", "", ".hidden.rs");
}

#[test]
fn an_include_that_only_matches_it_does_not() {
    check("src/**", "", "src/a.rs src/deep/b.rs");
    check("*.js", "", "src/deep/b.min.js");
    check("*.yml", "", "nothing");
}

#[test]
fn exclude_beats_include_and_secrets_beat_both() {
    check("*.svg", "art", "nothing");
    check(".env README.md", "", "README.md");
    check("target", "*.rs", "nothing");
}

#[test]
fn a_secret_is_read_when_its_file_is_allowed_and_no_other() {
    let root = tree(&[
        (".env", "x"),
        (".env.local", "x"),
        (".aws/credentials", "x"),
        (".aws/config", "x"),
        ("a.md", "x"),
    ]);
    let allowed = |globs: &str| {
        let options = ScanOptions { allow_secret_globs: words(globs), ..ScanOptions::default() };
        names(&scan(root.path(), &options).unwrap()).trim_end().replace('\n', " ")
    };
    assert_eq!(allowed(""), "a.md");
    assert_eq!(allowed(".env"), ".env a.md");
    assert_eq!(allowed(".aws/credentials"), ".aws/credentials a.md");
    assert_eq!(allowed("*"), ".env .env.local a.md");
}

#[test]
fn a_hidden_file_is_read_where_its_name_says_secret_and_secrets_are_allowed() {
    let root = tree(&[
        (".env", "x"),
        (".hidden", "x"),
        (".aws/credentials", "x"),
        (".env.d/x", "x"),
        (".ignore", "ignored.pem"),
        ("ignored.pem", "x"),
        ("a.md", "x"),
    ]);
    let options = ScanOptions { allow_secrets: true, ..ScanOptions::default() };
    let corpus = scan(root.path(), &options).unwrap();
    assert_eq!(names(&corpus), ".aws/credentials\n.env\na.md\n");
    assert_eq!(skipped(&corpus), "3 hidden: .env.d/ .hidden .ignore\n1 ignored: ignored.pem\n");
}

#[test]
fn a_glob_that_names_an_archive_stands_for_all_that_lies_in_it() {
    let root = tree(&[("b.md", "x")]);
    let zip = crate::source::archive::tests::zipped(&[
        ("a.md", "x"),
        ("deep/c.rs", "x"),
        (".env", "x"),
        ("d.svg", "x"),
    ]);
    crate::testing::put(root.path(), "sub/old.zip", &zip);
    let left = |include: &str, exclude: &str| {
        let options =
            ScanOptions { include: words(include), exclude: words(exclude), ..ScanOptions::default() };
        names(&scan(root.path(), &options).unwrap()).trim_end().replace('\n', " ")
    };
    assert_eq!(left("", ""), "b.md");
    assert_eq!(left("*.zip", ""), "sub/old.zip/a.md sub/old.zip/deep/c.rs");
    assert_eq!(left("*.zip b.md", ""), "b.md sub/old.zip/a.md sub/old.zip/deep/c.rs");
    assert_eq!(left("old.zip", "*.rs"), "sub/old.zip/a.md");
    assert_eq!(left("*.zip", "deep"), "sub/old.zip/a.md");
    assert_eq!(left("*.md", ""), "b.md");
    let named = |include: &str| {
        let options = ScanOptions { include: words(include), ..ScanOptions::default() };
        names(&scan(&root.path().join("sub/old.zip"), &options).unwrap()).trim_end().replace('\n', " ")
    };
    assert_eq!([named("*.rs"), named("*.zip")], ["old.zip/deep/c.rs", "old.zip/a.md old.zip/deep/c.rs"]);
}

#[test]
fn the_workspace_is_never_read_whatever_the_globs_say() {
    let root = tree(&[(".spelunk/runs/j.jsonl", "x"), ("a.md", "x")]);
    let options = ScanOptions { include: words(".spelunk a.md"), ..ScanOptions::default() };
    assert_eq!(names(&scan(root.path(), &options).unwrap()), "a.md\n");
}

#[test]
fn what_globs_and_depth_leave_out_is_counted() {
    let root = tree(&[("a.md", "x"), ("b.rs", "x"), ("sub/c.md", "x")]);
    let options = ScanOptions { include: words("*.md"), recursive: false, ..ScanOptions::default() };
    let corpus = scan(root.path(), &options).unwrap();
    assert_eq!((names(&corpus).as_str(), skipped(&corpus).as_str()), ("a.md\n", "2 filtered: b.rs sub/\n"));
}

#[test]
fn ignore_files_can_be_left_aside() {
    let root = tree(&[(".gitignore", "*.log"), ("a.log", "x"), ("b.md", "x")]);
    let options = ScanOptions { gitignore: false, ..ScanOptions::default() };
    assert_eq!(names(&scan(root.path(), &options).unwrap()), "a.log\nb.md\n");
    let options = ScanOptions { include: words("*.log b.md"), ..ScanOptions::default() };
    assert_eq!(names(&scan(root.path(), &options).unwrap()), "b.md\n");
}

#[test]
fn a_malformed_glob_is_named_with_what_is_wrong() {
    let root = tree(&[("a.md", "x")]);
    let options = ScanOptions { exclude: words("*.md a[b"), ..ScanOptions::default() };
    expect![[r"
        usage-wrong: `a[b` is not a valid glob: unclosed character class; missing ']'
        hint: use `*` for part of a name, `**` for directories, `\[` for a bracket"]]
    .assert_eq(&explain(&scan(root.path(), &options).unwrap_err()));
}
