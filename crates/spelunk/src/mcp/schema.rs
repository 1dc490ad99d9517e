//! Building blocks of the tools' JSON Schemas.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// An object of these properties and no others.
pub(super) fn input(required: &[&str], properties: &[(&str, Value)]) -> JsonObject {
    let mut schema = output(required, properties);
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// An object with these properties at least.
pub(super) fn output(required: &[&str], properties: &[(&str, Value)]) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    let properties: JsonObject =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

pub(super) fn text(doc: &str) -> Value {
    json!({ "type": "string", "description": doc })
}

pub(super) fn whole(doc: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": doc })
}

pub(super) fn flag(doc: &str) -> Value {
    json!({ "type": "boolean", "description": doc })
}

pub(super) fn texts(doc: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": doc })
}

pub(super) fn choice(doc: &str, words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words, "description": doc })
}

pub(super) fn object(doc: &str) -> Value {
    json!({ "type": "object", "description": doc })
}

/// A list of objects.
pub(super) fn objects(doc: &str) -> Value {
    json!({ "type": "array", "items": { "type": "object" }, "description": doc })
}

/// The same, or nothing.
pub(super) fn or_null(schema: Value) -> Value {
    let mut schema = schema;
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema
}
