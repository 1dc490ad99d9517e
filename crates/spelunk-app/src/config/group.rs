//! Groups: settings under a name that the user chooses, such as `[types.protobuf]` and
//! `[models.fast]`. The fields are settings like all others.

use std::sync::LazyLock;

use spelunk_types::truncate;

use super::error::{ConfigError, Result};
use super::layer::{Entries, Entry, Origin, is_secret_name, refused};
use super::suggest::nearest;
use super::table::{MODELS, Setting};
use super::value::{Value, Written};
use super::{models, tools, types};

pub(crate) const NAME_PATTERN: &str = "^[a-z0-9_-]{1,40}$";
const NAME_BYTES_MAX: usize = 40;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GroupKind {
    pub(crate) section: &'static str,
    pub(super) what: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) example: &'static str,
    /// Names that already have a meaning, and what a hint calls them.
    pub(super) reserved: Vec<&'static str>,
    pub(super) reserved_hint: &'static str,
    pub(crate) fields: Vec<Setting>,
}

pub(crate) static KINDS: LazyLock<[GroupKind; 3]> =
    LazyLock::new(|| [types::kind(), models::kind(), tools::kind()]);

/// The kind and the name in `types.protobuf`.
pub(super) fn find(key: &str) -> Option<(&'static GroupKind, &str)> {
    let (section, name) = key.split_once('.')?;
    KINDS.iter().find(|kind| kind.section == section).map(|kind| (kind, name))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(super) kind: &'static GroupKind,
    pub(super) name: String,
    pub(super) origin: Origin,
    pub(super) entries: Entries,
}

impl Group {
    /// An empty group. A reserved name is rejected: the two could not be told apart.
    pub(super) fn new(kind: &'static GroupKind, name: &str, origin: Origin) -> Result<Self> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let is_name = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_word);
        if is_name && !kind.reserved.contains(&name) {
            return Ok(Self { kind, name: name.to_owned(), origin, entries: Entries::default() });
        }
        let name = truncate(name, NAME_BYTES_MAX).to_owned();
        Err(ConfigError::GroupName { name, what: kind.what, reserved: kind.reserved_hint, origin })
    }

    pub(super) fn field(&self, word: &str, origin: &Origin) -> Result<&'static Setting> {
        let fields = &self.kind.fields;
        fields.iter().find(|field| field.word() == word).ok_or_else(|| {
            let word = truncate(word, NAME_BYTES_MAX);
            let (key, origin) = (self.key(word), origin.clone());
            if self.kind.section == MODELS && is_secret_name(word) {
                return ConfigError::KeyInSettings { key, origin };
            }
            let hint = match nearest(word, fields.iter().map(Setting::word)) {
                Some(meant) => format!("did you mean `{}`?", self.key(meant)),
                None => {
                    let words: Vec<String> =
                        fields.iter().map(|field| format!("`{}`", field.word())).collect();
                    format!("a {} has {}", self.kind.what, words.join(", "))
                }
            };
            ConfigError::Unknown { key, hint, origin }
        })
    }

    /// Parses a field and stores it. `shown` is what an error repeats.
    pub(super) fn read(
        &mut self,
        field: &'static Setting,
        written: Written<'_>,
        shown: &str,
        origin: Origin,
    ) -> Result<()> {
        let value = Value::read(field.kind, written)
            .map_err(|refusal| refused(&self.key(field.word()), field, refusal, shown, origin.clone()))?;
        self.entries.put(field, value, origin);
        Ok(())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, &'static Setting, &Entry)> {
        let fields = self.kind.fields.iter();
        fields.filter_map(|field| Some((self.key(field.word()), field, self.entries.get(&field.key)?)))
    }

    pub(super) fn section(&self) -> String {
        format!("{}.{}", self.kind.section, self.name)
    }

    pub(super) fn key(&self, word: &str) -> String {
        format!("{}.{word}", self.section())
    }
}
