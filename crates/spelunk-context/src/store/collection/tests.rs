use expect_test::expect;

use super::*;
use crate::store::tests::{explain, ids, in_memory, of_text, peeked};
use crate::testing::tree;

#[test]
fn a_collection_is_flat_lines_of_name_and_path() {
    let text = "# mine\n---\nprofile: profile.yaml\n\nstyle: \"my style.yaml\"\nurl: a:b # c\n";
    let pairs = parse_collection(text).unwrap();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, path)| (name.as_str(), path.as_str())).collect();
    assert_eq!(pairs, [("profile", "profile.yaml"), ("style", "my style.yaml"), ("url", "a:b # c")]);
}

#[test]
fn nesting_and_lists_are_refused_by_line() {
    for text in ["a: b\n  c: d\n", "a: b\n- c\n", "a: b\nc:\n", "a: b\nc: [d]\n", "a: b\nno colon\n"] {
        assert!(matches!(parse_collection(text), Err(StoreError::BadCollection { line: 2 })), "{text}");
    }
    expect![[r"
        usage-wrong: line 1 of the collection is not `name: path`
        hint: write one `name: path` per line, without nesting and without lists"]]
    .assert_eq(&explain(&parse_collection("x").unwrap_err()));
}

#[test]
fn the_foundation_is_registered_and_what_is_missing_is_named() {
    let files = tree(&[
        ("foundation/profile.yaml", "name: Ada\n"),
        ("foundation/communication_style.yaml", "tone: dry\n"),
    ]);
    let store = in_memory();
    let factory = Factory::new(&store);
    let report = factory.foundation(files.path()).unwrap();
    assert_eq!(ids(&report.registered), ["identity:profile", "identity:communication_style"]);
    assert_eq!(report.registered[1].name, "Communication Style");
    assert_eq!(report.registered[1].metadata.get("format"), Some("yaml"));
    let path = files.path().join("foundation/preferences.yaml");
    assert_eq!(report.missing, [MissingFile { name: "preferences".to_owned(), path }]);
    let again = factory.foundation(files.path()).unwrap();
    assert_eq!((again.registered.len(), again.already.len(), again.missing.len()), (0, 2, 1));
}

#[test]
fn projects_and_temporal_files_get_their_prefixes() {
    let files = tree(&[
        ("projects/langley/project.yaml", "a"),
        ("projects/langley/trades.yml", "b"),
        ("projects/langley/notes.txt", "c"),
        ("projects/other/project.yaml", "d"),
        ("temporal/recent_messages.json", "[]"),
    ]);
    let store = in_memory();
    let factory = Factory::new(&store);
    factory.projects(files.path()).unwrap();
    factory.temporal(files.path()).unwrap();
    factory.temporal_loader("now", "Now", Arc::new(|| Ok("noon".to_owned()))).unwrap();
    assert_eq!(
        ids(&store.list()),
        [
            "project:langley:project",
            "project:langley:trades",
            "project:other:project",
            "temporal:recent_messages",
            "temporal:now"
        ]
    );
    assert_eq!(peeked(&store, "temporal:now"), "noon");
}

#[test]
fn a_root_without_collections_gives_none() {
    let files = tree(&[]);
    let store = in_memory();
    let factory = Factory::new(&store);
    assert_eq!(factory.foundation(files.path()).unwrap().missing.len(), 3);
    assert_eq!(factory.projects(files.path()).unwrap().len(), 0);
    assert_eq!(factory.temporal(files.path()).unwrap().registered.len(), 0);
}

#[test]
fn the_user_and_a_project_are_had_together() {
    let store = in_memory();
    let factory = Factory::new(&store);
    for (name, text) in
        [("identity:profile", "Ada"), ("project:x:plan", "build"), ("project:y:plan", "other")]
    {
        store.register(of_text(name, text)).unwrap();
    }
    let combined = factory.combined("x").unwrap();
    let expected = CombinedTexts {
        user: BTreeMap::from([("profile".to_owned(), "Ada".into())]),
        project: BTreeMap::from([("plan".to_owned(), "build".into())]),
    };
    assert_eq!(combined, expected);
}
