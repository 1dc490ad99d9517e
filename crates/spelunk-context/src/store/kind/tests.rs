use super::*;

#[test]
fn built_in_kinds_are_found_by_their_names() {
    let found: Vec<Option<ContextKind>> =
        ContextKind::BUILT_IN.iter().map(|kind| ContextKind::from_name(kind.name())).collect();
    assert_eq!(found, ContextKind::BUILT_IN.map(Some));
}

#[test]
fn a_custom_kind_has_a_plain_name_of_its_own() {
    assert_eq!(
        KindName::new("meeting-notes_2").map(|name| name.as_str().to_owned()),
        Some("meeting-notes_2".into())
    );
    assert_eq!(KindName::new(""), None);
    assert_eq!(KindName::new("Notes"), None);
    assert_eq!(KindName::new("two words"), None);
    assert_eq!(KindName::new("project"), None);
    assert_eq!(KindName::new(&"x".repeat(65)), None);
}
