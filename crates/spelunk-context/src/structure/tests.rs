//! The landmarks of each content type.

use expect_test::{Expect, expect};

use crate::{ContentType, Reader};

fn check(content_type: ContentType, text: &str, expected: &Expect) {
    let reader = Reader::of_bytes("text", text.as_bytes().into());
    expected.assert_eq(&reader.structure(content_type).unwrap().to_string());
}

#[test]
fn prose_has_its_headings_but_not_those_in_code() {
    check(
        ContentType::Prose,
        "# One\ntext\n## Two\r\n```sh\n# comment\n~~~\n```\n### Three\n#hashtag\n####### seven\n",
        &expect![[r#"
            1: # One
            3:   ## Two
            8:     ### Three"#]],
    );
}

#[test]
fn code_has_its_definitions_at_no_indentation() {
    check(
        ContentType::SourceCode,
        "use x;\npub(crate) async fn a() {\n    fn inner() {}\n}\nimpl<T> B for C {\nclass D(E):\n  def f(self):\nexport default function g() {}\nfunc (r *R) H() {\n// fn no\ndefine = 1\nexport const x = 1\n",
        &expect![[r#"
            2: pub(crate) async fn a() {
            5: impl<T> B for C {
            6: class D(E):
            8: export default function g() {}
            9: func (r *R) H() {"#]],
    );
}

#[test]
fn settings_have_their_sections() {
    check(
        ContentType::Config,
        "a = 1\n[package]\nname = \"x\"\n[[bin]]\nservices:\n  web:\n",
        &expect![[r#"
            2: [package]
            4: [[bin]]
            5: services:"#]],
    );
}

#[test]
fn json_has_the_keys_of_its_first_object() {
    check(
        ContentType::Json,
        "{\n \"a\": {\"no\": [1, {\"no\": 2}]},\n \"b\\\"c\": \"x, \\\"no\\\": {\", \"d\": [\"no\"]\n}",
        &expect![[r#"
            2: a
            3: b\"c
            3: d"#]],
    );
    check(
        ContentType::Json,
        "[{\"a\":1,\"b\":{\"no\":1}},{\"no\":1}]",
        &expect![[r#"
            1: a
            1: b"#]],
    );
    check(ContentType::Jsonl, "{\"a\":1}\n{\"no\":1}\n", &expect!["1: a"]);
    check(ContentType::Json, "}]\"\\", &expect![""]);
}

#[test]
fn a_table_has_its_header_and_a_log_its_ends() {
    check(ContentType::StructuredData, "a,b,c\n1,2,3\n", &expect!["1: a,b,c"]);
    check(
        ContentType::Log,
        "2024-01-01 start\n2024-01-02\n2024-01-03 end\n",
        &expect![[r#"
            1: 2024-01-01 start
            3: 2024-01-03 end"#]],
    );
    check(ContentType::Log, "", &expect![""]);
    check(ContentType::StructuredData, "", &expect![""]);
}

#[test]
fn a_long_list_is_cut_and_the_rest_counted() {
    let headings: Vec<String> = (0..250).map(|n| format!("# {n} {}\n", "x".repeat(200))).collect();
    let text = headings.concat();
    let found = Reader::of_bytes("text", text.into_bytes().into()).structure(ContentType::Prose).unwrap();
    assert_eq!((found.landmarks.len(), found.n_left_out, found.is_whole), (200, 50, true));
    assert_eq!(found.landmarks[9].text, format!("# 9 {}…", "x".repeat(116)));
}
