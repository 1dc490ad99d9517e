//! Constrained replies: converts a JSON Schema to a grammar for the sampler. Parts of a schema that
//! would make the grammar explode are dropped: a wider grammar still yields JSON of the right
//! shape, and the engine validates the reply.

use llama_cpp_2::json_schema_to_grammar;
use serde_json::{Map, Value};

use crate::{Feature, ModelError};

const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Deeper schemas are rejected.
const DEPTH_MAX: usize = 32;
/// Larger bounds on lengths or counts are dropped, because every repetition becomes a rule.
const REPEATS_MAX: u64 = 200;
/// Keywords that only restrict the content of a string.
const LEFT_OUT: [&str; 2] = ["pattern", "format"];
/// Keywords that bound how often something repeats.
const BOUNDS: [&str; 4] = ["minLength", "maxLength", "minItems", "maxItems"];

pub(super) fn grammar(schema: &Value) -> Result<String, ModelError> {
    let simple = simplified(schema, 0).ok_or_else(|| refused("it is nested too deeply"))?;
    let text = simple.to_string();
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(refused("it is longer than 65,536 bytes"));
    }
    json_schema_to_grammar(&text).map_err(|_| refused("it cannot be converted to a grammar"))
}

/// The error that makes the engine ask without a schema and validate the reply itself.
pub(super) fn refused(why: &str) -> ModelError {
    ModelError::FeatureRefused { feature: Feature::Schema, detail: why.to_owned() }
}

fn simplified(schema: &Value, depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    Some(match schema {
        Value::Object(fields) => Value::Object(fields_simplified(fields, depth)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| simplified(item, depth + 1)).collect::<Option<_>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    })
}

fn fields_simplified(fields: &Map<String, Value>, depth: usize) -> Option<Map<String, Value>> {
    let mut kept = Map::new();
    for (word, value) in fields {
        // Only a schema has these keywords with such values; a property of the same name contains a schema, which is an
        // object.
        let is_narrowing = LEFT_OUT.contains(&word.as_str()) && value.is_string();
        let is_huge = BOUNDS.contains(&word.as_str())
            && value.is_number()
            && value.as_u64().is_none_or(|bound| bound > REPEATS_MAX);
        if !is_narrowing && !is_huge {
            kept.insert(word.clone(), simplified(value, depth + 1)?);
        }
    }
    // A small model would keep inventing properties. Whatever matches the closed form also matches the open one.
    if kept.get("properties").is_some_and(Value::is_object) && !kept.contains_key("additionalProperties") {
        kept.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_makes_grammars_explode_is_left_out_and_objects_are_closed() {
        let schema = json!({ "type": "object", "properties": {
            "pattern": { "type": "string", "pattern": "^(a+)+$", "maxLength": 1_000_000_000 },
            "list": { "type": "array", "maxItems": 3, "minItems": 1.5, "items": { "type": "integer" } } } });
        let expected = json!({ "type": "object", "additionalProperties": false, "properties": {
            "pattern": { "type": "string" },
            "list": { "type": "array", "maxItems": 3, "items": { "type": "integer" } } } });
        assert_eq!(simplified(&schema, 0), Some(expected));
    }

    #[test]
    fn schemas_become_grammars_or_are_refused() {
        let schema = json!({ "type": "object", "properties": { "ready": { "type": "boolean" } },
                             "required": ["ready"], "additionalProperties": false });
        let grammar = grammar(&schema).unwrap();
        assert!(grammar.contains("root ::="), "{grammar}");
        assert!(grammar.contains("ready"), "{grammar}");
        let mut deep = json!({ "type": "string" });
        for _ in 0..40 {
            deep = json!({ "items": deep });
        }
        let long = json!({ "enum": ["x".repeat(SCHEMA_BYTES_MAX)] });
        let missing = json!({ "$ref": "#/nowhere" });
        let said = |schema: &Value| super::grammar(schema).unwrap_err().to_string();
        assert!(said(&deep).ends_with("nested too deeply"), "{}", said(&deep));
        assert!(said(&long).ends_with("longer than 65,536 bytes"));
        assert!(said(&missing).ends_with("it cannot be converted to a grammar"));
    }
}
