use super::*;

#[test]
fn how_a_run_was_scanned_is_written_as_it_always_was() {
    let options = ScanOptions { files_max: 20, order: FileOrder::Priority, ..ScanOptions::default() };
    let written = r#"{"allow_secrets":false,"allow_secret_globs":[],"include":[],"exclude":[],"recursive":true,"gitignore":true,"files_max":20,"order":"priority","extract_html":false}"#;
    assert_eq!(serde_json::to_string(&options).unwrap(), written);
    assert_eq!(serde_json::from_str::<ScanOptions>(written).unwrap(), options);
    assert_eq!(serde_json::from_str::<ScanOptions>("{}").unwrap(), ScanOptions::default());
}

#[test]
fn an_order_is_written_by_its_name() {
    for order in FileOrder::ALL {
        assert_eq!(serde_json::to_value(order).unwrap(), order.name());
    }
}

#[test]
fn a_path_has_a_name_only_where_it_was_typed_so() {
    let bare = r#"{"is":"path","path":"/w/b/two.md"}"#;
    let spec = SourceSpec::Path { path: "/w/b/two.md".to_owned(), name: None };
    assert_eq!(serde_json::to_string(&spec).unwrap(), bare);
    assert_eq!(serde_json::from_str::<SourceSpec>(bare).unwrap(), spec);
    let named = SourceSpec::Path { path: "/w/b/two.md".to_owned(), name: Some("b/two.md".to_owned()) };
    let written = r#"{"is":"path","path":"/w/b/two.md","name":"b/two.md"}"#;
    assert_eq!(serde_json::to_string(&named).unwrap(), written);
    assert_eq!(serde_json::from_str::<SourceSpec>(written).unwrap(), named);
}
