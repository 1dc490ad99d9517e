//! The JSON Schema of settings files, generated from the table. Editors use it for completion and validation of
//! `spelunk.toml`.

use serde_json::{Map, Value as Json, json};

use super::table::{self, Fallback, Kind, MODELS, SECTIONS, Setting, TYPES};
use super::{models, types};

/// The schema, checked in as `docs/reference/spelunk.schema.json`.
pub fn schema() -> String {
    let mut sections: Map<String, Json> =
        SECTIONS.iter().map(|(section, doc)| ((*section).to_owned(), section_schema(section, doc))).collect();
    sections.insert(TYPES.to_owned(), group_schema(types::DOC, types::fields(), types::NAME_PATTERN));
    sections.insert(MODELS.to_owned(), group_schema(models::DOC, models::fields(), models::NAME_PATTERN));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "spelunk.toml",
        "description": "Settings of spelunk, for a project or for a user.",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    });
    format!("{schema:#}\n")
}

fn section_schema(section: &str, doc: &str) -> Json {
    let settings: Map<String, Json> = table::all()
        .iter()
        .filter(|setting| setting.section() == section)
        .map(|setting| (setting.word().to_owned(), setting_schema(setting)))
        .collect();
    json!({"description": doc, "type": "object", "additionalProperties": false, "properties": settings})
}

/// Settings under user-chosen names.
fn group_schema(doc: &str, fields: &[Setting], names: &str) -> Json {
    let fields: Map<String, Json> =
        fields.iter().map(|field| (field.word().to_owned(), setting_schema(field))).collect();
    json!({
        "description": doc,
        "type": "object",
        "propertyNames": {"pattern": names},
        "additionalProperties": {"type": "object", "additionalProperties": false, "properties": fields},
    })
}

fn setting_schema(setting: &Setting) -> Json {
    let mut schema = match setting.kind {
        Kind::Text => json!({"type": "string"}),
        Kind::VariableName => json!({"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]*)?$"}),
        Kind::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::YesNo => json!({"type": "boolean"}),
        Kind::Choice(words) => json!({"type": "string", "enum": words}),
        Kind::List => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Pattern => json!({"type": "string", "format": "regex"}),
        Kind::Number => json!({"type": "number", "minimum": 0, "maximum": 1_000_000}),
    };
    schema["description"] = format!("{}{}", setting.doc, setting.reach.remark()).into();
    match &setting.fallback {
        Fallback::Value(value) => schema["default"] = value.to_json(),
        Fallback::Unset { example } => schema["examples"] = json!([example.to_json()]),
    }
    schema
}
