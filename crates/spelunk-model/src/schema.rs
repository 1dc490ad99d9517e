//! JSON Schemas for providers: which of them can be enforced strictly, and the closed form that some providers require.
//! A closed schema is narrower, so whatever matches it matches the open one too.

use serde_json::Value;

/// The name of a schema for providers that require one.
pub(crate) const SCHEMA_NAME: &str = "answer";

/// Deeper schemas are sent unchanged.
const DEPTH_MAX: usize = 100;

/// Whether every object of the schema is closed and requires all its properties, as strict modes demand.
pub(crate) fn is_strict(schema: &Value) -> bool {
    is_strict_below(schema, 0)
}

fn is_strict_below(schema: &Value, depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return false;
    }
    let children_fit = match schema {
        Value::Object(fields) => fields.values().all(|field| is_strict_below(field, depth + 1)),
        Value::Array(items) => items.iter().all(|item| is_strict_below(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    children_fit && (!is_object_schema(schema) || is_closed_and_whole(schema))
}

fn is_object_schema(schema: &Value) -> bool {
    schema["type"] == "object" || schema["properties"].is_object() && schema["type"].is_array()
}

fn is_closed_and_whole(schema: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object() else { return false };
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    schema["additionalProperties"] == Value::Bool(false)
        && properties.keys().all(|name| required.iter().any(|required| required == name))
}

/// The schema with every object closed that does not specify it.
pub(crate) fn closed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    close(&mut schema, 0);
    schema
}

fn close(schema: &mut Value, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    let is_open = is_object_schema(schema) && schema["additionalProperties"].is_null();
    match schema {
        Value::Object(fields) => {
            for field in fields.values_mut() {
                close(field, depth + 1);
            }
            if is_open {
                fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_strict_if_every_object_is_closed_and_whole() {
        let inner = json!({ "type": "object", "properties": { "b": { "type": "string" } },
                            "required": ["b"], "additionalProperties": false });
        let outer = json!({ "type": "object", "properties": { "a": { "type": "array", "items": inner } },
                            "required": ["a"], "additionalProperties": false });
        assert!(is_strict(&outer));
        let open = json!({ "type": "object", "properties": { "a": inner }, "required": ["a"] });
        assert!(!is_strict(&open));
        let optional = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": false });
        assert!(!is_strict(&optional));
        assert!(!is_strict(&json!({ "type": "object" })));
        assert!(is_strict(&json!({ "type": "string" })));
    }

    #[test]
    fn closing_leaves_what_was_said_and_closes_what_was_not() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": "object", "additionalProperties": true },
            "b": { "anyOf": [{ "type": "object", "properties": {} }, { "type": "null" }] } } });
        assert_eq!(
            closed(&schema),
            json!({ "type": "object", "additionalProperties": false, "properties": {
                "a": { "type": "object", "additionalProperties": true },
                "b": { "anyOf": [
                    { "type": "object", "properties": {}, "additionalProperties": false }, { "type": "null" }] } } })
        );
    }

    #[test]
    fn a_bottomless_schema_is_left_alone_below_the_limit() {
        let mut deep = json!({ "type": "object" });
        for _ in 0..300 {
            deep = json!({ "items": deep });
        }
        assert!(!is_strict(&deep));
        assert_eq!(closed(&deep)["items"]["type"], Value::Null);
    }
}
