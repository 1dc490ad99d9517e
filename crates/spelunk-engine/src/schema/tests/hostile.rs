//! Schemas and values designed to be expensive or to break things.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::extract_json;
use super::Schema;

#[test]
fn alternatives_that_multiply_are_given_up() {
    let mut defs = String::new();
    for n in 0..30 {
        let next = n + 1;
        write!(
            defs,
            r##""d{n}": {{"allOf": [{{"$ref": "#/$defs/d{next}"}}, {{"$ref": "#/$defs/d{next}"}}]}},"##
        )
        .unwrap();
    }
    let schema = format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{defs} "d30": {{"type": "string"}}}}}}"##);
    let violations = Schema::parse(&schema).unwrap().check(&json!("a")).unwrap_err();
    assert_eq!(violations[0].to_string(), "at the root: the value and the schema are too large to validate");
}

#[test]
fn long_chains_of_references_are_given_up() {
    let mut defs = String::new();
    for n in 0..2_000 {
        write!(defs, r##""d{n}": {{"$ref": "#/$defs/d{}"}},"##, n + 1).unwrap();
    }
    let schema = format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{defs} "d2000": true}}}}"##);
    let violations = Schema::parse(&schema).unwrap().check(&json!("a")).unwrap_err();
    assert_eq!(violations[0].to_string(), "at the root: the value is nested too deeply");
}

#[test]
fn values_that_are_nested_too_deep_are_given_up() {
    let schema = Schema::parse(r##"{"items": {"$ref": "#"}, "enum": [1]}"##).unwrap();
    let mut value = json!([]);
    for _ in 0..500 {
        value = json!([value]);
    }
    let violations = schema.check(&value).unwrap_err();
    assert_eq!(violations[0].to_string(), "at the root: the value is nested too deeply");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-4_000_i32..4_000).prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "[a-z\"'\\\\\n\té{}\\[\\],:]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map("[a-c'\" ]{0,3}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates schemas from keywords and values.
fn schema_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "enum",
        "const",
        "minimum",
        "maxLength",
        "pattern",
        "items",
        "prefixItems",
        "properties",
        "required",
        "anyOf",
        "oneOf",
        "not",
        "$ref",
        "$defs",
        "additionalProperties",
        "uniqueItems",
        "title",
    ]);
    let leaf = prop_oneof![
        value(),
        prop::sample::select(vec!["string", "object", "#", "#/$defs/type", "^a+$"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::from),
            prop::collection::hash_map(word.clone(), inner, 0..4).prop_map(|members| {
                Value::Object(members.into_iter().map(|(word, value)| (word.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_fits_itself(value in value()) {
        let schema = Schema::parse(&json!({ "const": value, "enum": [value] }).to_string()).unwrap();
        prop_assert_eq!(schema.check(&value), Ok(()));
    }

    #[test]
    fn json_is_read_as_it_is_whatever_stands_around_it(value in value()) {
        let json = value.to_string();
        prop_assert_eq!(extract_json(&json), Some(value.clone()));
        prop_assert_eq!(extract_json(&format!("```json\n{json}\n```")), Some(value.clone()));
        if value.is_object() {
            prop_assert_eq!(extract_json(&format!("Here [1] it is: {json} as you asked.")), Some(value));
        }
    }

    #[test]
    fn nothing_panics(schema in schema_value(), value in value(), text in any::<String>()) {
        if let Ok(schema) = Schema::parse(&schema.to_string()) {
            prop_assert!(schema.check(&value).map_or_else(|violations| violations.len(), |()| 1) <= 10);
        }
        if let Some(value) = extract_json(&text) {
            prop_assert_eq!(extract_json(&value.to_string()), Some(value));
        }
    }

    #[test]
    fn no_reply_of_brackets_and_quotes_panics(text in "[\\[\\]{}\"'\\\\:, 0-9tTuné`\n-]{0,60}") {
        if let Some(value) = extract_json(&text) {
            prop_assert_eq!(extract_json(&value.to_string()), Some(value));
        }
    }
}
