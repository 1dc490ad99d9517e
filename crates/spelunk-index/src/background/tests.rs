use std::time::Duration;

use super::*;
use crate::StaticEmbedder;
use crate::testing::{put, scratch, view};

fn build(dir: &PrivateDir) -> Build {
    let embedder = Arc::new(StaticEmbedder::embedded().unwrap());
    let (whole, options) = (view(&[("a.md", "The zebra lives in the annex.\n")]), UpdateOptions::default());
    Build { dir: dir.clone(), folder: "index".to_owned(), embedder, whole, options }
}

/// Waits until no build is at work in this directory.
fn wait(dir: &PrivateDir) {
    let key = dir.root().join("index");
    for _ in 0..600 {
        if lock().get(&key).is_none_or(Option::is_some) {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("the build does not end");
}

#[test]
fn an_index_is_built_in_the_background() {
    let scratch = scratch();
    let dir = PrivateDir::new(scratch.path());
    build(&dir).start().unwrap();
    // A second one at the same time is the first.
    build(&dir).start().unwrap();
    wait(&dir);
    let Build { embedder, whole, options, .. } = build(&dir);
    let index = Index::open_in(&dir, "index", IndexOptions { embedder: Some(embedder) }).unwrap();
    assert_eq!((index.missing_bytes(&whole, &options), index.holds(&whole, &options)), (0, true));
}

#[test]
fn a_build_that_failed_is_reported_once_and_tried_again() {
    let scratch = scratch();
    // A file where the folder should be.
    put(&scratch.path().join("index"), b"");
    let dir = PrivateDir::new(scratch.path());
    build(&dir).start().unwrap();
    wait(&dir);
    assert!(matches!(build(&dir).start(), Err(IndexError::Disk { .. })));
    build(&dir).start().unwrap();
    wait(&dir);
}
