//! Building blocks of the tools' JSON Schemas.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// The properties of an object: the arguments or the output of a tool.
#[derive(Default)]
pub(super) struct Properties {
    schemas: JsonObject,
    required: Vec<&'static str>,
}

impl Properties {
    pub(super) fn add(&mut self, name: &'static str, schema: Value) {
        self.schemas.insert(name.to_owned(), schema);
    }

    pub(super) fn require(&mut self, name: &'static str, schema: Value) {
        self.add(name, schema);
        self.required.push(name);
    }

    /// An object with these properties and no others.
    pub(super) fn input(&self) -> JsonObject {
        let mut schema = object_of(self.schemas.clone());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    /// An object with at least these properties, or with an error instead: some clients validate
    /// errors against the output schema.
    pub(super) fn output(&self) -> JsonObject {
        let mut schemas = self.schemas.clone();
        schemas.insert("error".to_owned(), json!({ "type": ["object", "null"] }));
        let mut schema = object_of(schemas);
        if !self.required.is_empty() {
            let forms = json!([{ "required": self.required }, { "required": ["error"] }]);
            schema.insert("anyOf".to_owned(), forms);
        }
        schema
    }
}

fn object_of(properties: JsonObject) -> JsonObject {
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

pub(super) fn objects(doc: &str) -> Value {
    json!({ "type": "array", "items": { "type": "object" }, "description": doc })
}

/// The schema, or `null`, which counts as absent.
pub(crate) fn or_null(mut schema: Value) -> Value {
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    if let Some(kind) = schema["type"].as_str().map(str::to_owned) {
        schema["type"] = json!([kind, "null"]);
    }
    schema
}
