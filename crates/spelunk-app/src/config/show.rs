//! `spelunk config show`: every setting with its value and origin. Secrets are not printed.

use std::fmt::Write as _;

use serde_json::json;

use super::error::ConfigError;
use super::layer::{Layer, Origin, unknown};
use super::models::WrittenModel;
use super::settings::Settings;
use super::table::{self, Display, MODELS, Setting, TYPES};
use super::types::CustomType;
use super::value::Value;

/// Longer values are not aligned, so that they do not push all origins to the right.
const COLUMN_MAX: usize = 60;

/// Lines like `limits.turns_max = 30   (spelunk.toml:12)`, for the settings whose key begins with `prefix`.
pub fn show_text(settings: &Settings, prefix: &str) -> Result<String, ConfigError> {
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
pub fn show_json(settings: &Settings, prefix: &str) -> Result<serde_json::Value, ConfigError> {
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
    let mut table = |name: String, entries: Vec<(String, &Value)>| {
        text += &format!("[{name}]\n");
        for (key, value) in entries {
            let word = key.rsplit('.').next().unwrap_or(&key);
            text += &format!("{word} = {value}\n");
        }
    };
    for custom in layer.types() {
        let entries = custom.entries().map(|(key, entry)| (key, &entry.value)).collect();
        table(format!("{TYPES}.{}", custom.name()), entries);
    }
    for model in layer.models() {
        let entries = model.entries().map(|(key, _, entry)| (key, &entry.value)).collect();
        table(format!("{MODELS}.{}", model.name()), entries);
    }
    text
}

/// One setting as displayed; the value is empty if it is unset and has no default.
pub(super) struct Row<'a> {
    key: String,
    value: Option<Value>,
    origin: &'a Origin,
}

/// The settings that a prefix matches; no match is an error, because it is a typo.
fn matching<'a>(settings: &'a Settings, prefix: &str) -> Result<Vec<Row<'a>>, ConfigError> {
    let of_setting = |setting: &'static Setting| Row {
        key: setting.key.clone(),
        value: settings.entry(&setting.key).map(|entry| shown(&entry.value, setting.display)),
        origin: settings.origin(&setting.key),
    };
    let of_types = settings.types().flat_map(CustomType::entries).map(|(key, entry)| Row {
        key,
        value: Some(entry.value.clone()),
        origin: &entry.origin,
    });
    let of_models = settings.written_models().flat_map(WrittenModel::entries).map(|(key, field, entry)| {
        Row { key, value: Some(shown(&entry.value, field.display)), origin: &entry.origin }
    });
    let rows = table::all().iter().map(of_setting).chain(of_types).chain(of_models);
    let found: Vec<Row<'_>> = rows.filter(|row| row.key.starts_with(prefix)).collect();
    if found.is_empty() && ![TYPES, MODELS].contains(&prefix.trim_end_matches('.')) {
        return Err(unknown(prefix, Origin::Flag { flag: "config show".to_owned() }));
    }
    Ok(found)
}

fn shown(value: &Value, display: Display) -> Value {
    match display {
        Display::Plain => value.clone(),
        Display::Address | Display::Secret => Value::Text(safe_text(value, display)),
    }
}

/// The displayable part of a text that can contain a secret. An empty text is shown as it is.
fn safe_text(value: &Value, display: Display) -> String {
    let text = match value {
        Value::Text(text) => text.as_str(),
        Value::Whole(_) | Value::YesNo(_) | Value::Number(_) | Value::List(_) => "",
    };
    match display {
        Display::Plain => text.to_owned(),
        Display::Address => without_credentials(text),
        Display::Secret if text.is_empty() => String::new(),
        Display::Secret => "(hidden)".to_owned(),
    }
}

/// A URL without user, password, query and fragment, any of which may contain a key.
fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let (authority, path) =
        rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let mut clean = String::new();
    if !scheme.is_empty() {
        clean.push_str(scheme);
        clean.push_str("://");
    }
    clean.push_str(host);
    if let Some(path) = path {
        clean.push('/');
        clean.push_str(path);
    }
    clean
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
