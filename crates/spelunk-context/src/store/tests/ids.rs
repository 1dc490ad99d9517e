//! Ids, names and metadata: what is accepted and what is refused.

use expect_test::expect;

use super::*;

#[test]
fn an_id_is_short_printable_and_trimmed() {
    let refused = |text: &str| explain(&ContextId::new(text).unwrap_err());
    expect![[r"
        usage-wrong: `` is not a valid context id: it is empty
        hint: use a short id on one line, such as `project:notes`"]]
    .assert_eq(&refused(""));
    expect![[r"
        usage-wrong: ` a` is not a valid context id: it begins or ends with a space
        hint: use a short id on one line, such as `project:notes`"]]
    .assert_eq(&refused(" a"));
    expect![[r"
        usage-wrong: `a\nb` is not a valid context id: it contains non-printing characters or line breaks
        hint: use a short id on one line, such as `project:notes`"]]
    .assert_eq(&refused("a\nb"));
    let long = "a".repeat(201);
    expect![[r"
        usage-wrong: `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is not a valid context id: it is longer than 200 bytes
        hint: use a short id on one line, such as `project:notes`"]]
    .assert_eq(&refused(&long));
    assert_eq!(ContextId::new("a".repeat(200)).unwrap().as_str().len(), 200);
    assert_eq!(ContextId::new("tägliche Notizen/1").unwrap().to_string(), "tägliche Notizen/1");
}

#[test]
fn an_unknown_id_names_the_nearest() {
    let store = in_memory();
    store.register(of_text("identity:profile", "x")).unwrap();
    expect![[r#"
        context-not-found: there is no context `identity:profil`
        hint: did you mean `identity:profile`?"#]]
    .assert_eq(&explain(&store.load("identity:profil").unwrap_err()));
    expect![[r#"
        context-not-found: there is no context `zebra`
        hint: list the contexts to see their ids"#]]
    .assert_eq(&explain(&store.get("zebra").unwrap_err()));
}

#[test]
fn descriptions_are_bounded() {
    let store = in_memory();
    let mut new = of_text("a", "x");
    new.metadata.insert("key".to_owned(), "v".repeat(2001));
    expect![[r#"
        usage-wrong: the metadata value of `a` is too long: 2001 bytes; the maximum is 2000
        hint: shorten it, or put it in the text of the context"#]]
    .assert_eq(&explain(&store.register(new).unwrap_err()));
    let mut new = of_text("a", "x");
    new.metadata = (0..65).map(|number| (number.to_string(), String::new())).collect();
    expect![[r#"
        usage-wrong: the metadata of `a` is too long: 65 entries; the maximum is 64
        hint: shorten it, or put it in the text of the context"#]]
    .assert_eq(&explain(&store.register(new).unwrap_err()));
    expect![[r"
        usage-wrong: the name of the loader of `a` is empty
        hint: give the name of the loader"]]
    .assert_eq(&explain(&store.register(of_loader("a", "", LoadPolicy::Lazy)).unwrap_err()));
}

#[test]
fn a_store_takes_no_more_than_its_limit() {
    let settings = StoreSettings { contexts_max: 2, ..settings() };
    let store = ContextStore::in_memory(HandClock::at(0).clock(), settings);
    store.register_all(vec![of_text("a", ""), of_text("b", "")]).unwrap();
    expect![[r"
        workspace-unusable: there are already 2 contexts, the maximum
        hint: remove contexts that you no longer need"]]
    .assert_eq(&explain(&store.register(of_text("c", "")).unwrap_err()));
    store.replace(of_text("b", "other")).unwrap();
    assert_eq!(store.list().len(), 2);
}

#[test]
fn all_are_registered_or_none() {
    let store = in_memory();
    store.register(of_text("b", "old")).unwrap();
    let error = store.register_all(vec![of_text("a", "x"), of_text("b", "x")]).unwrap_err();
    assert!(matches!(error, StoreError::Duplicate { id } if id == "b"));
    let error = store.register_all(vec![of_text("c", "x"), of_text("c", "y")]).unwrap_err();
    assert!(matches!(error, StoreError::Duplicate { id } if id == "c"));
    assert_eq!(ids(&store.list()), ["b"]);
}

#[test]
fn a_replaced_context_keeps_its_place() {
    let store = in_memory();
    store.register_all(vec![of_text("a", "1"), of_text("b", "2"), of_text("c", "3")]).unwrap();
    store.replace(of_text("b", "new")).unwrap();
    assert_eq!(ids(&store.list()), ["a", "b", "c"]);
    assert_eq!(peeked(&store, "b"), "new");
}

#[test]
fn a_directory_and_a_missing_file_are_refused_by_name() {
    let files = crate::testing::tree(&[("d/a.txt", "x")]);
    let store = in_memory();
    let root = files.path().display().to_string();
    let refused = |path: &str| {
        let new = of_file("x", &files.path().join(path));
        explain(&store.register(new).unwrap_err()).replace(&root, "ROOT")
    };
    expect![[r"
        source-unreadable: `ROOT/d` is a directory
        hint: register the files of the directory instead"]]
    .assert_eq(&refused("d"));
    expect![[r"
        source-not-found: could not read the context `x`
          caused by: `ROOT/d/a.txd` does not exist
        hint: try `ROOT/d/a.txt`, which does exist"]]
    .assert_eq(&refused("d/a.txd"));
}
