//! The registry on disk: what survives a restart, a crash, damage and another process.
#![expect(clippy::disallowed_methods, reason = "tests look at the files that a store writes")]

use std::fs;
use std::path::PathBuf;

use expect_test::expect;

use super::*;
use crate::store::{AccessCounts, ContextSource, Navigator};
use crate::testing::{put, tree};

fn registry(root: &Path) -> String {
    fs::read_to_string(root.join("registry.json")).unwrap()
}

fn names(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_registry_is_written_one_context_per_line() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    let store = open(&root);
    let mut new = of_text("a", "text");
    new.metadata.insert("key".to_owned(), "value".to_owned());
    new.content_type = Some("prose".to_owned());
    store.register(new).unwrap();
    store.register(of_loader("b", "load", LoadPolicy::TtlMs(5))).unwrap();
    expect![[r#"
        {"version":1,"updated_at_ms":1000,"contexts":[
        {"id":"a","name":"a","kind":"document","content_type":"prose","source":{"inline":{"digest":"831c6831fdc9a309a4c66cc3cb2fa3740a100da8b86d6fe86e9ba40deb50aa19","size_bytes":4}},"metadata":{"key":"value"},"policy":"lazy","registered_at_ms":1000,"revision":{"size_bytes":4,"digest":"831c6831fdc9a309a4c66cc3cb2fa3740a100da8b86d6fe86e9ba40deb50aa19"}},
        {"id":"b","name":"b","kind":"document","source":{"loader":"load"},"policy":{"ttl_ms":5},"registered_at_ms":1000}
        ]}
    "#]]
    .assert_eq(&registry(&root));
    assert_eq!(names(&root), ["inline", "registry.json", "registry.lock"]);
}

#[test]
fn contexts_survive_a_restart_with_their_counts_and_texts() {
    let directory = tempfile::tempdir().unwrap();
    let files = tree(&[("f", "from a file")]);
    let store = open(directory.path());
    store.register(of_text("a", "inline text")).unwrap();
    store.register(of_file("f", &files.path().join("f"))).unwrap();
    store.peek("a", 1, 10).unwrap();
    store.load("f").unwrap();
    store.save().unwrap();
    let again = open(directory.path());
    assert_eq!(again.list(), store.list());
    assert_eq!((&*again.load("a").unwrap(), &*again.load("f").unwrap()), ("inline text", "from a file"));
    assert_eq!(again.get("a").unwrap().access.peeks, 1);
}

#[test]
fn nothing_is_written_by_opening_or_by_session_contexts() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    let store = open(&root);
    assert!(!root.exists());
    let session = NewContext::new(id("page"), ContextKind::Web, NewSource::Inline("fetched".to_owned()));
    store.register(session).unwrap();
    assert_eq!(peeked(&store, "page"), "fetched");
    assert_eq!(names(&root), ["registry.lock"]);
    assert_eq!(open(&root).list(), []);
}

#[test]
fn removing_a_context_removes_its_text_unless_another_has_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.register(of_text("a", "same")).unwrap();
    store.register(of_text("b", "same")).unwrap();
    assert_eq!(names(&directory.path().join("inline")).len(), 1);
    store.remove("a").unwrap();
    assert_eq!(peeked(&store, "b"), "same");
    store.remove("b").unwrap();
    assert_eq!(names(&directory.path().join("inline")), <[&str; 0]>::default());
    assert!(matches!(store.remove("b"), Err(StoreError::UnknownContext { .. })));
}

#[test]
fn an_inline_text_that_somebody_deleted_is_reported_as_lost() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.register(of_text("a", "text")).unwrap();
    fs::remove_dir_all(directory.path().join("inline")).unwrap();
    expect![[r"
        source-unreadable: the text of `a` is gone from the store
        hint: register the text again"]]
    .assert_eq(&explain(&store.peek("a", 1, 1).unwrap_err()));
}

#[cfg(unix)]
#[test]
fn directories_and_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    open(&root).register(of_text("a", "text")).unwrap();
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(root.clone()), 0o700);
    assert_eq!(mode(root.join("inline")), 0o700);
    assert_eq!(mode(root.join("registry.json")), 0o600);
    assert_eq!(mode(root.join("registry.lock")), 0o600);
    let text = fs::read_dir(root.join("inline")).unwrap().next().unwrap().unwrap();
    assert_eq!(mode(text.path()), 0o600);
}

// B4.5: the registry was overwritten in place. A writer that dies between writing and renaming leaves a temporary file,
// partial or whole.
#[test]
fn what_a_dead_writer_left_is_removed_and_the_registry_is_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).register(of_loader("a", "load", LoadPolicy::Lazy)).unwrap();
    put(directory.path(), "registry.json.tmp-4711", b"{\"version\":1,\"updated_at_ms\":5,\"con");
    put(directory.path(), "inline.tmp-4711", b"half a te");
    let store = open(directory.path());
    assert_eq!(ids(&store.list()), ["a"]);
    assert_eq!(names(directory.path()), ["registry.json", "registry.lock"]);
}

// B4.9: every registry error was swallowed, and all contexts with it.
#[test]
fn a_registry_cut_in_half_is_salvaged_and_set_aside() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for name in ["a", "b", "c"] {
        store.register(of_loader(name, "load", LoadPolicy::Lazy)).unwrap();
    }
    let whole = registry(directory.path());
    let cut = whole.find("\"id\":\"c\"").unwrap() + 20;
    put(directory.path(), "registry.json", &whole.as_bytes()[..cut]);
    let (store, warnings) = open_with_warnings(directory.path());
    assert_eq!(ids(&store.list()), ["a", "b"]);
    let aside = directory.path().join("registry.json.damaged-1");
    assert_eq!(warnings, [RegistryWarning { n_kept: 2, n_lost: 1, set_aside: Some(aside.clone()) }]);
    assert_eq!(
        warnings[0].to_string(),
        format!(
            "the registry was damaged: 2 contexts were kept, 1 lost; the damaged file is `{}`",
            aside.display()
        )
    );
    assert_eq!(fs::read(&aside).unwrap(), &whole.as_bytes()[..cut]);
    assert_eq!(ids(&open(directory.path()).list()), ["a", "b"], "the second start finds it repaired");
    put(directory.path(), "registry.json", b"");
    let (store, warnings) = open_with_warnings(directory.path());
    assert_eq!(store.list(), []);
    let aside = Some(directory.path().join("registry.json.damaged-2"));
    assert_eq!(warnings, [RegistryWarning { n_kept: 0, n_lost: 0, set_aside: aside }]);
}

#[test]
fn a_registry_that_is_damaged_under_an_open_store_loses_nothing_it_knows() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.register(of_loader("a", "load", LoadPolicy::Lazy)).unwrap();
    put(directory.path(), "registry.json", b"{\"version\":1,\"upd");
    store.register(of_loader("b", "load", LoadPolicy::Lazy)).unwrap();
    assert_eq!(ids(&open(directory.path()).list()), ["a", "b"]);
    let aside = fs::read(directory.path().join("registry.json.damaged-1")).unwrap();
    assert_eq!(aside, b"{\"version\":1,\"upd");
    fs::remove_file(directory.path().join("registry.json")).unwrap();
    store.save().unwrap();
    assert_eq!(ids(&open(directory.path()).list()), ["a", "b"]);
}

#[test]
fn one_bad_entry_costs_one_context() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for name in ["a", "b", "c"] {
        store.register(of_loader(name, "load", LoadPolicy::Lazy)).unwrap();
    }
    let bad_id = registry(directory.path()).replace("\"id\":\"b\"", "\"id\":\" b\"");
    put(directory.path(), "registry.json", bad_id.as_bytes());
    let (store, warnings) = open_with_warnings(directory.path());
    assert_eq!((ids(&store.list()), warnings.len()), (vec!["a", "c"], 1));
    let no_json = registry(directory.path()).replace("\"id\":\"c\"", "\"id\":\u{0}\"c\"");
    put(directory.path(), "registry.json", no_json.as_bytes());
    let (store, warnings) = open_with_warnings(directory.path());
    assert_eq!((ids(&store.list()), warnings.len()), (vec!["a"], 1));
}

// A digest names a file: one that points elsewhere must not be read or removed.
#[test]
fn an_inline_digest_that_is_a_path_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    put(directory.path(), "victim", b"precious");
    let line = r#"{"id":"a","name":"a","kind":"document","source":{"inline":{"digest":"../victim","size_bytes":8}},"policy":"lazy","registered_at_ms":1}"#;
    let text = format!("{{\"version\":1,\"updated_at_ms\":1,\"contexts\":[\n{line}\n]}}\n");
    put(directory.path(), "registry.json", text.as_bytes());
    let (store, warnings) = open_with_warnings(directory.path());
    assert_eq!((store.list().len(), warnings.len()), (0, 1));
    assert_eq!(fs::read(directory.path().join("victim")).unwrap(), b"precious");
}

#[test]
fn a_newer_registry_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let newer = "{\"version\":2,\"contexts\":{\"a\":{}}}\n";
    put(directory.path(), "registry.json", newer.as_bytes());
    let error = ContextStore::open(directory.path(), HandClock::at(0).clock(), settings()).unwrap_err();
    let root = directory.path().display().to_string();
    expect![[r#"
        registry-newer: the registry `ROOT/registry.json` was written by a newer version of spelunk: version 2
        hint: use the newer version of spelunk"#]]
    .assert_eq(&explain(&error).replace(&root, "ROOT"));
    assert_eq!(registry(directory.path()), newer);
}

// For the files, two stores on one directory are equivalent to two processes.
#[test]
fn two_processes_do_not_lose_each_others_contexts() {
    let directory = tempfile::tempdir().unwrap();
    let (one, two) = (open(directory.path()), open(directory.path()));
    one.register(of_loader("a", "load", LoadPolicy::Lazy)).unwrap();
    two.register(of_loader("b", "load", LoadPolicy::Lazy)).unwrap();
    assert!(matches!(one.register(of_loader("b", "x", LoadPolicy::Lazy)), Err(StoreError::Duplicate { .. })));
    one.register(of_loader("c", "load", LoadPolicy::Lazy)).unwrap();
    assert_eq!(ids(&one.list()), ["a", "b", "c"]);
    two.remove("a").unwrap();
    assert_eq!(ids(&two.list()), ["b", "c"]);
    one.reload().unwrap();
    assert_eq!(ids(&one.list()), ["b", "c"]);
    assert_eq!(ids(&open(directory.path()).list()), ["b", "c"]);
}

#[test]
fn counts_of_two_processes_add_up() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).register(of_text("a", "text")).unwrap();
    let (one, two) = (open(directory.path()), open(directory.path()));
    for _ in 0..3 {
        one.peek("a", 1, 1).unwrap();
    }
    two.peek("a", 1, 1).unwrap();
    two.load("a").unwrap();
    one.save().unwrap();
    two.save().unwrap();
    one.save().unwrap();
    let access = open(directory.path()).get("a").unwrap().access;
    let expected =
        AccessCounts { peeks: 4, loads: 1, last_accessed_ms: Some(1000), ..AccessCounts::default() };
    assert_eq!(access, expected);
}

#[test]
fn a_context_that_another_process_replaced_is_read_anew() {
    let directory = tempfile::tempdir().unwrap();
    let clock = HandClock::at(1);
    let open_at = || ContextStore::open(directory.path(), clock.clock(), settings()).unwrap().0;
    let (one, two) = (open_at(), open_at());
    one.register(of_text("a", "old")).unwrap();
    assert_eq!(&*one.load("a").unwrap(), "old");
    clock.advance(1);
    two.replace(of_text("a", "new")).unwrap();
    one.reload().unwrap();
    assert_eq!(&*one.load("a").unwrap(), "new");
    assert_eq!(one.memory().cache_bytes, 3);
}

#[cfg(unix)]
#[test]
fn a_change_that_cannot_be_written_did_not_happen() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.register(of_loader("a", "load", LoadPolicy::Lazy)).unwrap();
    // A directory in place of the file also stops root, unlike permissions.
    let (registry, aside) = (directory.path().join("registry.json"), directory.path().join("aside"));
    fs::rename(&registry, &aside).unwrap();
    fs::create_dir(&registry).unwrap();
    assert!(matches!(
        store.register(of_loader("b", "load", LoadPolicy::Lazy)),
        Err(StoreError::Registry { .. })
    ));
    assert_eq!(ids(&store.list()), ["a"]);
    fs::remove_dir(&registry).unwrap();
    fs::rename(&aside, &registry).unwrap();
    store.register(of_loader("b", "load", LoadPolicy::Lazy)).unwrap();
    assert_eq!(ids(&store.list()), ["a", "b"]);
}

#[test]
fn clearing_takes_everything_out() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.register(of_text("a", "text")).unwrap();
    store.register(NewContext::new(id("w"), ContextKind::Web, NewSource::Inline("x".to_owned()))).unwrap();
    assert_eq!(store.clear().unwrap(), 2);
    assert_eq!((store.list().len(), store.memory().held_bytes), (0, 0));
    assert_eq!(open(directory.path()).list(), []);
}

#[test]
fn a_relative_path_is_kept_absolute() {
    let store = in_memory();
    let context = store.register(of_file("a", Path::new("Cargo.toml"))).unwrap();
    let path = std::env::current_dir().unwrap().join("Cargo.toml");
    assert_eq!(context.source, ContextSource::File(path));
}

#[test]
fn a_registry_that_another_process_holds_is_waited_for_and_then_its_holder_is_named() {
    let root = tree(&[]);
    let store = open(root.path());
    store.register(of_text("a", "one")).unwrap();
    let settings = StoreSettings { lock_wait_ms_max: 20, ..settings() };
    let (waiting, _) = ContextStore::open(root.path(), HandClock::at(1000).clock(), settings).unwrap();
    let path = root.path().join("registry.lock");
    let held = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    held.lock().unwrap();
    fs::write(&path, "4711").unwrap();
    let refused = |waiting: &ContextStore| {
        let error = waiting.register(of_text("b", "two")).unwrap_err();
        explain(&error).replace(&root.path().display().to_string(), "ROOT")
    };
    expect![[r"
        workspace-unusable: another process (pid 4711) has locked the registry `ROOT/registry.json` for 20 ms
        hint: wait for process 4711, or stop it if it hangs"]]
    .assert_eq(&refused(&waiting));
    fs::write(&path, "").unwrap();
    expect![[r"
        workspace-unusable: another process has locked the registry `ROOT/registry.json` for 20 ms
        hint: wait for the other process, or stop it if it hangs"]]
    .assert_eq(&refused(&waiting));
    // Reads that need no lock still work.
    assert_eq!(&*waiting.load("a").unwrap(), "one");
    drop(held);
    waiting.register(of_text("b", "two")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), std::process::id().to_string());
}

#[test]
fn a_warning_counts_in_words() {
    let damaged = |n_kept, n_lost| RegistryWarning { n_kept, n_lost, set_aside: None }.to_string();
    assert_eq!(
        [damaged(1, 2), damaged(0, 1)],
        [
            "the registry was damaged: 1 context was kept, 2 lost; the damaged file could not be moved",
            "the registry was damaged: 0 contexts were kept, 1 lost; the damaged file could not be moved",
        ]
    );
}

#[test]
fn s4_12_the_access_log_outlives_the_process_and_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { access_log_entries_max: 5, access_log_entries_kept: 3, ..Limits::default() };
    let look = |patterns: &[&str]| {
        let settings = StoreSettings::for_a_person(limits.clone());
        let (store, _) = ContextStore::open(directory.path(), HandClock::at(7).clock(), settings).unwrap();
        if store.list().is_empty() {
            store.register(of_text("a", "text")).unwrap();
        }
        let navigator = Navigator::new(Arc::new(store));
        for pattern in patterns {
            navigator.grep("a", &navigator.query(pattern, 0)).unwrap();
        }
        let details: Vec<String> =
            navigator.store().access_log().into_iter().map(|entry| entry.detail).collect();
        navigator.store().save().unwrap();
        details
    };
    assert_eq!(look(&["1", "2"]), ["1", "2"]);
    assert_eq!(look(&["3"]), ["1", "2", "3"], "of the last process and of this one");
    put(directory.path(), "accesses.jsonl", &{
        let mut log = fs::read(directory.path().join("accesses.jsonl")).unwrap();
        log.extend_from_slice(b"{\"at_ms\":7,\"act");
        log
    });
    assert_eq!(look(&[]), ["1", "2", "3"], "a line that was cut off is left out");
    assert_eq!(look(&["4", "5", "token = ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i"]).len(), 6);
    let kept = look(&[]);
    assert_eq!((kept.len(), &kept[..2]), (3, &["4".to_owned(), "5".to_owned()][..]));
    assert!(!kept[2].contains("ghp_"), "{}", kept[2]);
}
