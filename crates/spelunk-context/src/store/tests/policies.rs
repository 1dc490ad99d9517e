//! The semantics of each load policy: how often a loader is called, what is cached, and what is evicted first.

use std::sync::atomic::AtomicU64;

use expect_test::expect;

use super::*;
use crate::testing::tree;

/// A store with a loader that returns how often it was called.
fn counting(policy: LoadPolicy, clock: &HandClock) -> ContextStore {
    let store = ContextStore::in_memory(clock.clock(), settings());
    let n_asked = AtomicU64::new(0);
    store.add_loader(
        "count",
        Arc::new(move || Ok(format!("asked {}\nsecond line\n", n_asked.fetch_add(1, Ordering::Relaxed) + 1))),
    );
    store.register(of_loader("a", "count", policy)).unwrap();
    store
}

fn first_line(store: &ContextStore) -> String {
    store.peek("a", 1, 100).unwrap().text
}

#[test]
fn the_kinds_have_the_policies_of_the_table() {
    let policies: Vec<String> =
        ContextKind::BUILT_IN.iter().map(|kind| format!("{kind} {}", kind.default_policy().name())).collect();
    assert_eq!(
        policies,
        [
            "identity hot",
            "project lazy",
            "temporal refresh",
            "document lazy",
            "memory query",
            "tool_result ttl",
            "web session"
        ]
    );
}

#[test]
fn a_lazy_text_is_asked_for_once_and_again_after_it_was_forgotten() {
    let store = counting(LoadPolicy::Lazy, &HandClock::at(0));
    assert_eq!((first_line(&store), first_line(&store)), ("asked 1".to_owned(), "asked 1".to_owned()));
    assert_eq!(store.invalidate("a").unwrap(), 20);
    assert_eq!(first_line(&store), "asked 2");
}

#[test]
fn a_refreshed_text_is_asked_for_each_time_but_pages_fit_together() {
    let store = counting(LoadPolicy::Refresh, &HandClock::at(0));
    assert_eq!((first_line(&store), first_line(&store)), ("asked 1".to_owned(), "asked 2".to_owned()));
    assert_eq!(store.page("a", 0, 1).unwrap().text, "asked 3\n");
    assert_eq!(store.page("a", 1, 1).unwrap().text, "second line\n");
    assert_eq!(first_line(&store), "asked 4", "the second page asked nobody");
}

#[test]
fn a_text_with_a_time_to_live_is_asked_for_when_that_is_over() {
    let clock = HandClock::at(100);
    let store = counting(LoadPolicy::TtlMs(50), &clock);
    assert_eq!(first_line(&store), "asked 1");
    clock.advance(49);
    assert_eq!(first_line(&store), "asked 1");
    clock.advance(1);
    assert_eq!(first_line(&store), "asked 2");
}

#[test]
fn a_queried_text_is_asked_for_each_time_and_never_kept() {
    let store = counting(LoadPolicy::Query, &HandClock::at(0));
    assert_eq!((first_line(&store), first_line(&store)), ("asked 1".to_owned(), "asked 2".to_owned()));
    assert_eq!(&*store.load("a").unwrap(), "asked 3\nsecond line\n");
    assert_eq!(store.memory().cache_bytes, 0);
}

#[test]
fn an_inline_text_expires_and_makes_room_for_the_next() {
    let clock = HandClock::at(100);
    let store = ContextStore::in_memory(clock.clock(), settings());
    let result = |text: &str| NewContext {
        policy: Some(LoadPolicy::TtlMs(10)),
        ..NewContext::new(id("tool"), ContextKind::ToolResult, NewSource::Inline(text.to_owned()))
    };
    store.register(result("first")).unwrap();
    assert_eq!(peeked(&store, "tool"), "first");
    assert!(matches!(store.register(result("second")), Err(StoreError::Duplicate { .. })));
    clock.advance(10);
    expect![[r"
        source-unreadable: `tool` expired
        hint: call the tool again and register its new result"]]
    .assert_eq(&explain(&store.peek("tool", 1, 1).unwrap_err()));
    store.register(result("second")).unwrap();
    assert_eq!(peeked(&store, "tool"), "second");
    clock.advance(10);
    assert_eq!(store.remove_expired().unwrap(), 1);
    assert_eq!((store.list().len(), store.memory().held_bytes), (0, 0));
}

#[test]
fn hot_texts_are_loaded_by_the_first_look_and_evicted_last() {
    let files = tree(&[("hot", &"h".repeat(40)), ("b", &"b".repeat(40)), ("c", &"c".repeat(40))]);
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(100));
    let hot = NewContext { kind: ContextKind::Identity, ..of_file("hot", &files.path().join("hot")) };
    store.register(hot).unwrap();
    for name in ["b", "c"] {
        store.register(of_file(name, &files.path().join(name))).unwrap();
    }
    store.peek("hot", 1, 1).unwrap();
    assert_eq!((store.memory().cache_bytes, store.get("hot").unwrap().access.loads), (40, 0));
    store.load("b").unwrap();
    store.load("c").unwrap();
    assert_eq!(store.invalidate("b").unwrap(), 0, "`b` went although `hot` was older");
    assert_eq!(store.invalidate("hot").unwrap(), 40);
}

#[test]
fn a_loader_that_gives_no_text_says_why() {
    let store = in_memory();
    store.add_loader("broken", Arc::new(|| Err("the database is closed".to_owned())));
    store.register(of_loader("a", "broken", LoadPolicy::Lazy)).unwrap();
    expect![[r"
        source-unreadable: the loader `broken` of `a` returned no text: the database is closed
        hint: try again, or check the source of the loader"]]
    .assert_eq(&explain(&store.load("a").unwrap_err()));
}

#[test]
fn a_loader_that_gives_too_much_can_be_searched_but_not_loaded() {
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(10));
    store.add_loader("long", Arc::new(|| Ok("many words in here".to_owned())));
    store.register(of_loader("a", "long", LoadPolicy::Lazy)).unwrap();
    assert_eq!(peeked(&store, "a"), "many words in here");
    assert!(matches!(store.load("a"), Err(StoreError::TooLarge { size_bytes: 18, bytes_max: 10, .. })));
    assert_eq!(store.memory().cache_bytes, 0);
}

#[test]
fn session_texts_have_a_budget_of_their_own() {
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(10));
    let of_web = |name, text| NewContext { kind: ContextKind::Web, ..of_text(name, text) };
    store.register(of_web("a", "1234567")).unwrap();
    expect![[r"
        source-unreadable: session texts use 7 of 10 bytes, and 4 more do not fit
        hint: remove session contexts that you no longer need"]]
    .assert_eq(&explain(&store.register(of_web("b", "1234")).unwrap_err()));
    store.remove("a").unwrap();
    store.register(of_web("b", "1234")).unwrap();
    assert_eq!(store.memory().held_bytes, 4);
}
