//! Formats a shape as one line. If it is too long, the deepest objects and the last keys are replaced by an ellipsis.

use super::shape::{Array, DEPTH_MAX, Object, Shape};
use crate::name;

/// The maximum length of `12345 lines of ` before a sketch.
pub(super) const LINES_OF_BYTES: usize = 40;
const KEY_CHARS_MAX: usize = 60;

/// Objects with this many keys of one type are dictionaries.
const DICTIONARY_KEYS_MIN: usize = 24;

/// Depth and number of keys shown, from everything to almost nothing.
const DETAILS: [Detail; 7] = [
    Detail { depth: DEPTH_MAX, keys: 64 },
    Detail { depth: 5, keys: 48 },
    Detail { depth: 4, keys: 32 },
    Detail { depth: 3, keys: 24 },
    Detail { depth: 2, keys: 16 },
    Detail { depth: 1, keys: 16 },
    Detail { depth: 1, keys: 4 },
];

#[derive(Debug, Clone, Copy)]
struct Detail {
    depth: usize,
    keys: usize,
}

/// The most detailed line that fits; `None` for a shape about which nothing is known.
pub(super) fn show(shape: &Shape, bytes_max: usize) -> Option<String> {
    let lines = DETAILS.into_iter().map(|detail| of_shape(shape, detail));
    let line = lines.reduce(|best, line| if best.len() <= bytes_max { best } else { line })?;
    (line != "?").then(|| shortened(line, bytes_max))
}

fn shortened(mut line: String, bytes_max: usize) -> String {
    const ELLIPSIS: char = '…';
    if line.len() > bytes_max {
        line.truncate(line.floor_char_boundary(bytes_max.saturating_sub(ELLIPSIS.len_utf8())));
        line.push(ELLIPSIS);
    }
    line
}

fn of_shape(shape: &Shape, detail: Detail) -> String {
    let number = match (shape.has_integer, shape.has_fraction) {
        (_, true) => Some("number"),
        (true, false) => Some("integer"),
        (false, false) => None,
    };
    let types = [
        shape.object.as_deref().map(|object| of_object(object, detail)),
        shape.array.as_deref().map(|array| of_array(array, detail)),
        shape.has_string.then(|| "string".to_owned()),
        number.map(ToOwned::to_owned),
        shape.has_boolean.then(|| "boolean".to_owned()),
        shape.has_null.then(|| "null".to_owned()),
    ];
    let types: Vec<String> = types.into_iter().flatten().collect();
    if types.is_empty() { "?".to_owned() } else { types.join(" | ") }
}

fn of_array(array: &Array, detail: Detail) -> String {
    let length = match (array.lengths, array.n_seen_max) {
        (Some((0, 0)), 0) => return "[]".to_owned(),
        (Some((shortest, longest)), seen) if seen > longest => format!("{shortest}..{seen} or more"),
        (Some((shortest, longest)), _) if shortest == longest => shortest.to_string(),
        (Some((shortest, longest)), _) => format!("{shortest}..{longest}"),
        (None, seen) => format!("{seen} or more"),
    };
    format!("[{}; {length}]", of_shape(&array.element, detail))
}

fn of_object(object: &Object, detail: Detail) -> String {
    let has_more = object.others.is_some();
    if object.keys.is_empty() {
        return "{}".to_owned();
    }
    if detail.depth == 0 {
        return "{…}".to_owned();
    }
    let inner = Detail { depth: detail.depth - 1, ..detail };
    if let Some(line) = of_dictionary(object, inner) {
        return line;
    }
    let shown = object.keys.iter().take(detail.keys).map(|key| {
        let mark = if object.is_optional(key) { "?" } else { "" };
        format!("{}{mark}: {}", of_key(&key.name), of_shape(&key.shape, inner))
    });
    let mut parts: Vec<String> = shown.collect();
    match (object.keys.len().saturating_sub(detail.keys), has_more) {
        (0, false) => {}
        (0, true) => parts.push("…more keys".to_owned()),
        (n_left_out, false) => parts.push(format!("…{n_left_out} more keys")),
        (n_left_out, true) => parts.push(format!("…more than {n_left_out} more keys")),
    }
    format!("{{{}}}", parts.join(", "))
}

/// An object whose keys are data: many, with values of one type.
fn of_dictionary(object: &Object, inner: Detail) -> Option<String> {
    if object.keys.len() < DICTIONARY_KEYS_MIN {
        return None;
    }
    let mut types = object.keys.iter().map(|key| &key.shape).chain(&object.others);
    let first = of_shape(types.next()?, inner);
    if !types.all(|shape| of_shape(shape, inner) == first) {
        return None;
    }
    let more = if object.others.is_some() || object.n_whole == 0 { " or more" } else { "" };
    let example = of_key(&object.keys.first()?.name);
    Some(format!("{{[{}{more} keys such as {example}]: {first}}}", object.keys.len()))
}

/// A key, in quotes if it could be confused with the sketch around it.
fn of_key(key: &str) -> String {
    let key = name::printable_text(&name::shortened(key, KEY_CHARS_MAX));
    let is_word =
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '@' | '$'));
    if is_word { key } else { format!("\"{}\"", key.replace('"', "\\\"")) }
}
