use std::collections::BTreeMap;

use expect_test::expect;

use super::*;
use crate::store::tests::{HandClock, explain, id, ids, in_memory, of_text, peeked, settings};
use crate::store::{ContextSource, SecretFiles, StoreSettings};
use crate::testing::tree;

#[test]
fn a_file_is_named_after_itself() {
    let files = tree(&[("Read Me.md", "# Title\n")]);
    let store = in_memory();
    let path = files.path().join("Read Me.md");
    let context = Factory::new(&store).from_file_by_name(&path, &ContextKind::Document).unwrap();
    assert_eq!((context.id.as_str(), context.name.as_str()), ("Read Me", "Read Me.md"));
    assert_eq!(context.metadata.iter().collect::<Vec<_>>(), [("file_type", "md")]);
    let again = Factory::new(&store).from_file_by_name(&path, &ContextKind::Document).unwrap();
    assert_eq!((again.id.as_str(), store.list().len()), ("Read Me", 1));
    let named = store.register(new_of_file(id("mine"), &path, ContextKind::Project)).unwrap();
    assert_eq!((named.id.as_str(), named.kind.name()), ("mine", "project"));
}

#[test]
fn texts_and_functions_become_contexts() {
    let store = in_memory();
    let factory = Factory::new(&store);
    store.register(of_text("t", "text")).unwrap();
    let loader: Loader = Arc::new(|| Ok("from a function".to_owned()));
    let context = factory.from_loader(id("f"), "A function", ContextKind::Temporal, loader).unwrap();
    assert_eq!(context.source, ContextSource::Loader("f".to_owned()));
    assert_eq!(context.name, "A function");
    assert_eq!((peeked(&store, "t"), peeked(&store, "f")), ("text".to_owned(), "from a function".to_owned()));
}

#[test]
fn a_pattern_without_a_slash_stays_in_the_directory() {
    let files = tree(&[("b.md", ""), ("a.md", ""), ("c.txt", ""), ("sub/d.md", "")]);
    let store = in_memory();
    let factory = Factory::new(&store);
    let top = factory.from_directory(files.path(), "*.md", &ContextKind::Document, "n:").unwrap();
    assert_eq!(ids(&top.registered), ["n:a", "n:b"]);
    let all = factory.from_directory(files.path(), "**/*.md", &ContextKind::Document, "n:").unwrap();
    assert_eq!(ids(&all.registered), ["n:d"]);
    assert_eq!(all.already.iter().map(ContextId::as_str).collect::<Vec<_>>(), ["n:a", "n:b"]);
}

#[cfg(unix)]
#[test]
fn secrets_links_and_ignored_files_are_left_out_and_counted() {
    let files = tree(&[
        (".gitignore", "ignored.txt\n"),
        ("a.txt", "a"),
        ("id_rsa", "key"),
        ("ignored.txt", "x"),
        (".hidden", "x"),
    ]);
    std::os::unix::fs::symlink(files.path().join("a.txt"), files.path().join("link")).unwrap();
    let store = in_memory();
    let report = Factory::new(&store).from_directory(files.path(), "*", &ContextKind::Document, "").unwrap();
    assert_eq!(ids(&report.registered), ["a"]);
    assert_eq!(
        report.left_out.skipped,
        BTreeMap::from([("secret".to_owned(), 1), ("symlink".to_owned(), 1)])
    );
}

#[test]
fn a_directory_that_is_not_there_and_a_bad_pattern_are_errors() {
    let files = tree(&[("a.txt", "a")]);
    let store = in_memory();
    let factory = Factory::new(&store);
    let root = files.path().display().to_string();
    let missing =
        factory.from_directory(&files.path().join("no"), "*", &ContextKind::Document, "").unwrap_err();
    expect![[r"
        source-not-found: `ROOT/no` does not exist
        hint: look in `ROOT`, the nearest directory that exists"]]
    .assert_eq(&explain(&missing).replace(&root, "ROOT"));
    let bad = factory.from_directory(files.path(), "a[", &ContextKind::Document, "").unwrap_err();
    assert!(matches!(bad, StoreError::BadGlob { pattern, .. } if pattern == "a["));
}

#[test]
fn a_hidden_file_is_taken_where_its_name_says_secret_and_secrets_are_allowed() {
    let files = tree(&[
        (".env", "KEY=1"),
        (".hidden", "x"),
        (".git/config", "x"),
        (".aws/credentials", "x"),
        ("a.txt", "a"),
        ("sub/.env.local", "x"),
    ]);
    let settings = StoreSettings { secrets: SecretFiles::Allowed, ..settings() };
    let store = ContextStore::in_memory(HandClock::at(1).clock(), settings);
    let factory = Factory::new(&store);
    let report = factory.from_directory(files.path(), "*", &ContextKind::Document, "").unwrap();
    assert_eq!((ids(&report.registered), report.left_out.skipped), (vec![".env", "a"], BTreeMap::new()));
    let below = factory.from_directory(files.path(), "**/*", &ContextKind::Document, "").unwrap();
    assert_eq!(ids(&below.registered), ["credentials", ".env.local"]);
}
