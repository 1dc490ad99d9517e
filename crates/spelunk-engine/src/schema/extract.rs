//! Extracts JSON from a model's reply: alone, in a fence, or surrounded by prose. If a reply contains more than one
//! candidate, there is no value.

use serde_json::Value;

use super::literal;

/// The limit on failed parse attempts, as a multiple of the length of the text.
const PASSES_MAX: usize = 8;
const THINK_END: &str = "</think>";

/// The value in a reply, if there is exactly one.
pub(crate) fn extract_json(text: &str) -> Option<Value> {
    let text = text.rsplit(THINK_END).next().unwrap_or_default().trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    whole(text).or_else(|| only(fenced(text).filter_map(whole))).or_else(|| embedded(text))
}

fn whole(text: &str) -> Option<Value> {
    let text = text.trim();
    let (value, len) = literal::read(text).ok()?;
    (len == text.len()).then_some(value)
}

fn fenced(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|block| match block.split_once('\n') {
        // The first line is the label.
        Some((label, body)) if label.trim().chars().all(char::is_alphanumeric) => body,
        Some(_) | None => block,
    })
}

/// An object or an array in prose. A single object takes precedence over arrays, which may be references like `[1]`.
fn embedded(text: &str) -> Option<Value> {
    let (mut objects, mut arrays) = (Vec::new(), Vec::new());
    let mut bytes_left = text.len().saturating_mul(PASSES_MAX);
    let mut at = 0;
    while let Some(start) = text.get(at..)?.find(['{', '[']).map(|found| at + found) {
        if bytes_left == 0 {
            return None;
        }
        match literal::read(text.get(start..)?) {
            Ok((value, len)) => {
                if value.is_object() {
                    objects.push(value);
                } else {
                    arrays.push(value);
                }
                at = start + len;
            }
            // A part of a broken value is not the value.
            Err(_) if is_meant(text.get(start..)?) => return None,
            Err(read) => {
                bytes_left = bytes_left.saturating_sub(read);
                at = start + 1;
            }
        }
    }
    if objects.is_empty() { only(arrays.into_iter()) } else { only(objects.into_iter()) }
}

/// Whether a value begins here: in prose, these characters do not follow a bracket.
fn is_meant(text: &str) -> bool {
    let inner = text.get(1..).unwrap_or_default().trim_start();
    match text.as_bytes().first() {
        Some(b'{') => inner.starts_with(['"', '\'']),
        Some(_) | None => inner.starts_with('{'),
    }
}

fn only(mut values: impl Iterator<Item = Value>) -> Option<Value> {
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}
