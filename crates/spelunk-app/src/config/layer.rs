//! Layers: the settings from one source, each value with its origin. Layers are merged by one
//! associative function, `over`: the order of merging does not matter, only the precedence.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

use spelunk_types::{shorten, truncate};

use super::error::{ConfigError, Result};
use super::file::PROJECT_FILE;
use super::group::Group;
use super::suggest::nearest;
use super::table::{self, Display, Fallback, Kind, Setting};
use super::value::{Refusal, Value, Written};
use crate::env::{Environment, PREFIX, VARIABLES};

const FOUND_CHARS_MAX: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File {
        /// As shown to the user: relative where the file is in the current directory.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    Env {
        variable: String,
    },
    Flag {
        /// With its dashes: `--set`.
        flag: String,
    },
}

impl Origin {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Values by the key of their setting. Every value has the kind that the setting declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entries(BTreeMap<&'static str, Entry>);

impl Entries {
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.get(key)
    }

    pub(super) fn put(&mut self, setting: &'static Setting, value: Value, origin: Origin) {
        self.0.insert(&setting.key, Entry { value, origin });
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.get(key).map(|entry| &entry.value)
    }

    /// A text that is set and not empty.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_text().filter(|text| !text.is_empty())
    }

    pub(super) fn whole(&self, key: &str) -> Option<u64> {
        if let Value::Whole(whole) = self.value(key)? { Some(*whole) } else { None }
    }

    pub(super) fn millionths(&self, key: &str) -> Option<u64> {
        if let Value::Number(number) = self.value(key)? { Some(number.millionths) } else { None }
    }

    pub(super) fn yes_no(&self, key: &str) -> Option<bool> {
        if let Value::YesNo(yes) = self.value(key)? { Some(*yes) } else { None }
    }

    pub(super) fn list(&self, key: &str) -> &[String] {
        if let Some(Value::List(texts)) = self.value(key) { texts } else { &[] }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// With its dashes: `--model`.
    pub(crate) flag: String,
    pub(crate) key: String,
    pub(crate) value: String,
}

impl FlagValue {
    /// A flag for one setting: `--model NAME` for `model.name`.
    pub fn new(flag: &str, key: &str, value: impl Into<String>) -> Self {
        Self { flag: flag.to_owned(), key: key.to_owned(), value: value.into() }
    }

    /// The argument of `--set`: `key=value`.
    pub fn set(argument: &str) -> Result<Self> {
        match argument.split_once('=') {
            Some((key, value)) => Ok(Self::new("--set", key.trim(), value)),
            None => {
                Err(ConfigError::NotKeyValue { argument: truncate(argument, FOUND_CHARS_MAX).to_owned() })
            }
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    pub(super) entries: Entries,
    groups: BTreeMap<(&'static str, String), Group>,
    pub(super) notices: Vec<String>,
}

impl Layer {
    /// The lowest layer. Settings without a default are not in it.
    pub(crate) fn defaults() -> Self {
        let mut layer = Self::default();
        for setting in table::all() {
            if let Fallback::Value(value) = &setting.fallback {
                layer.entries.put(setting, value.clone(), Origin::Default);
            }
        }
        layer
    }

    /// The settings of the environment. A variable with our prefix that names no setting is rejected as a typo.
    pub(crate) fn from_environment(environment: &Environment) -> Result<Self> {
        let mut layer = Self::default();
        for (variable, value) in environment.own() {
            if VARIABLES.iter().any(|(known, _)| *known == variable) {
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
    pub(crate) fn from_flags(flags: &[FlagValue]) -> Result<Self> {
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
        let (mut entries, mut groups) = (lower.entries, lower.groups);
        entries.0.extend(self.entries.0);
        groups.extend(self.groups);
        let notices = [lower.notices, self.notices].concat();
        Self { entries, groups, notices }
    }

    /// Skips a retired setting with a notice; returns false if the key is not a retired setting.
    pub(super) fn pass_over(&mut self, key: &str, origin: &Origin) -> bool {
        let Some(why) = table::retired(key) else { return false };
        self.notices.push(format!("`{key}` no longer has any effect: {why} ({origin})"));
        true
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    pub(crate) fn groups(&self, section: &str) -> impl Iterator<Item = &Group> {
        self.groups.values().filter(move |group| group.kind.section == section)
    }

    /// Adds a group. It replaces a group of the same name in a lower layer entirely, so that the
    /// key from one layer is never sent to a URL from another.
    pub(super) fn put_group(&mut self, group: Group) {
        self.groups.insert((group.kind.section, group.name.clone()), group);
    }

    pub(super) fn read(
        &mut self,
        setting: &'static Setting,
        written: Written<'_>,
        shown: &str,
        origin: Origin,
    ) -> Result<()> {
        let value = Value::read(setting.kind, written)
            .map_err(|refusal| refused(&setting.key, setting, refusal, shown, origin.clone()))?;
        self.entries.put(setting, value, origin);
        Ok(())
    }

    pub(super) fn map_text(&mut self, key: &str, map: impl FnOnce(&str) -> String) {
        if let Some(Entry { value: Value::Text(text), .. }) = self.entries.0.get_mut(key) {
            *text = map(text);
        }
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

pub(super) fn named(key: &str, origin: &Origin) -> Result<&'static Setting> {
    table::find(key).ok_or_else(|| unknown(key, origin.clone()))
}

pub(super) fn unknown(key: &str, origin: Origin) -> ConfigError {
    let key = truncate(key, FOUND_CHARS_MAX).to_owned();
    let word = key.rsplit('.').next().unwrap_or(&key);
    // A mistyped token limit is not a secret.
    if is_secret_name(word) && !key.starts_with("limits.") {
        return ConfigError::KeyInSettings { key, origin };
    }
    let keys = || table::all().iter().map(|setting| setting.key.as_str());
    let same_word = table::all().iter().find(|setting| setting.word() == word);
    let meant = same_word.map(|setting| setting.key.as_str()).or_else(|| nearest(&key, keys()));
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "run `spelunk config show` to see every setting".to_owned(),
    };
    ConfigError::Unknown { key, hint, origin }
}

fn unknown_variable(variable: &str, origin: Origin) -> ConfigError {
    let variable = truncate(variable, FOUND_CHARS_MAX).to_owned();
    let words = variable.strip_prefix(PREFIX).unwrap_or_default().to_ascii_lowercase();
    if is_secret_name(&words) || is_secret_name(words.strip_prefix("model_").unwrap_or_default()) {
        return ConfigError::KeyInSettings { key: variable, origin };
    }
    let known: Vec<String> = table::all().iter().map(Setting::variable).collect();
    let hint = match nearest(&variable, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("unset `{variable}`, or run `spelunk config show` to see every setting"),
    };
    ConfigError::UnknownVariable { variable, hint }
}

pub(super) fn is_secret_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase().replace('-', "_");
    let endings = ["api_key", "apikey", "secret", "password", "auth_token", "access_token"];
    word == "key" || word == "token" || endings.iter().any(|ending| word.ends_with(ending))
}

fn not_text(setting: &Setting, value: &OsStr, origin: Origin) -> ConfigError {
    let refusal = Refusal { must: "UTF-8 text".to_owned(), meant: None };
    refused(&setting.key, setting, refusal, &value.to_string_lossy(), origin)
}

/// What an error repeats of a rejected value: little, and nothing that may be a key.
fn found(setting: &Setting, shown: &str) -> String {
    let may_be_a_key = setting.display != Display::Plain || setting.kind == Kind::VariableName;
    if may_be_a_key {
        return "the current value".to_owned();
    }
    format!("`{}`", shorten(shown, FOUND_CHARS_MAX).replace(char::is_control, " "))
}

#[cfg(test)]
mod tests;
