//! Schemas that are refused, each with its message.

use expect_test::{Expect, expect};

use super::Schema;

fn refused(schemas: &[&str], expected: &Expect) {
    let shown: Vec<_> =
        schemas.iter().map(|schema| format!("{}\n", Schema::parse(schema).unwrap_err())).collect();
    expected.assert_eq(&shown.concat());
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    refused(
        &[
            r#"{"patternProperties": {}}"#,
            r#"{"properties": {"a": {"items": {"if": {}}}}}"#,
            r#"{"anyOf": [true, {"contains": {}}]}"#,
            r#"{"requried": ["a"]}"#,
            r#"{"type": "string", "nullable": true}"#,
            r#"{"$defs": {"unused": {"dependentRequired": {}}}}"#,
            r#"{"multipleOf": 2}"#,
        ],
        &expect![[r#"
            the schema uses `patternProperties` at `/`, which is not supported
            the schema uses `if` at `/properties/a/items`, which is not supported
            the schema uses `contains` at `/anyOf/1`, which is not supported
            the schema uses `requried` at `/`, which is not supported
            the schema uses `nullable` at `/`, which is not supported
            the schema uses `dependentRequired` at `/$defs/unused`, which is not supported
            the schema uses `multipleOf` at `/`, which is not supported
        "#]],
    );
}

#[test]
fn wrong_values_are_refused_with_what_is_right() {
    refused(
        &[
            "[1]",
            "{",
            r#"{"type": "strin"}"#,
            r#"{"type": []}"#,
            r#"{"enum": []}"#,
            r#"{"required": "a"}"#,
            r#"{"required": [1]}"#,
            r#"{"minLength": -1}"#,
            r#"{"minimum": "1"}"#,
            r#"{"uniqueItems": 1}"#,
            r#"{"properties": []}"#,
            r#"{"properties": {"a": 1}}"#,
            r#"{"items": [{}]}"#,
            r#"{"anyOf": {}}"#,
            r#"{"pattern": 1}"#,
        ],
        &expect![[r#"
            the schema has an array of 1 at `/`, where a schema is expected: an object, `true` or `false`
            the schema is not JSON: EOF while parsing an object at line 1 column 1
            the schema's `type` at `/` must be a type name, or an array of type names
            the schema's `type` at `/` must be a type name, or an array of type names
            the schema's `enum` at `/` must be a non-empty array
            the schema's `required` at `/` must be an array of strings
            the schema's `required` at `/` must be an array of strings
            the schema's `minLength` at `/` must be a non-negative integer
            the schema's `minimum` at `/` must be a number
            the schema's `uniqueItems` at `/` must be `true` or `false`
            the schema's `properties` at `/` must be an object of schemas
            the schema has 1 at `/properties/a`, where a schema is expected: an object, `true` or `false`
            the schema has an array of 1 at `/items`, where a schema is expected: an object, `true` or `false`
            the schema's `anyOf` at `/` must be a non-empty array
            the schema's `pattern` at `/` must be text
        "#]],
    );
}

#[test]
fn patterns_that_would_not_run_in_linear_time_are_refused() {
    refused(
        &[r#"{"pattern": "(?=a)b"}"#, r#"{"pattern": "("}"#, r#"{"pattern": "(a)\\1"}"#],
        &expect![[r#"
        the schema's pattern `(?=a)b` at `/pattern` is not a supported regular expression: look-around, including look-ahead and look-behind, is not supported
        the schema's pattern `(` at `/pattern` is not a supported regular expression: unclosed group
        the schema's pattern `(a)\1` at `/pattern` is not a supported regular expression: backreferences are not supported
    "#]],
    );
    refused(
        &[r#"{"pattern": "\\w{1000}{1000}"}"#],
        &expect![[r#"
        the schema's pattern `\w{1000}{1000}` at `/pattern` is not a supported regular expression: Compiled regex exceeds size limit of 1048576 bytes.
    "#]],
    );
}

#[test]
fn references_to_nowhere_are_refused() {
    refused(
        &[
            r##"{"$ref": "#/$defs/a"}"##,
            r##"{"$ref": "https://example.com/a"}"##,
            r##"{"$ref": "#/properties/a", "properties": {"a": {}}}"##,
            r##"{"$ref": 1}"##,
        ],
        &expect![[r#"
            the schema refers at `/$ref` to `#/$defs/a`, which is not defined; write `#/$defs/NAME`
            the schema refers at `/$ref` to `https://example.com/a`, which is not defined; write `#/$defs/NAME`
            the schema refers at `/$ref` to `#/properties/a`, which is not defined; write `#/$defs/NAME`
            the schema's `$ref` at `/` must be text
        "#]],
    );
}

#[test]
fn references_in_a_circle_are_refused() {
    refused(
        &[
            r##"{"$ref": "#"}"##,
            r##"{"$defs": {"a": {"anyOf": [true, {"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}, "items": {"$ref": "#/$defs/a"}}"##,
        ],
        &expect![[r#"
            the schema's `#` refers to itself in an endless loop
            the schema's `#/$defs/a` refers to itself in an endless loop
        "#]],
    );
}

#[test]
fn a_schema_that_is_too_long_is_refused() {
    let long = format!("{{\"title\": \"{}\"}}", "a".repeat(300_000));
    refused(
        &[&long],
        &expect![[r#"
        the schema has 300013 bytes; the maximum is 262144
    "#]],
    );
}
