//! The meaning of each keyword.

use expect_test::expect;

use super::{Schema, check};

#[test]
fn a_violation_names_the_place_what_is_expected_and_what_was_found() {
    check(
        r#"{"type": "object", "properties": {"items": {"type": "array", "items": {"properties": {"price": {"type": "number"}}}}}}"#,
        &[r#"{"items": [{"price": 1}, {"price": 2.5}, {}, {"price": "12 €"}]}"#, r#"[1, 2]"#],
        &expect![[r#"
            {"items": [{"price": 1}, {"price": 2.5}, {}, {"price": "12 €"}]}
                at /items/3/price: expected a number, found "12 €"
            [1, 2]
                at the root: expected an object, found an array of 2
        "#]],
    );
}

#[test]
fn types_are_checked_and_integers_are_numbers() {
    check(
        r#"{"type": "integer"}"#,
        &["1", "1.0", "-7", "1.5", "\"1\"", "1e3", "18446744073709551615"],
        &expect![[r#"
            1 fits
            1.0 fits
            -7 fits
            1.5
                at the root: expected an integer, found 1.5
            "1"
                at the root: expected an integer, found "1"
            1e3 fits
            18446744073709551615 fits
        "#]],
    );
    check(
        r#"{"type": "number"}"#,
        &["1", "1.5", "true"],
        &expect![[r#"
        1 fits
        1.5 fits
        true
            at the root: expected a number, found true
    "#]],
    );
    check(
        r#"{"type": ["string", "null", "boolean"]}"#,
        &["\"a\"", "null", "false", "{}", "[]"],
        &expect![[r#"
            "a" fits
            null fits
            false fits
            {}
                at the root: expected a string, null or a boolean, found an empty object
            []
                at the root: expected a string, null or a boolean, found an empty array
        "#]],
    );
}

#[test]
fn properties_are_required_allowed_and_checked() {
    check(
        r#"{"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "c"], "additionalProperties": false}"#,
        &[r#"{"a": "x", "b": 1, "c": 2}"#, r#"{"a": "x", "d": 1}"#],
        &expect![[r#"
            {"a": "x", "b": 1, "c": 2}
                at the root: the property `c` is not allowed; allowed properties are `a`, `b`
            {"a": "x", "d": 1}
                at the root: the property `c` is missing
                at the root: the property `d` is not allowed; allowed properties are `a`, `b`
        "#]],
    );
    check(
        r#"{"additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2}"#,
        &["{}", r#"{"a": 1}"#, r#"{"a": "x", "b~/": "y", "c": 3}"#],
        &expect![[r#"
            {}
                at the root: expected at least 1 property, found 0
            {"a": 1} fits
            {"a": "x", "b~/": "y", "c": 3}
                at the root: expected at most 2 properties, found 3
                at /a: expected an integer, found "x"
                at /b~0~1: expected an integer, found "y"
        "#]],
    );
    check(
        r#"{"additionalProperties": false}"#,
        &[r#"{"a": 1}"#],
        &expect![[r#"
        {"a": 1}
            at the root: the property `a` is not allowed; no properties are allowed
    "#]],
    );
}

#[test]
fn items_are_counted_compared_and_checked() {
    check(
        r#"{"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 1}"#,
        &[r#"["a", 1]"#, r#"["a"]"#, "[]", r#"[1, "a", true]"#],
        &expect![[r#"
            ["a", 1] fits
            ["a"] fits
            []
                at the root: expected at least 1 item, found 0
            [1, "a", true]
                at /0: expected a string, found 1
                at /1: expected an integer, found "a"
                at /2: no value is allowed here
        "#]],
    );
    check(
        r#"{"items": {"minLength": 1}, "maxItems": 3, "uniqueItems": true}"#,
        &[
            r#"["a", "b"]"#,
            r#"[1, 2, 1.0]"#,
            r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1}]"#,
            r#"["a", "", "b", "c"]"#,
        ],
        &expect![[r#"
            ["a", "b"] fits
            [1, 2, 1.0]
                at the root: expected different items, found 1.0 twice
            [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
                at the root: expected different items, found an object twice
            ["a", "", "b", "c"]
                at the root: expected at most 3 items, found 4
                at /1: expected at least 1 character, found 0
        "#]],
    );
}

#[test]
fn given_values_are_told() {
    check(
        r#"{"enum": ["red", "green", 1, null]}"#,
        &["\"red\"", "1.0", "null", "\"blue\"", "{\"a\": 1}"],
        &expect![[r#"
            "red" fits
            1.0 fits
            null fits
            "blue"
                at the root: expected one of "red", "green", 1, null, found "blue"
            {"a": 1}
                at the root: expected one of "red", "green", 1, null, found an object
        "#]],
    );
    check(
        r#"{"const": 0}"#,
        &["-0.0", "0", "0.5"],
        &expect![[r#"
        -0.0 fits
        0 fits
        0.5
            at the root: expected 0, found 0.5
    "#]],
    );
    check(
        r#"{"const": {"a": [1]}}"#,
        &[r#"{"a": [1.0]}"#, r#"{"a": [2]}"#],
        &expect![[r#"
        {"a": [1.0]} fits
        {"a": [2]}
            at the root: expected {"a":[1]}, found an object
    "#]],
    );
}

#[test]
fn numbers_have_bounds() {
    check(
        r#"{"minimum": 1, "maximum": 3}"#,
        &["1", "3.0", "0", "3.5"],
        &expect![[r#"
        1 fits
        3.0 fits
        0
            at the root: expected a number of at least 1, found 0
        3.5
            at the root: expected a number of at most 3, found 3.5
    "#]],
    );
    check(
        r#"{"exclusiveMinimum": 1, "exclusiveMaximum": 3}"#,
        &["2", "1", "3"],
        &expect![[r#"
        2 fits
        1
            at the root: expected a number of more than 1, found 1
        3
            at the root: expected a number of less than 3, found 3
    "#]],
    );
    // These differ by one but are the same float.
    check(
        r#"{"maximum": 9007199254740992}"#,
        &["9007199254740992", "9007199254740993"],
        &expect![[r#"
        9007199254740992 fits
        9007199254740993
            at the root: expected a number of at most 9007199254740992, found 9007199254740993
    "#]],
    );
}

#[test]
fn texts_have_a_length_in_characters_and_a_pattern() {
    check(
        r#"{"minLength": 2, "maxLength": 3}"#,
        &["\"äö\"", "\"ä\"", "\"abcd\"", "1"],
        &expect![[r#"
        "äö" fits
        "ä"
            at the root: expected at least 2 characters, found 1
        "abcd"
            at the root: expected at most 3 characters, found 4
        1 fits
    "#]],
    );
    check(
        r#"{"type": "string", "pattern": "^[A-Z]{2}-\\d+$", "format": "uuid"}"#,
        &["\"AB-12\"", "\"ab-12\"", "\"XAB-12\""],
        &expect![[r#"
            "AB-12" fits
            "ab-12"
                at the root: expected text that matches `^[A-Z]{2}-\d+$`, found "ab-12"
            "XAB-12"
                at the root: expected text that matches `^[A-Z]{2}-\d+$`, found "XAB-12"
        "#]],
    );
}

#[test]
fn alternatives_say_why_none_of_them_fits() {
    check(
        r#"{"anyOf": [{"type": "string"}, {"type": "object", "required": ["id"]}, {"type": "object", "properties": {"id": {"type": "integer"}}}]}"#,
        &["\"a\"", "{\"id\": 1}", "7", "{\"id\": \"x\"}"],
        &expect![[r#"
            "a" fits
            {"id": 1} fits
            7
                at the root: matches none of the 3 alternatives (1: expected a string, found 7; 2: expected an object, found 7; 3: expected an object, found 7)
            {"id": "x"} fits
        "#]],
    );
    check(
        r#"{"properties": {"a": {"anyOf": [{"type": "null"}, {"items": {"type": "null"}, "type": "array"}]}}}"#,
        &[r#"{"a": [1]}"#],
        &expect![[r#"
            {"a": [1]}
                at /a: matches none of the 2 alternatives (1: expected null, found an array of 1; 2: at /a/0 expected null, found 1)
        "#]],
    );
    check(
        r#"{"oneOf": [{"type": "integer"}, {"minimum": 2}, {"type": "string", "maxLength": 1}]}"#,
        &["1", "2.5", "3", "\"ab\"", "\"a\""],
        &expect![[r#"
            1 fits
            2.5 fits
            3
                at the root: matches alternatives 1 and 2 of 3; only one may match
            "ab" fits
            "a"
                at the root: matches alternatives 2 and 3 of 3; only one may match
        "#]],
    );
    check(
        r#"{"allOf": [{"minimum": 1}, {"maximum": 0}], "not": {"const": 7}}"#,
        &["7", "8"],
        &expect![[r#"
        7
            at the root: expected a number of at most 0, found 7
            at the root: 7 has a type that is not allowed
        8
            at the root: expected a number of at most 0, found 8
    "#]],
    );
}

#[test]
fn references_lead_to_definitions_and_back() {
    check(
        r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"name": {"$ref": "#/definitions/a~1b"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["name"]}}, "definitions": {"a/b": {"type": "string"}}}"##,
        &[
            r#"{"name": "a", "children": [{"name": "b", "children": []}]}"#,
            r#"{"name": "a", "children": [{"children": [{"name": 1}]}]}"#,
        ],
        &expect![[r#"
            {"name": "a", "children": [{"name": "b", "children": []}]} fits
            {"name": "a", "children": [{"children": [{"name": 1}]}]}
                at /children/0: the property `name` is missing
                at /children/0/children/0/name: expected a string, found 1
        "#]],
    );
    check(
        r##"{"properties": {"next": {"$ref": "#"}}, "additionalProperties": false}"##,
        &[r#"{"next": {"next": {}}}"#, r#"{"next": {"nxt": {}}}"#],
        &expect![[r#"
            {"next": {"next": {}}} fits
            {"next": {"nxt": {}}}
                at /next: the property `nxt` is not allowed; allowed properties are `next`
        "#]],
    );
}

#[test]
fn true_allows_everything_and_false_nothing() {
    check(
        "true",
        &["1", "{}"],
        &expect![[r#"
        1 fits
        {} fits
    "#]],
    );
    check(
        "false",
        &["1"],
        &expect![[r#"
        1
            at the root: no value is allowed here
    "#]],
    );
}

#[test]
fn annotations_say_nothing() {
    check(
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "a", "$comment": "b", "title": "c", "description": "d", "default": 1, "examples": [2], "x-order": 3, "deprecated": true}"#,
        &["null"],
        &expect![[r#"
            null fits
        "#]],
    );
}

#[test]
fn at_most_ten_violations_are_told_and_long_texts_are_cut() {
    check(
        r#"{"items": {"type": "null"}}"#,
        &["[1,2,3,4,5,6,7,8,9,10,11,12]"],
        &expect![[r#"
        [1,2,3,4,5,6,7,8,9,10,11,12]
            at /0: expected null, found 1
            at /1: expected null, found 2
            at /2: expected null, found 3
            at /3: expected null, found 4
            at /4: expected null, found 5
            at /5: expected null, found 6
            at /6: expected null, found 7
            at /7: expected null, found 8
            at /8: expected null, found 9
            at /9: expected null, found 10
    "#]],
    );
    let long = format!("\"{}\"", "ä".repeat(70));
    let schema = Schema::parse(r#"{"type": "null"}"#).unwrap();
    let violations = schema.check(&serde_json::from_str(&long).unwrap()).unwrap_err();
    assert_eq!(
        violations.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [format!("at the root: expected null, found \"{}…\"", "ä".repeat(60))]
    );
}

#[test]
fn a_schema_is_shown_as_it_was_given() {
    let text = "{ \"type\":\n \"null\" }";
    assert_eq!(Schema::parse(text).unwrap().text, text);
}
