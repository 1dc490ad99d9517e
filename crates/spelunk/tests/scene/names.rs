//! Fixed names for what differs between executions: times, ports, hashes.

use serde_json::Value;

/// `17 ms` and `1.2 s` become `TIME`.
pub(crate) fn without_times(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let number_len = from.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(from.len());
        let (number, after) = from.split_at(number_len);
        shown += before;
        let is_end = |after: &&str| !after.starts_with(char::is_alphanumeric);
        match [" ms", " s"].into_iter().find_map(|unit| after.strip_prefix(unit).filter(is_end)) {
            Some(after_unit) => {
                shown += "TIME";
                rest = after_unit;
            }
            None => {
                shown += number;
                rest = after;
            }
        }
    }
    shown + rest
}

/// `127.0.0.1:40321` becomes `127.0.0.1:PORT`.
pub(crate) fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        shown += &format!("127.0.0.1:PORT{rest}");
    }
    shown
}

/// A BLAKE3 hash becomes `HASH`.
pub(crate) fn without_hashes(text: &str) -> String {
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
    text.split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .map(|part| {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if is_hash(word) { part.replace(word, "HASH") } else { part.to_owned() }
        })
        .collect()
}

/// Sets every number whose key denotes a time or a duration to 0.
pub(crate) fn json_without_times(mut value: Value) -> Value {
    erase_times(&mut value);
    value
}

fn erase_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let is_time = ["at_ms", "active_ms", "wait_ms", "last_modified_ms", "last_accessed_ms"]
                    .contains(&name.as_str());
                if is_time && !field.is_null() {
                    *field = Value::from(0);
                } else {
                    erase_times(field);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(erase_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
