//! Session values: made in Rust, and converted from and to JSON.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use serde_json::Value as Json;
use spelunk_sandbox::{Value, parse_json};

use super::Shape;

/// The value of a JSON or JSON Lines document, by its file extension; `None` if it is neither or malformed.
pub(super) fn parsed(name: &str, text: &str) -> Option<(Shape, Value)> {
    let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
    match extension.as_str() {
        "json" => {
            let value = parse_json(text).ok()?;
            matches!(value, Value::List(_) | Value::Dict(_)).then_some((Shape::Json, value))
        }
        "jsonl" | "ndjson" => {
            let records = text.lines().filter(|line| !line.trim().is_empty());
            Some((Shape::Records, Value::List(records.map(parse_json).collect::<Result<_, _>>().ok()?)))
        }
        _ => None,
    }
}

pub(crate) fn int(n: u64) -> Value {
    i64::try_from(n).map_or_else(|_| Value::BigInt(n.to_string()), Value::Int)
}

pub(crate) fn dict<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Dict(fields.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}

pub(crate) fn value_of_json(value: Json) -> Value {
    match value {
        Json::Null => Value::None,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(n), _) => Value::Int(n),
            (None, Some(x)) if !number.is_u64() => Value::Float(x),
            _ => Value::BigInt(number.to_string()),
        },
        Json::String(text) => Value::Str(text),
        Json::Array(items) => Value::List(items.into_iter().map(value_of_json).collect()),
        Json::Object(fields) => Value::Dict(
            fields.into_iter().map(|(name, value)| (Value::Str(name), value_of_json(value))).collect(),
        ),
    }
}

/// Converts a session value to JSON; values that JSON cannot represent become text.
pub(crate) fn json_of_value(value: &Value) -> Json {
    match value {
        Value::None | Value::Slice(..) => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(n) => Json::from(*n),
        Value::BigInt(digits) => {
            digits.parse::<u64>().map_or_else(|_| Json::from(digits.as_str()), Json::from)
        }
        Value::Float(x) => {
            serde_json::Number::from_f64(*x).map_or_else(|| Json::from(x.to_string()), Json::Number)
        }
        Value::Str(text) => Json::from(text.as_str()),
        Value::Bytes(bytes) => Json::from(String::from_utf8_lossy(bytes)),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
            items.iter().map(json_of_value).collect()
        }
        Value::Dict(pairs) => {
            let field = |(key, value): &(Value, Value)| (key_text(key), json_of_value(value));
            Json::Object(pairs.iter().map(field).collect())
        }
        Value::Handle(handle) => Json::from(format!("<{}>", handle.class)),
        Value::Opaque { repr, .. } => Json::from(repr.as_str()),
    }
}

fn key_text(key: &Value) -> String {
    match key {
        Value::Str(text) => text.clone(),
        other => text_of_value(other).unwrap_or_else(|| json_of_value(other).to_string()),
    }
}

/// A value as the text of an answer or note: strings unchanged, numbers as Python prints them, the
/// rest as JSON. `None` for Python's `None` and for values that are not data.
pub(crate) fn text_of_value(value: &Value) -> Option<String> {
    match value {
        Value::None | Value::Slice(..) | Value::Handle(_) => None,
        Value::Str(text) => Some(text.clone()),
        Value::Bool(flag) => Some(if *flag { "True" } else { "False" }.to_owned()),
        Value::Int(n) => Some(n.to_string()),
        Value::BigInt(digits) => Some(digits.clone()),
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 1e16 => Some(format!("{x:.1}")),
        Value::Float(x) => Some(x.to_string()),
        Value::Opaque { repr, .. } => Some(repr.clone()),
        Value::Bytes(_) | Value::List(_) | Value::Tuple(_) | Value::Set(_) | Value::Dict(_) => {
            serde_json::to_string_pretty(&json_of_value(value)).ok()
        }
    }
}
