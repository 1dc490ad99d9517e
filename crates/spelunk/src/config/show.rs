//! `spelunk config show`: every setting with its value and the place it comes from. Secrets are not printed.

use std::fmt::Write as _;

use serde_json::json;

use super::error::ConfigError;
use super::layer::{Origin, unknown};
use super::settings::Settings;
use super::table::{self, Display, Setting};
use super::value::Value;

/// Longer values do not push the origins of all others to the right.
const COLUMN_MAX: usize = 60;

/// Lines like `limits.turns_max = 30   (spelunk.toml:12)`, for the settings whose key begins with `prefix`.
pub(crate) fn show_text(settings: &Settings, prefix: &str) -> Result<String, ConfigError> {
    let rows: Vec<(String, String)> = matching(prefix)?
        .iter()
        .map(|setting| {
            let left = format!("{} = {}", setting.key, shown(settings, setting));
            (left, settings.origin(&setting.key).to_string())
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
pub(crate) fn show_json(settings: &Settings, prefix: &str) -> Result<serde_json::Value, ConfigError> {
    let list = matching(prefix)?
        .iter()
        .map(|setting| {
            let value = match (settings.entry(&setting.key), setting.display) {
                (None, _) => serde_json::Value::Null,
                (Some(entry), Display::Plain) => entry.value.to_json(),
                (Some(entry), Display::Address | Display::Secret) => {
                    safe_text(&entry.value, setting.display).into()
                }
            };
            json!({"key": setting.key, "value": value, "origin": origin_json(settings.origin(&setting.key))})
        })
        .collect();
    Ok(list)
}

/// The settings a prefix names; none is an error, because it is a typing error.
fn matching(prefix: &str) -> Result<Vec<&'static Setting>, ConfigError> {
    let found: Vec<_> = table::all().iter().filter(|setting| setting.key.starts_with(prefix)).collect();
    if found.is_empty() {
        return Err(unknown(prefix, Origin::Flag { flag: "config show".to_owned() }));
    }
    Ok(found)
}

fn shown(settings: &Settings, setting: &Setting) -> String {
    match (settings.entry(&setting.key), setting.display) {
        (None, _) => "unset".to_owned(),
        (Some(entry), Display::Plain) => entry.value.to_string(),
        (Some(entry), Display::Address | Display::Secret) => {
            Value::Text(safe_text(&entry.value, setting.display)).to_string()
        }
    }
}

/// What may be shown of a text that can hold a secret. Nothing set is no secret.
fn safe_text(value: &Value, display: Display) -> String {
    let text = match value {
        Value::Text(text) => text.as_str(),
        Value::Whole(_) | Value::YesNo(_) | Value::Number(_) => "",
    };
    match display {
        Display::Plain => text.to_owned(),
        Display::Address => without_credentials(text),
        Display::Secret if text.is_empty() => String::new(),
        Display::Secret => "(hidden)".to_owned(),
    }
}

/// An address without its user, password, query and fragment, any of which may hold a key.
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
