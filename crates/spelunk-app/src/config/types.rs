//! User-defined content types: `[types.protobuf]` in a settings file, with the files of the type and the rules for
//! splitting and reading them. The fields are settings like all others; only the name before them is free.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use spelunk_context::{ContentType, CustomKind};

use super::error::ConfigError;
use super::layer::{Entry, Origin, refused};
use super::suggest::nearest;
use super::table::{Fallback, Kind, Setting, TYPES, text};
use super::value::{Refusal, Value, WHOLE_MAX, Written};

/// One line for the reference.
pub(crate) const DOC: &str = "Content types of your own, each under a name that you choose. An example:";
/// The pattern of a valid name.
pub(crate) const NAME_PATTERN: &str = "^[a-z0-9_-]{1,40}$";
/// The name used in the reference.
pub(crate) const EXAMPLE: &str = "protobuf";

const NAME_BYTES_MAX: usize = 40;
/// An addition to an analyst's prompt is paid for with every chunk.
const PROMPT_BYTES_MAX: usize = 4000;

/// The fields of a type, in the order of the reference.
pub(crate) fn fields() -> &'static [Setting] {
    &FIELDS
}

/// The field names, for a message.
pub(super) fn words() -> String {
    fields().iter().map(|field| format!("`{}`", field.word())).collect::<Vec<_>>().join(", ")
}

/// The name in `types.protobuf`.
pub(super) fn name_in(key: &str) -> Option<&str> {
    key.strip_prefix(TYPES)?.strip_prefix('.')
}

static BASES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| ContentType::ALL.iter().map(|base| base.name()).collect());

static FIELDS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let texts = |texts: &[&str]| Value::List(texts.iter().map(|text| (*text).to_owned()).collect());
    vec![
        field("extensions", Kind::List, texts(&["proto"]), "Extensions of its files."),
        field("names", Kind::List, texts(&["BUILD"]), "Whole names of its files, beside the extensions."),
        field(
            "base",
            Kind::Choice(&BASES),
            Value::Text("source_code".to_owned()),
            "The type whose rules hold where this one has none; `unknown` unless set.",
        ),
        field(
            "boundary",
            Kind::Pattern,
            Value::Text("^(message|service) ".to_owned()),
            "A line that matches this regular expression begins something that should stay whole.",
        ),
        field(
            "target_lines",
            Kind::Whole { min: 1, max: WHOLE_MAX },
            Value::Whole(200),
            "Lines of a chunk; unless set, those of the base.",
        ),
        field(
            "analyst_prompt",
            Kind::Text,
            Value::Text("Field numbers must never be reused.".to_owned()),
            "What an analyst is told beyond the ordinary; at most 4000 bytes.",
        ),
    ]
});

fn field(word: &str, kind: Kind, example: Value, doc: &'static str) -> Setting {
    Setting { kind, fallback: Fallback::Unset { example }, ..text(word, "", doc) }
}

/// A user-defined content type, every field with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomType {
    name: String,
    origin: Origin,
    entries: BTreeMap<&'static str, Entry>,
}

impl CustomType {
    /// A type of that name without any fields. A built-in name is rejected: reports could not tell the two apart.
    pub(super) fn new(name: &str, origin: Origin) -> Result<Self, ConfigError> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let is_name = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_word);
        if is_name && ContentType::from_name(name).is_none() {
            return Ok(Self { name: name.to_owned(), origin, entries: BTreeMap::new() });
        }
        Err(ConfigError::TypeName { name: name.chars().take(NAME_BYTES_MAX).collect(), origin })
    }

    /// Parses a field and stores it. `shown` is what an error repeats.
    pub(super) fn read(
        &mut self,
        word: &str,
        written: Written<'_>,
        shown: &str,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        let Some(field) = fields().iter().find(|field| field.word() == word) else {
            let meant = nearest(word, fields().iter().map(Setting::word)).map(|meant| self.key(meant));
            let word: String = word.chars().take(NAME_BYTES_MAX).collect();
            return Err(ConfigError::UnknownOfType { key: self.key(&word), meant, origin });
        };
        let value = Value::read(field.kind, written)
            .and_then(|value| checked(field.word(), value))
            .map_err(|refusal| refused(&self.key(field.word()), field, refusal, shown, origin.clone()))?;
        self.entries.insert(field.word(), Entry { value, origin });
        Ok(())
    }

    /// Validates the type once all fields are read: a type that no file can match is an error.
    pub(super) fn checked(self) -> Result<Self, ConfigError> {
        if self.list("extensions").is_empty() && self.list("names").is_empty() {
            return Err(ConfigError::TypeWithoutFiles { name: self.name, origin: self.origin });
        }
        Ok(self)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its entries under full keys, in the order of the reference.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, &Entry)> {
        fields().iter().filter_map(|field| Some((self.key(field.word()), self.entries.get(field.word())?)))
    }

    /// The type as the detector uses it.
    pub(crate) fn kind(&self) -> CustomKind {
        CustomKind {
            name: self.name.clone(),
            extensions: self.list("extensions").to_vec(),
            names: self.list("names").to_vec(),
            base: self.text("base").and_then(ContentType::from_name).unwrap_or(ContentType::Unknown),
            boundary: self
                .text("boundary")
                .map(|boundary| Regex::new(boundary).expect("a pattern is compiled before it is kept")),
            target_lines: match self.entries.get("target_lines") {
                Some(Entry { value: Value::Whole(lines), .. }) => Some(*lines),
                Some(_) | None => None,
            },
            analyst_prompt: self.text("analyst_prompt").map(str::to_owned),
        }
    }

    fn key(&self, word: &str) -> String {
        format!("{TYPES}.{}.{word}", self.name)
    }

    fn list(&self, word: &str) -> &[String] {
        match self.entries.get(word) {
            Some(Entry { value: Value::List(texts), .. }) => texts,
            Some(_) | None => &[],
        }
    }

    fn text(&self, word: &str) -> Option<&str> {
        match self.entries.get(word) {
            Some(Entry { value: Value::Text(text), .. }) => Some(text),
            Some(_) | None => None,
        }
    }
}

/// The value in the form that documents are compared with, or why it could never match.
fn checked(word: &str, value: Value) -> Result<Value, Refusal> {
    let refuse = |must: &str| Err(Refusal { must: must.to_owned(), meant: None });
    match (word, value) {
        ("extensions", Value::List(texts)) => {
            let bare = |text: &String| text.strip_prefix('.').unwrap_or(text).to_lowercase();
            let extensions: Vec<String> = texts.iter().map(bare).collect();
            let is_wrong = |text: &String| text.is_empty() || text.contains(['.', '/', '*']);
            if extensions.iter().any(is_wrong) {
                return refuse("a list of extensions without dots, such as `[\"proto\"]`");
            }
            Ok(Value::List(extensions))
        }
        ("names", Value::List(names))
            if names.iter().any(|name| name.is_empty() || name.contains(['/', '*'])) =>
        {
            refuse("a list of whole file names, such as `[\"BUILD\"]`")
        }
        ("analyst_prompt", Value::Text(prompt)) if prompt.len() > PROMPT_BYTES_MAX => {
            refuse("at most 4000 bytes long")
        }
        (_, value) => Ok(value),
    }
}

#[cfg(test)]
mod tests;
