//! Contexts whose text is produced from their file: documents, pages and archives.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use expect_test::expect;

use super::{explain, id, ids, in_memory, of_file, open, peeked};
use crate::source::archive::tests::{gzipped, zipped};
use crate::store::{ContextKind, Factory, StoreError};
use crate::testing::{put, tree};
use crate::{GrepQuery, Navigator};

const TOKEN: &str = "ghp_R8sK2mV0qLx7TzYw4NdJ6bHcU1aE9fGi3oPz";

#[test]
fn an_archive_is_searched_paged_and_loaded_as_one_text() {
    let (files, root) = (tree(&[]), tree(&[]));
    let zip = zipped(&[("b.md", "beta\n"), ("a.md", &format!("alpha {TOKEN}\n"))]);
    put(files.path(), "notes.zip", &zip);
    let store = open(root.path());
    let context = store.register(of_file("notes", &files.path().join("notes.zip"))).unwrap();
    let digest = blake3::hash(&zip).to_hex().to_string();
    assert_eq!(context.revision.as_ref().unwrap().digest, Some(digest.clone()));
    assert_eq!(context.metadata.iter().collect::<Vec<_>>(), [("documents", "2")]);
    let text = "==> a.md <==\nalpha [secret:github-token]\n\n==> b.md <==\nbeta\n";
    // Another process produces the text again.
    let again = open(root.path());
    assert_eq!(&*again.load("notes").unwrap(), text);
    assert_eq!(again.page("notes", 1, 2).unwrap().text, "\n==> b.md <==\n");
    assert_eq!(again.get("notes").unwrap().revision.as_ref().unwrap().digest, Some(digest));
    let found = |pattern: &str| {
        let report = again.grep("notes", &GrepQuery::new(pattern), &AtomicBool::new(false)).unwrap();
        report.matches.iter().map(|found| found.line).collect::<Vec<_>>()
    };
    assert_eq!((found("^beta"), found("ghp_"), found("github")), (vec![5], vec![], vec![]));
}

#[test]
fn a_changed_file_gives_another_text_and_another_digest() {
    let files = tree(&[("page.html", "<p>one</p>")]);
    let store = in_memory();
    store.register(of_file("page", &files.path().join("page.html"))).unwrap();
    assert_eq!(peeked(&store, "page"), "one");
    let before = store.get("page").unwrap().revision.clone().unwrap();
    put(files.path(), "page.html", b"<p>another</p>");
    assert_eq!(peeked(&store, "page"), "another");
    let after = store.get("page").unwrap().revision.clone().unwrap();
    assert_eq!(
        (before.digest.unwrap(), after.digest.unwrap()),
        (
            blake3::hash(b"<p>one</p>").to_hex().to_string(),
            blake3::hash(b"<p>another</p>").to_hex().to_string()
        )
    );
}

#[test]
fn a_made_text_is_held_for_the_next_look() {
    let files = tree(&[("page.html", "<p>one</p>")]);
    let store = in_memory();
    store.register(of_file("page", &files.path().join("page.html"))).unwrap();
    peeked(&store, "page");
    assert_eq!((store.memory().n_open, store.memory().open_bytes), (1, 4));
}

#[test]
fn what_unpacks_two_hundredfold_is_taken_for_a_bomb() {
    let files = tree(&[]);
    put(files.path(), "bomb.txt.gz", &gzipped("straw \n".repeat(300_000).as_bytes()));
    let error = in_memory().register(of_file("bomb", &files.path().join("bomb.txt.gz"))).unwrap_err();
    expect![[r"
        source-empty: could not read the context `bomb`
          caused by: no readable documents in `bomb.txt.gz`: skipped 1 too-large
        hint: pass a path that contains text files"]]
    .assert_eq(&explain(&error));
}

#[test]
fn what_a_directory_holds_besides_text_becomes_contexts_or_is_counted() {
    let files =
        tree(&[("a.md", "text\n"), ("page.html", "<p>page</p>"), ("not.zip", "text\n"), ("d.bin", "\0\0")]);
    put(files.path(), "notes.zip", &zipped(&[("b.md", "beta\n"), (".env", "KEY=1\n")]));
    put(files.path(), "images.zip", &zipped(&[("c.bin", "\0\0")]));
    let store = in_memory();
    let add = || Factory::new(&store).from_directory(files.path(), "*", &ContextKind::Document, "").unwrap();
    let report = add();
    assert_eq!(ids(&report.registered), ["a", "notes", "page"]);
    let left_out = [("binary", 1), ("damaged", 1), ("no-text", 1)].map(|(reason, n)| (reason.to_owned(), n));
    assert_eq!(report.left_out.skipped, BTreeMap::from(left_out));
    assert_eq!(store.get("notes").unwrap().metadata.get("left_out"), Some("1 secret"));
    let again = add();
    assert_eq!((again.registered.len(), again.already), (0, vec![id("a"), id("notes"), id("page")]));
}

#[test]
fn a_broken_archive_is_refused_with_what_is_wrong() {
    let files = tree(&[("not.zip", "just text\n")]);
    let store = in_memory();
    let error = store.register(of_file("not", &files.path().join("not.zip"))).unwrap_err();
    expect![[r"
        source-unreadable: could not read the context `not`
          caused by: could not open the archive `not.zip`
          caused by: invalid Zip archive: Could not find EOCD
        hint: check that it is complete, for example by unpacking it by hand"]]
    .assert_eq(&explain(&error));
    assert!(matches!(store.get("not"), Err(StoreError::UnknownContext { .. })));
}

#[test]
fn a_search_over_all_contexts_reads_made_texts_too() {
    let files = tree(&[("a.md", "needle\n"), ("page.html", "<p>a <b>need</b>le</p>")]);
    let store = std::sync::Arc::new(in_memory());
    Factory::new(&store).from_directory(files.path(), "*", &ContextKind::Document, "").unwrap();
    let navigator = Navigator::new(store);
    let (hits, report) = navigator.search_all(&navigator.query("needle", 0)).unwrap();
    let found: Vec<(&str, &str)> =
        hits.iter().map(|hit| (hit.id.as_str(), hit.matches[0].text.as_str())).collect();
    assert_eq!((found, report.n_searched), (vec![("a", "needle"), ("page", "a needle")], 2));
}
