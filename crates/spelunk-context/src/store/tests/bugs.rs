//! One test for each bug that requirements 7.1 lists in the seed's store and navigator: B4.1 to B4.9, and B4.13 to
//! B4.20. Those about reading are in `bugs_of_reading`.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

use expect_test::expect;

use super::*;
use crate::GrepQuery;
use crate::store::{ContextSource, Factory, MemoryReport, Navigator, Suggestion};
use crate::testing::{put, remove, tree};

fn memory(store: &ContextStore) -> (u64, u64) {
    let report = store.memory();
    (report.cache_bytes, report.n_loaded)
}

// B4.1: the size of the cache was never counted, so nothing was ever evicted.
#[test]
fn a_loaded_text_is_counted_and_can_be_evicted() {
    let files = tree(&[("a.txt", &"x".repeat(2_300_000))]);
    let store = in_memory();
    store.register(of_file("a", &files.path().join("a.txt"))).unwrap();
    store.load("a").unwrap();
    assert_eq!(
        store.memory(),
        MemoryReport {
            cache_bytes: 2_300_000,
            cache_bytes_max: 50_000_000,
            n_loaded: 1,
            held_bytes: 0,
            n_open: 1,
            open_bytes: 0,
        }
    );
    assert_eq!(store.evict_to(0), 1);
    assert_eq!(memory(&store), (0, 0));
}

// B4.2: eviction looped forever if the counter was above the target and nothing was cached; and evicted texts became
// the most recently used.
#[test]
fn eviction_ends_and_takes_the_least_recently_used_first() {
    let files = tree(&[("a", "aa"), ("b", "bb"), ("c", "cc")]);
    let store = in_memory();
    for name in ["a", "b", "c"] {
        store.register(of_file(name, &files.path().join(name))).unwrap();
        store.load(name).unwrap();
    }
    store.load("a").unwrap();
    assert_eq!(store.evict_to(4), 1);
    assert_eq!(store.invalidate("b").unwrap(), 0, "`b` was the oldest and is gone");
    assert_eq!(store.invalidate("a").unwrap(), 2);
    assert_eq!(memory(&store), (2, 1));
    assert_eq!(store.invalidate("c").unwrap(), 2);
    assert_eq!(store.evict_to(0), 0);
}

// B4.3: peek, grep, chunk and search read whole files and cached them, beyond the budget.
#[test]
fn looking_at_contexts_larger_than_the_cache_keeps_nothing() {
    let text = "a line of text\n".repeat(1000);
    let files = tree(&[("a", &text), ("b", &text)]);
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(100));
    for name in ["a", "b"] {
        store.register(of_file(name, &files.path().join(name))).unwrap();
    }
    let never = AtomicBool::new(false);
    store.peek("a", 10, 100).unwrap();
    store.page("a", 7, 50).unwrap();
    assert_eq!(store.grep("a", &GrepQuery::new("line"), &never).unwrap().n_matches, 1000);
    let report =
        store.search_all(&GrepQuery::new("line"), &never, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.n_matches, 2000);
    assert_eq!(memory(&store), (0, 0));
}

// B4.4: only `get_full` counted as loaded, and sizes were characters.
#[test]
fn what_is_in_memory_is_counted_in_bytes_whoever_put_it_there() {
    let store = in_memory();
    store.add_loader("greet", Arc::new(|| Ok("grüß dich".to_owned())));
    store.register(of_loader("a", "greet", LoadPolicy::Lazy)).unwrap();
    store.peek("a", 10, 100).unwrap();
    assert_eq!(memory(&store), (11, 1), "the text of a loader is kept for the next look, and counted");
}

// B4.5: nothing enforced the budget; a load was allowed even if eviction had freed nothing.
#[test]
fn a_load_keeps_to_the_budget_or_is_refused() {
    let files = tree(&[("a", &"a".repeat(60)), ("b", &"b".repeat(50)), ("large", &"l".repeat(101))]);
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(100));
    for name in ["a", "b", "large"] {
        store.register(of_file(name, &files.path().join(name))).unwrap();
    }
    store.load("a").unwrap();
    store.load("b").unwrap();
    assert_eq!(memory(&store), (50, 1), "`a` had to go for `b`");
    expect![[r"
        source-unreadable: `large` is too large to load in full: 101 bytes; the maximum is 100
        hint: grep it or read it in pages"]]
    .assert_eq(&explain(&store.load("large").unwrap_err()));
    assert_eq!(memory(&store), (50, 1), "what was refused cost nothing");
}

// B4.6: `a.py` and `a.md` became one context, as did files with the same name in two directories; registering twice
// replaced silently and leaked cache memory.
#[test]
fn files_with_one_stem_become_contexts_of_their_own() {
    let files = tree(&[("x/a.py", "py"), ("x/a.md", "md"), ("y/a.md", "other"), ("y/b.md", "b")]);
    let store = in_memory();
    let factory = Factory::new(&store);
    let report = factory.from_directory(files.path(), "**/*", &ContextKind::Document, "").unwrap();
    assert_eq!(ids(&report.registered), ["x:a.md", "a.py", "y:a.md", "b"]);
    assert_eq!(store.list().len(), 4);
    let again = factory.from_directory(files.path(), "**/*", &ContextKind::Document, "").unwrap();
    assert_eq!((again.registered.len(), again.already.len()), (0, 4));
}

// B4.6, second half.
#[test]
fn an_id_that_is_taken_is_refused_and_replacing_gives_the_memory_back() {
    let files = tree(&[("a", "first text"), ("b", "second")]);
    let store = in_memory();
    store.register(of_file("a", &files.path().join("a"))).unwrap();
    store.load("a").unwrap();
    let error = store.register(of_file("a", &files.path().join("b"))).unwrap_err();
    expect![[r#"
        context-exists: the context `a` already exists
        hint: use another id, or pass `--replace` to replace the context"#]]
    .assert_eq(&explain(&error));
    assert_eq!(&*store.load("a").unwrap(), "first text");
    store.replace(of_file("a", &files.path().join("b"))).unwrap();
    assert_eq!(memory(&store), (0, 0));
    assert_eq!(&*store.load("a").unwrap(), "second");
    assert_eq!(memory(&store), (6, 1));
}

// B4.7: a path given as a string, or as a URI, had no content.
#[test]
fn a_file_is_read_whichever_way_it_is_named() {
    let files = tree(&[("a b.txt", "text")]);
    let store = in_memory();
    let path = files.path().join("a b.txt");
    store.register(of_file("path", &path)).unwrap();
    let uri = format!("file://{}/a%20b.txt", files.path().display());
    let context =
        store.register(NewContext::new(id("uri"), ContextKind::Document, NewSource::Uri(uri))).unwrap();
    assert_eq!(context.source, ContextSource::File(path));
    assert_eq!(context.revision.as_ref().map(|revision| revision.size_bytes), Some(4));
    assert_eq!((peeked(&store, "path"), peeked(&store, "uri")), ("text".to_owned(), "text".to_owned()));
}

// B4.7: and other URIs could be registered, but were empty.
#[test]
fn a_uri_that_nobody_reads_says_so() {
    let store = in_memory();
    let uri = || NewSource::Uri("https://example.org/a".to_owned());
    store.register(NewContext::new(id("page"), ContextKind::Web, uri())).unwrap();
    expect![[r"
        source-unreadable: no loader `https://example.org/a` is registered in this process, so `page` cannot be read
        hint: register the loader `https://example.org/a` first"]]
    .assert_eq(&explain(&store.peek("page", 1, 1).unwrap_err()));
    store.add_loader("https://example.org/a", Arc::new(|| Ok("fetched".to_owned())));
    assert_eq!(peeked(&store, "page"), "fetched");
    let bad = NewContext::new(id("bad"), ContextKind::Web, NewSource::Uri("no scheme".to_owned()));
    expect![[r"
        usage-wrong: `no scheme` is not a URI
        hint: write it with its scheme, as in `file:///tmp/a.txt`"]]
    .assert_eq(&explain(&store.register(bad).unwrap_err()));
}

// B4.8: a missing file was cached as an empty text forever, and a changed one went unnoticed.
#[test]
fn a_file_that_changes_vanishes_or_returns_is_seen() {
    let files = tree(&[("a", "old"), ("empty", "")]);
    let store = in_memory();
    store.register(of_file("a", &files.path().join("a"))).unwrap();
    store.register(of_file("empty", &files.path().join("empty"))).unwrap();
    assert_eq!(&*store.load("a").unwrap(), "old");
    put(files.path(), "a", b"newer");
    assert_eq!((&*store.load("a").unwrap(), peeked(&store, "a").as_str()), ("newer", "newer"));
    remove(files.path(), "a");
    let root = files.path().display().to_string();
    expect![[r"
        source-not-found: could not read the context `a`
          caused by: `ROOT/a` does not exist
        hint: look in `ROOT`, the nearest directory that exists"]]
    .assert_eq(&explain(&store.load("a").unwrap_err()).replace(&root, "ROOT"));
    assert_eq!(&*store.load("empty").unwrap(), "");
    assert_eq!(peeked(&store, "empty"), "[empty]");
    put(files.path(), "a", b"back");
    assert_eq!((&*store.load("a").unwrap(), peeked(&store, "a").as_str()), ("back", "back"));
}

// B4.9: contexts with loaders were empty after a restart.
#[test]
fn a_context_whose_loader_is_gone_says_so_until_it_is_back() {
    let directory = tempfile::tempdir().unwrap();
    let before = open(directory.path());
    let loader = || -> crate::store::Loader { Arc::new(|| Ok("dynamic".to_owned())) };
    Factory::new(&before).from_loader(id("a"), "A", ContextKind::Document, loader()).unwrap();
    assert_eq!(peeked(&before, "a"), "dynamic");
    let after = open(directory.path());
    expect![[r"
        source-unreadable: no loader `a` is registered in this process, so `a` cannot be read
        hint: register the loader `a` first"]]
    .assert_eq(&explain(&after.load("a").unwrap_err()));
    after.add_loader("a", loader());
    assert_eq!(peeked(&after, "a"), "dynamic");
}

// B4.13: a search held the lock, so a loader that used the store deadlocked.
#[test]
fn a_loader_may_use_the_store_while_it_is_searched() {
    let slot: Arc<OnceLock<Weak<ContextStore>>> = Arc::default();
    let store = Arc::new(in_memory());
    slot.set(Arc::downgrade(&store)).unwrap();
    store.register(of_text("plain", "a needle")).unwrap();
    let inner = slot.clone();
    store.add_loader(
        "nested",
        Arc::new(move || {
            let store = inner.get().and_then(Weak::upgrade).ok_or("no store")?;
            store.register(of_text("made by the loader", "x")).map_err(|error| error.to_string())?;
            Ok(format!("a needle among {}", store.list().len()))
        }),
    );
    store.register(of_loader("dynamic", "nested", LoadPolicy::Lazy)).unwrap();
    let mut hits = Vec::new();
    let report = store
        .search_all(&GrepQuery::new("needle"), &AtomicBool::new(false), &mut |hit| {
            hits.push((hit.id.to_string(), store.list().len()));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(hits, [("plain".to_owned(), 2), ("dynamic".to_owned(), 3)]);
    assert_eq!((report.n_searched, report.n_left, report.n_unread), (2, 0, 0));
}

// B4.15: the suggestion after a search without matches was unreachable.
#[test]
fn a_grep_that_finds_nothing_suggests_other_words() {
    let navigator = Navigator::new(Arc::new(in_memory()));
    navigator.store().register(of_text("a", "text")).unwrap();
    let view = navigator.grep("a", &navigator.query("absent", 2)).unwrap();
    assert_eq!(view.suggestions, [Suggestion::OtherWords]);
    assert_eq!(view.suggestions[0].to_string(), "nothing matches: try other keywords");
}

// B4.16: `/stats` was taken for an id, and ids with `/` were unreachable.
#[test]
fn words_of_the_addresses_are_no_ids_and_other_ids_are_found() {
    expect![[r"
        usage-wrong: `stats` is not a valid context id: it is a reserved word
        hint: put a prefix before it, as in `document:stats`"]]
    .assert_eq(&explain(&ContextId::new("stats").unwrap_err()));
    let store = in_memory();
    store.register(of_text("notes/a", "text")).unwrap();
    assert_eq!(store.get("notes/a").unwrap().id.as_str(), "notes/a");
}

// B4.17: any file of the server could be registered and read, also through links.
#[cfg(unix)]
#[test]
fn a_server_reads_no_file_outside_of_its_directories() {
    let files = tree(&[("in/a", "a"), ("in/.env", "KEY=1"), ("out/b", "b")]);
    let inside = files.path().join("in");
    std::os::unix::fs::symlink(files.path().join("out/b"), inside.join("link")).unwrap();
    let limits = Limits::default();
    let server = StoreSettings::for_a_server(limits.clone(), vec![inside.clone()]);
    let store = ContextStore::in_memory(HandClock::at(0).clock(), server);
    store.register(of_file("a", &inside.join("a"))).unwrap();
    let root = files.path().display().to_string();
    let refused =
        |path: &Path| explain(&store.register(of_file("x", path)).unwrap_err()).replace(&root, "ROOT");
    expect![[r"
        source-unreadable: `ROOT/out/b` is outside the directories that may be read
        hint: choose a file below a directory of the server (`--root`)"]]
    .assert_eq(&refused(&files.path().join("out/b")));
    expect![[r"
        source-unreadable: `ROOT/in/link` is outside the directories that may be read
        hint: choose a file below a directory of the server (`--root`)"]]
    .assert_eq(&refused(&inside.join("link")));
    expect![[r"
        source-unreadable: `ROOT/in/../out/b` is outside the directories that may be read
        hint: choose a file below a directory of the server (`--root`)"]]
    .assert_eq(&refused(&inside.join("../out/b")));
    expect![[r"
        source-unreadable: could not read the context `x`
          caused by: `ROOT/in/.env` may contain secrets and was not read
        hint: exclude it, or pass `--allow-secrets` if it must be read"]]
    .assert_eq(&refused(&inside.join(".env")));
    // A file that becomes a link after registration is refused when it is read.
    remove(&inside, "a");
    std::os::unix::fs::symlink(files.path().join("out/b"), inside.join("a")).unwrap();
    expect![[r"
        source-unreadable: `ROOT/in/a` is outside the directories that may be read
        hint: choose a file below a directory of the server (`--root`)"]]
    .assert_eq(&explain(&store.peek("a", 1, 1).unwrap_err()).replace(&root, "ROOT"));
    let nowhere = StoreSettings { roots: Some(Vec::new()), ..StoreSettings::for_a_person(limits) };
    let store = ContextStore::in_memory(HandClock::at(0).clock(), nowhere);
    assert!(store.register(of_file("b", &files.path().join("out/b"))).is_err());
}

// B4.18: the seed's modules could not be imported, and its workflow (Appendix A, S4.28) never ran. Ours does.
#[test]
fn the_flow_of_the_seed_runs_from_list_to_load() {
    let files = tree(&[
        ("foundation/profile.yaml", "name: Ada\n"),
        ("projects/langley/contacts.yaml", "- John Smith\n- Mary\n"),
        (
            "temporal/calendar.json",
            "[\n  \"Monday: John Smith, Langley review\",\n  \"Tuesday: dentist\"\n]\n",
        ),
    ]);
    let store = Arc::new(in_memory());
    let factory = Factory::new(&store);
    factory.foundation(files.path()).unwrap();
    factory.projects(files.path()).unwrap();
    factory.temporal(files.path()).unwrap();
    let navigator = Navigator::new(store.clone());
    assert_eq!(ids(&navigator.list_of_kind("temporal").unwrap()), ["temporal:calendar"]);
    let found = navigator.grep("temporal:calendar", &navigator.query("john", 0)).unwrap();
    assert_eq!(found.matches[0].line, 2);
    assert_eq!(found.matches[0].text, "  \"Monday: John Smith, Langley review\",");
    let contacts = navigator.peek("project:langley:contacts", 10).unwrap();
    assert_eq!(contacts.peek.to_string(), "- John Smith\n- Mary");
    assert_eq!(navigator.load("temporal:calendar").unwrap().size_chars, 65);
    assert_eq!(store.access_summary().load_to_peek_ratio, Some(1.0));
}

// B4.20: an unknown type gave an empty list, custom types were impossible, and the tool lacked two of the seven.
#[test]
fn every_kind_can_be_listed_and_one_that_does_not_exist_is_an_error() {
    let store = in_memory();
    for kind in ContextKind::BUILT_IN {
        assert_eq!(store.list_of_kind(kind.name()).unwrap(), []);
    }
    expect![[r"
        usage-wrong: there is no kind `recipe`
        hint: the kinds are `identity`, `project`, `temporal`, `document`, `memory`, `tool_result`, `web`"]]
    .assert_eq(&explain(&store.list_of_kind("recipe").unwrap_err()));
    let recipe = store.declare_kind("recipe", LoadPolicy::Query).unwrap();
    let new = NewContext::new(id("cake"), recipe, NewSource::Inline("flour".to_owned()));
    assert_eq!(store.register(new).unwrap().policy, LoadPolicy::Query);
    assert_eq!(ids(&store.list_of_kind("recipe").unwrap()), ["cake"]);
    assert_eq!(store.stats().by_kind, kinds(&[("recipe", 1)]));
    assert!(matches!(store.declare_kind("web", LoadPolicy::Lazy), Err(StoreError::BadKindName { .. })));
}

// B4.20: chunks were not counted, totals shrank with the log, and the ratio was wrong before the first peek.
#[test]
fn every_access_is_counted_and_totals_outlive_the_log() {
    let limits = Limits { access_log_entries_max: 4, access_log_entries_kept: 2, ..Limits::default() };
    let store = ContextStore::in_memory(HandClock::at(7).clock(), StoreSettings::for_a_person(limits));
    let navigator = Navigator::new(Arc::new(store));
    navigator.store().register(of_text("a", "text")).unwrap();
    navigator.load("a").unwrap();
    assert_eq!(navigator.store().access_summary().load_to_peek_ratio, None);
    for _ in 0..5 {
        navigator.page("a", 0, 50).unwrap();
    }
    let access = navigator.store().get("a").unwrap().access;
    assert_eq!((access.pages, access.loads, access.last_accessed_ms), (5, 1, Some(7)));
    assert_eq!(navigator.store().access_summary().n_accesses, 6);
    assert_eq!(navigator.store().access_log().len(), 3);
}
