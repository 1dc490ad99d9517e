//! Building blocks of the tools' JSON Schemas.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// An object with these properties and no others.
pub(super) fn input(required: &[&str], properties: &[(&str, Value)]) -> JsonObject {
    let mut schema = object_of(properties.iter().cloned());
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// An object with at least these properties, or with an error in their place: some clients validate errors against the
/// output schema.
pub(super) fn output(required: &[&str], properties: &[(&str, Value)]) -> JsonObject {
    let error = object("What went wrong, in the place of the rest: code, message, hint");
    let mut schema = object_of(properties.iter().cloned().chain([("error", or_null(error))]));
    if !required.is_empty() {
        let forms = json!([{ "required": required }, { "required": ["error"] }]);
        schema.insert("anyOf".to_owned(), forms);
    }
    schema
}

fn object_of<'a>(properties: impl Iterator<Item = (&'a str, Value)>) -> JsonObject {
    let properties: JsonObject = properties.map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
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

/// The schema, or `null`.
pub(super) fn or_null(schema: Value) -> Value {
    let mut schema = schema;
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema
}
