use std::sync::Arc;

use super::*;
use crate::testing::{append, put, remove, scan, tree};

#[test]
fn what_became_of_each_file_is_told_by_its_name() {
    let names = ["cut", "gone", "grown", "longer", "other", "same", "touched"];
    let root = tree(&names.map(|name| (name, "one\ntwo\n")));
    let view = View::of(Arc::new(scan(&[root.path()]).unwrap()));
    assert_eq!(view.drifts(), []);
    put(root.path(), "cut", b"one\n");
    remove(root.path(), "gone");
    append(root.path(), "grown", b"three\n");
    put(root.path(), "longer", b"neither one nor two\n");
    put(root.path(), "other", b"ONE\nTWO\n");
    put(root.path(), "touched", b"one\ntwo\n");
    let told: Vec<String> =
        view.drifts().iter().map(|(document, drift)| format!("{} {drift}", document.name)).collect();
    assert_eq!(
        told,
        [
            "cut was truncated while it was read",
            "gone was removed while it was read",
            "grown has grown since it was scanned; only its first 8 bytes were read",
            "longer was rewritten while it was read",
            "other was rewritten while it was read",
        ]
    );
}

#[test]
fn text_that_came_with_the_request_does_not_drift() {
    assert_eq!(crate::testing::view(&[("a", "text")]).drifts(), []);
}
