use expect_test::expect;

use super::*;
use crate::store::tests::{HandClock, explain, in_memory, of_file, of_text, small};
use crate::testing::tree;

fn shown(suggestions: &[Suggestion]) -> Vec<String> {
    suggestions.iter().map(ToString::to_string).collect()
}

#[test]
fn a_peek_suggests_a_grep_and_pages_for_what_is_long() {
    let navigator = Navigator::new(Arc::new(in_memory()));
    navigator.store().register(of_text("short", "text")).unwrap();
    navigator.store().register(of_text("long", &"line\n".repeat(2001))).unwrap();
    navigator.store().register(of_text("empty", "")).unwrap();
    assert_eq!(shown(&navigator.peek("short", 10).unwrap().suggestions), ["grep `short` for a keyword"]);
    assert_eq!(
        shown(&navigator.peek("long", 10).unwrap().suggestions),
        ["grep `long` for a keyword", "read page 0 of `long`"]
    );
    let empty = navigator.peek("empty", 10).unwrap();
    assert_eq!((empty.peek.to_string().as_str(), empty.suggestions.len()), ("[empty]", 0));
}

#[test]
fn a_grep_suggests_what_fits_the_number_of_matches() {
    let text = format!("{}one\n{}", "hay\n".repeat(120), "many\n".repeat(6));
    let navigator = Navigator::new(Arc::new(in_memory()));
    navigator.store().register(of_text("a", &text)).unwrap();
    let after =
        |pattern: &str| shown(&navigator.grep("a", &navigator.query(pattern, 0)).unwrap().suggestions);
    assert_eq!(after("one"), ["1 line matches: load `a` if you need the rest"]);
    assert_eq!(after("many"), ["6 lines match: refine the pattern", "read page 2 of `a`"]);
    assert_eq!(after("absent"), ["nothing matches: try other keywords"]);
    let page = navigator.page("a", 2, 50).unwrap().page;
    assert_eq!((page.line_start, page.line_end), (101, 127), "the page that was suggested holds the match");
}

#[test]
fn what_cannot_be_loaded_is_not_suggested_for_loading() {
    let files = tree(&[("a", &format!("{}needle\n", "hay\n".repeat(60)))]);
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(100));
    store.register(of_file("a", &files.path().join("a"))).unwrap();
    let navigator = Navigator::new(Arc::new(store));
    let view = navigator.grep("a", &navigator.query("needle", 0)).unwrap();
    assert_eq!(shown(&view.suggestions), ["read page 1 of `a`"]);
}

#[test]
fn a_load_tells_its_size_and_warns_when_it_is_long() {
    let navigator = Navigator::new(Arc::new(in_memory()));
    navigator.store().register(of_text("short", &"ä".repeat(10_000))).unwrap();
    navigator.store().register(of_text("long", &"ä".repeat(10_001))).unwrap();
    let short = navigator.load("short").unwrap();
    assert_eq!((short.size_bytes, short.size_chars, short.tokens_approx), (20_000, 10_000, 2500));
    assert_eq!(short.warning, None);
    let warning = "long text (about 2500 tokens): grep it or read it in pages".to_owned();
    assert_eq!(navigator.load("long").unwrap().warning, Some(warning));
}

#[test]
fn a_peek_comes_with_what_is_known_of_the_context() {
    let navigator = Navigator::new(Arc::new(in_memory()));
    let mut new = of_text("a", "text");
    new.content_type = Some("json".to_owned());
    new.metadata.insert("author".to_owned(), "Ada".to_owned());
    navigator.store().register(new).unwrap();
    let context = navigator.peek("a", 1).unwrap().context;
    assert_eq!((context.metadata.get("author"), context.metadata.get("title")), (Some("Ada"), None));
    assert_eq!(context.structure(), Some(crate::Structure::Structured));
    assert_eq!((context.access.peeks, context.access.last_accessed_ms), (1, Some(1000)));
    assert_eq!(navigator.list(), [context]);
}

#[test]
fn the_log_tells_what_was_asked_and_nothing_that_failed() {
    let navigator = Navigator::new(Arc::new(in_memory()));
    navigator.store().register(of_text("a", "text")).unwrap();
    navigator.list();
    navigator.peek("a", 5).unwrap();
    navigator.grep("a", &navigator.query(&"x".repeat(300), 0)).unwrap();
    navigator.search_all(&navigator.query("ex", 0)).unwrap();
    expect![[r#"
        context-not-found: there is no context `b`
        hint: list the contexts to see their ids"#]]
    .assert_eq(&explain(&navigator.page("b", 0, 1).unwrap_err()));
    let log: Vec<(Action, Option<String>, usize)> = navigator
        .store()
        .access_log()
        .into_iter()
        .map(|entry| (entry.action, entry.context.map(|id| id.to_string()), entry.detail.chars().count()))
        .collect();
    let a = || Some("a".to_owned());
    assert_eq!(
        log,
        [
            (Action::List, None, 0),
            (Action::Peek, a(), 1),
            (Action::Grep, a(), 200),
            (Action::Search, None, 2)
        ]
    );
    let summary = navigator.store().access_summary();
    assert_eq!((summary.n_accesses, summary.load_to_peek_ratio), (4, Some(0.0)));
}
