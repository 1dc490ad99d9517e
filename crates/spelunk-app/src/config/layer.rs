//! Layers: the settings from one source, each value with its origin. Layers are merged by one associative function,
//! `over`: only their precedence matters, not the order of merging.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

use super::error::ConfigError;
use super::file::PROJECT_FILE;
use super::models::WrittenModel;
use super::suggest::nearest;
use super::table::{self, Display, Fallback, Kind, Setting};
use super::types::CustomType;
use super::value::{Refusal, Value, Written};
use crate::env::{Environment, PREFIX, VARIABLES};

/// How much of a rejected value an error repeats.
const FOUND_CHARS_MAX: usize = 60;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The table of settings.
    Default,
    /// A settings file.
    File {
        /// As shown to the user: relative where the file is in the current directory.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// An environment variable.
    Env {
        /// Its name.
        variable: String,
    },
    /// A flag on the command line.
    Flag {
        /// With its dashes: `--set`.
        flag: String,
    },
}

impl Origin {
    /// Whether the value comes from a project file.
    pub(crate) fn is_project(&self) -> bool {
        matches!(self, Self::File { path, .. } if path.ends_with(PROJECT_FILE))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env { variable } => f.write_str(variable),
            Self::Flag { flag } => f.write_str(flag),
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The value.
    pub(crate) value: Value,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

/// A setting given by a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// With its dashes: `--model`.
    pub(crate) flag: String,
    /// The setting: `model.name`.
    pub(crate) key: String,
    /// As typed.
    pub(crate) value: String,
}

impl FlagValue {
    /// A flag for one setting: `--model NAME` for `model.name`.
    pub fn new(flag: &str, key: &str, value: impl Into<String>) -> Self {
        Self { flag: flag.to_owned(), key: key.to_owned(), value: value.into() }
    }

    /// The argument of `--set`: `key=value`.
    pub fn set(argument: &str) -> Result<Self, ConfigError> {
        match argument.split_once('=') {
            Some((key, value)) => Ok(Self::new("--set", key.trim(), value)),
            None => {
                Err(ConfigError::NotKeyValue { argument: argument.chars().take(FOUND_CHARS_MAX).collect() })
            }
        }
    }
}

/// The settings of one source, or of several merged. Every value has the kind that the table declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    entries: BTreeMap<&'static str, Entry>,
    types: BTreeMap<String, CustomType>,
    models: BTreeMap<String, WrittenModel>,
    /// Settings that are accepted but have no effect.
    notices: Vec<String>,
}

impl Layer {
    /// The lowest layer. Settings without a default are not in it.
    pub(crate) fn defaults() -> Self {
        let mut layer = Self::default();
        for setting in table::all() {
            match &setting.fallback {
                Fallback::Value(value) => layer.put(setting, value.clone(), Origin::Default),
                Fallback::Unset { .. } => {}
            }
        }
        layer
    }

    /// The settings of the environment. A variable with our prefix that names no setting is rejected as a typo.
    pub(crate) fn from_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let mut layer = Self::default();
        for (variable, value) in environment.own() {
            if VARIABLES.iter().any(|known| known.name == variable) {
                continue;
            }
            let origin = Origin::Env { variable: variable.to_owned() };
            if table::retired_by(variable).is_some_and(|key| layer.pass_over(key, &origin)) {
                continue;
            }
            let Some(setting) = table::all().iter().find(|setting| setting.variable() == variable) else {
                return Err(unknown_variable(variable, origin));
            };
            let text = value.to_str().ok_or_else(|| not_text(setting, value, origin.clone()))?;
            layer.read(setting, Written::Plain(text), text, origin)?;
        }
        Ok(layer)
    }

    /// The settings of flags. The last flag for a setting wins.
    pub(crate) fn from_flags(flags: &[FlagValue]) -> Result<Self, ConfigError> {
        let mut layer = Self::default();
        for flag in flags {
            let origin = Origin::Flag { flag: flag.flag.clone() };
            if layer.pass_over(&flag.key, &origin) {
                continue;
            }
            let setting = named(&flag.key, &origin)?;
            layer.read(setting, Written::Plain(&flag.value), &flag.value, origin)?;
        }
        Ok(layer)
    }

    /// This layer over a lower one: its values win.
    #[must_use]
    pub(crate) fn over(self, lower: Self) -> Self {
        let (mut entries, mut types, mut models) = (lower.entries, lower.types, lower.models);
        entries.extend(self.entries);
        types.extend(self.types);
        models.extend(self.models);
        let notices = [lower.notices, self.notices].concat();
        Self { entries, types, models, notices }
    }

    /// Skips a retired setting with a notice; returns false if the key is not a retired setting.
    pub(super) fn pass_over(&mut self, key: &str, origin: &Origin) -> bool {
        let Some(why) = table::retired(key) else { return false };
        self.notices.push(format!("`{key}` has no effect any more: {why} ({origin})"));
        true
    }

    /// Notices about settings without effect, lowest layer first.
    pub(crate) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The entry of a setting, if it is set.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The content types defined here, by name.
    pub(crate) fn types(&self) -> impl Iterator<Item = &CustomType> {
        self.types.values()
    }

    /// Adds a content type. It replaces one of the same name in a lower layer entirely.
    pub(super) fn put_type(&mut self, custom: CustomType) {
        self.types.insert(custom.name().to_owned(), custom);
    }

    /// The models defined here, by name.
    pub(crate) fn models(&self) -> impl Iterator<Item = &WrittenModel> {
        self.models.values()
    }

    /// Adds a model. It replaces one of the same name in a lower layer entirely, so that the key of one layer is never
    /// sent to a URL from another.
    pub(super) fn put_model(&mut self, model: WrittenModel) {
        self.models.insert(model.name().to_owned(), model);
    }

    /// Parses a written value and stores it. `shown` is what an error repeats.
    pub(super) fn read(
        &mut self,
        setting: &'static Setting,
        written: Written<'_>,
        shown: &str,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        let value = Value::read(setting.kind, written)
            .map_err(|refusal| refused(&setting.key, setting, refusal, shown, origin.clone()))?;
        self.put(setting, value, origin);
        Ok(())
    }

    /// Replaces the text of a setting in this layer.
    pub(super) fn map_text(&mut self, key: &str, map: impl FnOnce(&str) -> String) {
        if let Some(Entry { value: Value::Text(text), .. }) = self.entries.get_mut(key) {
            *text = map(text);
        }
    }

    fn put(&mut self, setting: &'static Setting, value: Value, origin: Origin) {
        self.entries.insert(&setting.key, Entry { value, origin });
    }
}

/// The error for an invalid value; `key` is the setting as the user wrote it.
pub(super) fn refused(
    key: &str,
    setting: &Setting,
    refusal: Refusal,
    shown: &str,
    origin: Origin,
) -> ConfigError {
    let Refusal { must, meant } = refusal;
    ConfigError::Invalid { key: key.to_owned(), must, found: found(setting, shown), meant, origin }
}

/// The setting with this key, or an error with a suggestion.
pub(super) fn named(key: &str, origin: &Origin) -> Result<&'static Setting, ConfigError> {
    match table::find(key) {
        Some(setting) => Ok(setting),
        None => Err(unknown(key, origin.clone())),
    }
}

/// The error for an unknown key.
pub(super) fn unknown(key: &str, origin: Origin) -> ConfigError {
    let key: String = key.chars().take(FOUND_CHARS_MAX).collect();
    let word = key.rsplit('.').next().unwrap_or(&key);
    // A mistyped token limit is not a key.
    if is_secret_name(word) && !key.starts_with("limits.") {
        return ConfigError::KeyInSettings { key, origin };
    }
    let same_word =
        table::all().iter().find(|setting| setting.word() == word).map(|setting| setting.key.as_str());
    let meant = same_word
        .or_else(|| nearest(&key, table::all().iter().map(|setting| setting.key.as_str())))
        .map(str::to_owned);
    ConfigError::Unknown { key, meant, origin }
}

fn unknown_variable(variable: &str, origin: Origin) -> ConfigError {
    let variable: String = variable.chars().take(FOUND_CHARS_MAX).collect();
    let words = variable.strip_prefix(PREFIX).unwrap_or_default().to_ascii_lowercase();
    if is_secret_name(&words) || is_secret_name(words.strip_prefix("model_").unwrap_or_default()) {
        return ConfigError::KeyInSettings { key: variable, origin };
    }
    let known: Vec<String> = table::all().iter().map(Setting::variable).collect();
    let meant = nearest(&variable, known.iter().map(String::as_str)).map(str::to_owned);
    ConfigError::UnknownVariable { variable, meant }
}

/// Names under which people try to store a key.
pub(super) fn is_secret_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase().replace('-', "_");
    let endings = ["api_key", "apikey", "secret", "password", "auth_token", "access_token"];
    word == "key" || word == "token" || endings.iter().any(|ending| word.ends_with(ending))
}

fn not_text(setting: &Setting, value: &OsStr, origin: Origin) -> ConfigError {
    ConfigError::Invalid {
        key: setting.key.clone(),
        must: "UTF-8 text".to_owned(),
        found: found(setting, &value.to_string_lossy()),
        meant: None,
        origin,
    }
}

/// What an error repeats of a rejected value: little, and nothing that may be a key.
fn found(setting: &Setting, shown: &str) -> String {
    let may_be_a_key = setting.display != Display::Plain || setting.kind == Kind::VariableName;
    if may_be_a_key {
        return "what is there".to_owned();
    }
    let mut short: String =
        shown.chars().take(FOUND_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.chars().count() < shown.chars().count() {
        short.push('…');
    }
    format!("`{short}`")
}

#[cfg(test)]
mod tests;
