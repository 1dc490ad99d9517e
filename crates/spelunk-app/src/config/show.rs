//! `spelunk config show`: every setting with its value and origin. Secrets are not printed.

use std::fmt::Write as _;

use serde_json::json;

use super::error::Result;
use super::group::{Group, KINDS};
use super::layer::{Layer, Origin, unknown};
use super::settings::Settings;
use super::table::{self, Display, Setting};
use super::value::Value;

/// Longer values are not aligned, so that they do not push all origins to the right.
const COLUMN_MAX: usize = 60;

/// Lines like `limits.turns_max = 30   (spelunk.toml:12)`, for the settings whose key begins with `prefix`.
pub fn show_text(settings: &Settings, prefix: &str) -> Result<String> {
    let rows: Vec<(String, String)> = matching(settings, prefix)?
        .into_iter()
        .map(|row| {
            let value = row.value.map_or_else(|| "unset".to_owned(), |value| value.to_string());
            (format!("{} = {value}", row.key), row.origin.to_string())
        })
        .collect();
    let width =
        rows.iter().map(|(left, _)| left.chars().count()).filter(|n| *n <= COLUMN_MAX).max().unwrap_or(0);
    let mut text = String::new();
    for (left, origin) in rows {
        writeln!(text, "{left:width$}   ({origin})").expect("writing to a string cannot go wrong");
    }
    Ok(text)
}

/// The same as JSON: a list of `{key, value, origin}` in the order of the reference.
pub fn show_json(settings: &Settings, prefix: &str) -> Result<serde_json::Value> {
    let of_row = |row: Row<'_>| {
        let value = row.value.map_or(serde_json::Value::Null, |value| value.to_json());
        json!({"key": row.key, "value": value, "origin": origin_json(row.origin)})
    };
    Ok(matching(settings, prefix)?.into_iter().map(of_row).collect())
}

/// Everything in a layer, as a settings file. Includes secrets.
pub(super) fn show_file(layer: &Layer) -> String {
    let mut text = String::new();
    for setting in table::all() {
        if let Some(entry) = layer.get(&setting.key) {
            text += &format!("{} = {}\n", setting.key, entry.value);
        }
    }
    for group in KINDS.iter().flat_map(|kind| layer.groups(kind.section)) {
        text += &format!("[{}]\n", group.section());
        for (_, field, entry) in group.entries() {
            text += &format!("{} = {}\n", field.word(), entry.value);
        }
    }
    text
}

/// One setting as displayed; the value is empty if it is unset and has no default.
struct Row<'a> {
    key: String,
    value: Option<Value>,
    origin: &'a Origin,
}

/// The settings that a prefix matches; no match is an error, because it is a typo.
fn matching<'a>(settings: &'a Settings, prefix: &str) -> Result<Vec<Row<'a>>> {
    let layer = &settings.layer;
    let of_setting = |setting: &'static Setting| Row {
        key: setting.key.clone(),
        value: layer.get(&setting.key).map(|entry| shown(&entry.value, setting.display)),
        origin: settings.origin(&setting.key),
    };
    let groups = KINDS.iter().flat_map(|kind| layer.groups(kind.section)).flat_map(Group::entries);
    let of_groups = groups.map(|(key, field, entry)| Row {
        key,
        value: Some(shown(&entry.value, field.display)),
        origin: &entry.origin,
    });
    let rows = table::all().iter().map(of_setting).chain(of_groups);
    let found: Vec<Row<'_>> = rows.filter(|row| row.key.starts_with(prefix)).collect();
    let is_group = KINDS.iter().any(|kind| kind.section == prefix.trim_end_matches('.'));
    if found.is_empty() && !is_group {
        return Err(unknown(prefix, Origin::Flag { flag: "config show".to_owned() }));
    }
    Ok(found)
}

/// The displayable part of a value that may contain a secret. An empty text is shown as it is.
fn shown(value: &Value, display: Display) -> Value {
    let text = value.as_text().unwrap_or_default();
    match display {
        Display::Plain => value.clone(),
        Display::Address => Value::Text(without_credentials(text)),
        Display::Secret if text.is_empty() => Value::Text(String::new()),
        Display::Secret => Value::Text("(hidden)".to_owned()),
    }
}

/// A URL without user, password, query and fragment, any of which may contain a key.
fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

fn origin_json(origin: &Origin) -> serde_json::Value {
    match origin {
        Origin::Default => json!({"is": "default"}),
        Origin::File { path, line } => {
            json!({"is": "file", "path": path.display().to_string(), "line": line})
        }
        Origin::Env { variable } => json!({"is": "env", "variable": variable}),
        Origin::Flag { flag } => json!({"is": "flag", "flag": flag}),
    }
}

#[cfg(test)]
mod tests;
