//! The JSON Schema of an analyst's report, for providers with structured output. Replies are parsed
//! the same way with or without it. If an analyst counts values, the schema contains an open
//! object, which strict modes do not support, so it is sent as non-strict.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use spelunk_context::Analyst;

use super::types;

pub(super) fn schema(analyst: Analyst) -> Arc<Value> {
    let certainty = || json!({"type": ["number", "null"]});
    let mut finding = finding(analyst);
    finding["confidence"] = certainty();
    let mut fields = report(&finding);
    fields["confidence"] = certainty();
    fields["raised_by"] = json!({"type": ["string", "null"]});
    fields["metadata"] = metadata(analyst);
    Arc::new(closed(&fields))
}

fn metadata(analyst: Analyst) -> Value {
    let names = || json!({"type": "array", "items": {"type": "string"}});
    let number = || json!({"type": ["integer", "null"]});
    let mut fields = json!({"key_topics": names()});
    match analyst {
        Analyst::Code => (fields["structures"], fields["imports"]) = (names(), names()),
        Analyst::Data => (fields["columns"], fields["row_count"]) = (names(), number()),
        Analyst::Json => (fields["schema_fields"], fields["object_count"]) = (names(), number()),
        Analyst::General => {}
    }
    closed(&fields)
}

/// Character limit on the texts of a small model, which otherwise repeats a sentence until it is truncated.
const FEW_CHARS_MAX: u64 = 120;

/// The same schema without confidence and metadata, with a limit on findings and short texts.
pub(super) fn schema_of_few(analyst: Analyst, findings_max: u64) -> Arc<Value> {
    let mut schema = closed(&report(&finding(analyst)));
    if let Some(findings) = schema.pointer_mut("/properties/findings") {
        findings["maxItems"] = findings_max.into();
    }
    shorten(&mut schema);
    Arc::new(schema)
}

/// Limits the length of every free text in a schema, except file names.
fn shorten(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    let is_text = |kind: &Value| {
        kind == "string" || kind.as_array().is_some_and(|kinds| kinds.contains(&"string".into()))
    };
    if fields.get("type").is_some_and(is_text) && !fields.contains_key("enum") {
        fields.insert("maxLength".to_owned(), FEW_CHARS_MAX.into());
    }
    for (name, field) in fields {
        if name != "file" {
            shorten(field);
        }
    }
}

fn report(finding: &Value) -> Value {
    json!({
        "relevant": {"type": "boolean"},
        "summary": {"type": "string"},
        "answer": {"type": ["string", "null"]},
        "count": {"type": ["integer", "null"]},
        "findings": {"type": "array", "items": closed(finding)},
    })
}

fn finding(analyst: Analyst) -> Value {
    let mut fields = json!({
        "type": {"type": "string", "enum": types(analyst)},
        "summary": {"type": "string"},
        "file": {"type": "string"},
        "line": {"type": ["integer", "null"]},
        "evidence": {"type": "string"},
        "severity": {"type": ["string", "null"], "enum": ["high", "medium", "low", null]},
    });
    let text = || json!({"type": ["string", "null"]});
    let counts = || json!({"type": ["object", "null"], "additionalProperties": {"type": "integer"}});
    let total = || json!({"type": ["integer", "null"]});
    match analyst {
        Analyst::Code => fields["scope"] = text(),
        Analyst::Data => {
            fields["column"] = text();
            fields["distribution"] = counts();
            fields["total"] = total();
        }
        Analyst::Json => {
            fields["path"] = text();
            fields["distribution"] = counts();
            fields["total"] = total();
        }
        Analyst::General => {}
    }
    fields
}

/// An object with exactly these fields, all required.
fn closed(fields: &Value) -> Value {
    let names: Vec<String> = fields.as_object().map(Map::keys).into_iter().flatten().cloned().collect();
    json!({"type": "object", "properties": fields, "required": names, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn a_small_model_is_held_to_few_findings_and_short_texts() {
        let schema = Schema::parse(&schema_of_few(Analyst::General, 1).to_string()).unwrap();
        let with = |change: &dyn Fn(&mut Value)| {
            let mut report = json!({ "relevant": true, "summary": "s", "answer": "a", "count": null, "findings": [
                {"type": types(Analyst::General)[0], "summary": "s", "file": "f".repeat(300), "line": 3,
                 "evidence": "e", "severity": "low"}] });
            change(&mut report);
            schema.check(&report).map_err(|faults| faults.len())
        };
        let long = || Value::from("x".repeat(121));
        assert_eq!(with(&|_| ()), Ok(()));
        assert_eq!(with(&|report| report["answer"] = long()), Err(1));
        assert_eq!(with(&|report| report["findings"][0]["summary"] = long()), Err(1));
        assert_eq!(
            with(&|report| report["findings"] = json!([report["findings"][0], report["findings"][0]])),
            Err(1)
        );
    }

    #[test]
    fn every_form_is_a_schema_that_an_ordinary_report_fits() {
        for analyst in [Analyst::Code, Analyst::Data, Analyst::Json, Analyst::General] {
            let schema = Schema::parse(&schema(analyst).to_string()).unwrap();
            let mut finding = json!({
                "type": types(analyst)[0], "summary": "s", "file": "a", "line": 3, "evidence": "e", "severity": null,
                "confidence": 0.5,
            });
            let mut metadata = json!({ "key_topics": ["t"] });
            match analyst {
                Analyst::Code => {
                    finding["scope"] = "main".into();
                    (metadata["structures"], metadata["imports"]) = (json!(["f"]), json!([]));
                }
                Analyst::Data => {
                    (metadata["columns"], metadata["row_count"]) = (json!(["a"]), 3.into());
                    finding["column"] = "a".into();
                    (finding["distribution"], finding["total"]) = (json!({"x": 3}), 3.into());
                }
                Analyst::Json => {
                    (metadata["schema_fields"], metadata["object_count"]) = (json!(["a"]), Value::Null);
                    finding["path"] = "$.a".into();
                    (finding["distribution"], finding["total"]) = (Value::Null, Value::Null);
                }
                Analyst::General => {}
            }
            let mut report = json!({
                "relevant": true, "summary": "s", "answer": null, "count": 3, "findings": [finding],
                "confidence": null, "raised_by": "the tests", "metadata": metadata,
            });
            assert_eq!(schema.check(&report), Ok(()));
            report["findings"][0]["type"] = "gossip".into();
            assert_eq!(schema.check(&report).unwrap_err().len(), 1);
        }
    }
}
