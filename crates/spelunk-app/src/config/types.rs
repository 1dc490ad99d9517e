//! User-defined content types: `[types.protobuf]` in a settings file, with the files of the type and the rules for
//! splitting and reading them.

use std::sync::LazyLock;

use regex::Regex;
use spelunk_context::{ContentType, CustomKind};

use super::error::{ConfigError, Result};
use super::group::{Group, GroupKind};
use super::table::{Kind, TYPES, settings, unset};
use super::value::{Value, WHOLE_MAX};

static BASES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| ContentType::ALL.iter().map(|base| base.name()).collect());

pub(super) fn kind() -> GroupKind {
    let text = |text: &str| Value::Text(text.to_owned());
    let list = |text: &str| Value::List(vec![text.to_owned()]);
    GroupKind {
        section: TYPES,
        what: "content type",
        doc: "User-defined content types, each under a name of your choice. Example:",
        example: "protobuf",
        reserved: BASES.clone(),
        reserved_hint: "not a built-in name",
        fields: settings! {
            /// File extensions of this type.
            "types.extensions" = unset(Kind::Extensions, list("proto"));
            /// Full file names of this type, in addition to the extensions.
            "types.names" = unset(Kind::FileNames, list("BUILD"));
            /// The type whose rules apply where this one defines none; defaults to `unknown`.
            "types.base" = unset(Kind::Choice(&BASES), text("source_code"));
            /// A regular expression; each matching line starts a unit that should not be split.
            "types.boundary" = unset(Kind::Pattern, text("^(message|service) "));
            /// Lines per chunk; defaults to those of the base type.
            "types.target_lines" = unset(Kind::Whole { min: 1, max: WHOLE_MAX }, Value::Whole(200));
            /// Additional instructions for analysts; at most 4000 bytes.
            "types.analyst_prompt" = unset(Kind::Prompt, text("Field numbers must never be reused."));
        },
    }
}

/// A type that no file can match is an error.
pub(super) fn check(group: &Group) -> Result<()> {
    if group.entries.list("types.extensions").is_empty() && group.entries.list("types.names").is_empty() {
        let (name, origin) = (group.name.clone(), group.origin.clone());
        return Err(ConfigError::TypeWithoutFiles { name, origin });
    }
    Ok(())
}

pub(crate) fn custom_kind(group: &Group) -> CustomKind {
    let entries = &group.entries;
    let text = |key: &str| entries.get(key).and_then(|entry| entry.value.as_text());
    CustomKind {
        name: group.name.clone(),
        extensions: entries.list("types.extensions").to_vec(),
        names: entries.list("types.names").to_vec(),
        base: text("types.base").and_then(ContentType::from_name).unwrap_or(ContentType::Unknown),
        boundary: text("types.boundary")
            .map(|boundary| Regex::new(boundary).expect("a pattern is compiled before it is kept")),
        target_lines: entries.whole("types.target_lines"),
        analyst_prompt: text("types.analyst_prompt").map(str::to_owned),
    }
}

#[cfg(test)]
mod tests;
