use super::*;
use crate::store::tests::{ids, in_memory, peeked};
use crate::testing::tree;

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
    assert_eq!(report.missing, [path]);
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
