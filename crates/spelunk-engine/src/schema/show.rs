//! How values and paths are written in messages, and how values are compared.

use serde_json::Value;
use spelunk_types::shorten;

use super::Type;

const QUOTED_CHARS_MAX: usize = 60;

pub(super) fn pointer(steps: &[String]) -> String {
    let mut pointer = String::new();
    for step in steps {
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}

/// A value in an error message: short ones in full, others by type.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => Value::String(shorten(text, QUOTED_CHARS_MAX).into_owned()).to_string(),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(object) if object.is_empty() => "an empty object".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

pub(super) fn type_name(of: Type) -> &'static str {
    match of {
        Type::Null => "null",
        Type::Boolean => "a boolean",
        Type::Integer => "an integer",
        Type::Number => "a number",
        Type::String => "a string",
        Type::Array => "an array",
        Type::Object => "an object",
    }
}

/// `a, b or c`.
pub(super) fn named_list<S: AsRef<str>>(names: &[S], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// A text that is equal for equal JSON values: with members in any order, and `1.0` for `1`.
/// Recursion is safe: a parser or a check has limited the depth of the value.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => "0".to_owned(),
            Some(float) if !number.is_i64() && !number.is_u64() && float.fract() == 0.0 => {
                format!("{float:.0}")
            }
            Some(_) | None => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(object) => {
            let mut members: Vec<_> =
                object.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
    }
}
