//! Searching all contexts: order, limits, and contexts that cannot be read.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::store::{Navigator, SearchReport};
use crate::testing::{remove, tree};
use crate::{GrepQuery, ReadError};

#[test]
fn hits_come_in_the_order_of_registration_and_failures_stop_nothing() {
    let files = tree(&[("gone", "needle")]);
    let store = Arc::new(in_memory());
    store.register(of_text("z", "a needle\nand a needle")).unwrap();
    store.register(of_file("gone", &files.path().join("gone"))).unwrap();
    store.register(of_text("none", "hay")).unwrap();
    store.register(of_text("a", "Needle")).unwrap();
    remove(files.path(), "gone");
    let navigator = Navigator::new(store.clone());
    let (hits, report) = navigator.search_all(&navigator.query("needle", 0)).unwrap();
    let found: Vec<(&str, u64, u64)> =
        hits.iter().map(|hit| (hit.id.as_str(), hit.n_matches, hit.matches[0].line)).collect();
    assert_eq!(found, [("z", 2, 1), ("a", 1, 1)]);
    assert_eq!((report.n_searched, report.n_hits, report.n_matches, report.n_unread), (3, 2, 3, 1));
    let unread = format!(
        "could not read the context `gone`: `{}` does not exist",
        files.path().join("gone").display()
    );
    assert_eq!((report.unread[0].id.as_str(), &report.unread[0].reason), ("gone", &unread));
    assert_eq!(store.get("none").unwrap().access.greps, 1);
}

#[test]
fn a_search_ends_when_there_are_hits_enough() {
    let settings = StoreSettings { search_hits_max: 2, ..settings() };
    let store = ContextStore::in_memory(HandClock::at(0).clock(), settings);
    store.register_all(["a", "b", "c"].map(|name| of_text(name, "needle")).to_vec()).unwrap();
    let never = AtomicBool::new(false);
    let query = GrepQuery::new("needle");
    let bounded = store.search_all(&query, &never, &mut |_| ControlFlow::Continue(())).unwrap();
    let expected =
        SearchReport { n_searched: 2, n_hits: 2, n_matches: 2, n_left: 1, ..SearchReport::default() };
    assert_eq!(bounded, expected);
    let first = store.search_all(&query, &never, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!((first.n_hits, first.n_left), (1, 2));
}

#[test]
fn a_wrong_pattern_and_a_stop_are_errors_of_the_search() {
    let store = in_memory();
    store.register(of_text("a", "needle")).unwrap();
    let visit = &mut |_| ControlFlow::Continue(());
    let wrong = store.search_all(&GrepQuery::new("("), &AtomicBool::new(false), visit).unwrap_err();
    assert!(matches!(wrong, StoreError::Request(ReadError::Pattern(_))));
    let stopped = store.search_all(&GrepQuery::new("x"), &AtomicBool::new(true), visit).unwrap_err();
    assert!(matches!(stopped, StoreError::Request(ReadError::Cancelled)));
}
