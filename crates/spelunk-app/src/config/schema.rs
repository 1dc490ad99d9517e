//! The JSON Schema of settings files, generated from the table. Editors use it for completion and validation of
//! `spelunk.toml`.

use serde_json::{Map, Value as Json, json};

use super::group::{GroupKind, KINDS, NAME_PATTERN};
use super::table::{self, Fallback, Kind, SECTIONS, Setting};

/// The schema, checked in as `docs/reference/spelunk.schema.json`.
pub fn schema() -> String {
    let mut sections: Map<String, Json> =
        SECTIONS.iter().map(|(section, doc)| ((*section).to_owned(), section_schema(section, doc))).collect();
    sections.extend(KINDS.iter().map(|kind| (kind.section.to_owned(), group_schema(kind))));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "spelunk.toml",
        "description": "Spelunk settings for a project or a user.",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    });
    format!("{schema:#}\n")
}

fn section_schema(section: &str, doc: &str) -> Json {
    let settings = properties(table::all().iter().filter(|setting| setting.section() == section));
    json!({"description": doc, "type": "object", "additionalProperties": false, "properties": settings})
}

fn group_schema(kind: &GroupKind) -> Json {
    let fields = properties(kind.fields.iter());
    json!({
        "description": kind.doc,
        "type": "object",
        "propertyNames": {"pattern": NAME_PATTERN},
        "additionalProperties": {"type": "object", "additionalProperties": false, "properties": fields},
    })
}

fn properties<'a>(settings: impl Iterator<Item = &'a Setting>) -> Map<String, Json> {
    settings.map(|setting| (setting.word().to_owned(), setting_schema(setting))).collect()
}

fn setting_schema(setting: &Setting) -> Json {
    let mut schema = match setting.kind {
        Kind::Text | Kind::Prompt => json!({"type": "string"}),
        Kind::VariableName => json!({"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]*)?$"}),
        Kind::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::YesNo => json!({"type": "boolean"}),
        Kind::Choice(words) => json!({"type": "string", "enum": words}),
        Kind::List | Kind::Extensions | Kind::FileNames => {
            json!({"type": "array", "items": {"type": "string"}})
        }
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
