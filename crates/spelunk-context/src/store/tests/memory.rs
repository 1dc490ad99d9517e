//! Statistics, digests and what a store remembers about a file.

use super::*;
use crate::store::{ContextRevision, SecretFiles, StoreStats};
use crate::testing::{put, tree};

#[test]
fn statistics_count_contexts_by_kind_and_memory() {
    let store = in_memory();
    store.register(of_text("a", "four")).unwrap();
    store.register(NewContext { kind: ContextKind::Memory, ..of_text("b", "x") }).unwrap();
    let StoreStats { n_contexts, by_kind, memory } = store.stats();
    assert_eq!((n_contexts, by_kind), (2, kinds(&[("document", 1), ("memory", 1)])));
    assert_eq!((memory.held_bytes, memory.cache_bytes), (5, 0));
    store.load("a").unwrap();
    assert_eq!((store.memory().cache_bytes, store.memory().cache_bytes_max), (4, 50_000_000));
}

#[test]
fn a_digest_is_kept_until_the_file_changes() {
    let files = tree(&[("a.html", "text")]);
    let store = in_memory();
    store.register(of_file("a", &files.path().join("a.html"))).unwrap();
    let revision = || store.get("a").unwrap().revision.clone().unwrap();
    let digest_of = |bytes: &[u8]| Some(blake3::hash(bytes).to_hex().to_string());
    assert_eq!(revision().digest, digest_of(b"text"));
    for _ in 0..2 {
        store.peek("a", 1, 1).unwrap();
        assert_eq!(revision().digest, digest_of(b"text"));
    }
    put(files.path(), "a.html", b"longer text");
    store.peek("a", 1, 1).unwrap();
    assert_eq!((revision().size_bytes, revision().digest), (11, digest_of(b"longer text")));
}

#[test]
fn the_digest_of_a_text_is_that_of_its_bytes() {
    let inline = in_memory().register(of_text("inline", "text")).unwrap();
    let digest = blake3::hash(b"text").to_hex().to_string();
    let revision = ContextRevision { size_bytes: 4, modified_ms: None, digest: Some(digest) };
    assert_eq!(inline.revision, Some(revision));
}

#[test]
fn few_files_are_kept_open() {
    let store = in_memory();
    let files = tree(&[]);
    for number in 0..100 {
        let name = number.to_string();
        put(files.path(), &name, b"text\n");
        store.register(of_file(&name, &files.path().join(&name))).unwrap();
        store.peek(&name, 1, 1).unwrap();
    }
    assert_eq!(store.memory().n_open, 32);
}

// C.19: secrets are kept out on every path, including loaders and inline texts.
#[test]
fn a_secret_in_a_text_does_not_leave_the_store_unless_that_was_allowed() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq4\n-----END RSA PRIVATE KEY-----\n";
    let store_with = |secrets| {
        let store =
            ContextStore::in_memory(HandClock::at(0).clock(), StoreSettings { secrets, ..settings() });
        store.add_loader("l", Arc::new(move || Ok(format!("before\n{key}after\n"))));
        store.register(of_loader("loaded", "l", LoadPolicy::Lazy)).unwrap();
        store.register(of_text("inline", &format!("before\n{key}after\n"))).unwrap();
        store
    };
    let careful = store_with(SecretFiles::Refused);
    for name in ["loaded", "inline"] {
        assert_eq!(
            (careful.load(name).unwrap().contains("MIIE"), peeked(&careful, name).contains("MIIE")),
            (false, false)
        );
        assert!(!careful.page(name, 0, 50).unwrap().text.contains("MIIE"));
    }
    let open = store_with(SecretFiles::Allowed);
    for name in ["loaded", "inline"] {
        assert_eq!(
            (open.load(name).unwrap().contains("MIIE"), peeked(&open, name).contains("MIIE")),
            (true, true)
        );
    }
}
