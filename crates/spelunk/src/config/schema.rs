//! The JSON Schema of settings files, generated from the table. Editors use it to complete and to check `spelunk.toml`.

use serde_json::{Map, Value as Json, json};

use super::table::{self, Fallback, Kind, Reach, SECTIONS, Setting, TYPES};
use super::types;

/// The schema, as it is checked in at `docs/reference/spelunk.schema.json`.
pub(crate) fn schema() -> String {
    let mut sections: Map<String, Json> =
        SECTIONS.iter().map(|(section, doc)| ((*section).to_owned(), section_schema(section, doc))).collect();
    sections.insert(TYPES.to_owned(), types_schema());
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

fn types_schema() -> Json {
    let fields: Map<String, Json> =
        types::fields().iter().map(|field| (field.word().to_owned(), setting_schema(field))).collect();
    json!({
        "description": types::DOC,
        "type": "object",
        "propertyNames": {"pattern": "^[a-z0-9_-]{1,40}$"},
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
    schema["description"] = match setting.reach {
        Reach::Everywhere => setting.doc.into(),
        Reach::UserOnly => format!("{} Not in a project file.", setting.doc).into(),
    };
    match &setting.fallback {
        Fallback::Value(value) => schema["default"] = value.to_json(),
        Fallback::Unset { example } => schema["examples"] = json!([example.to_json()]),
    }
    schema
}
