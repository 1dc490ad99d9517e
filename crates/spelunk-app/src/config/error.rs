//! Errors in settings. Every message names the location; a value that may be a key is never repeated.

use std::io;
use std::path::PathBuf;

use spelunk_types::{ErrorCode, Explain};

use super::layer::Origin;
use super::table::{MODELS, TOOLS, TYPES};

pub(super) type Result<T, E = ConfigError> = std::result::Result<T, E>;

/// Invalid settings. `key` is the setting as the user wrote it, `origin` is where.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("there is no setting `{key}` ({origin})")]
    Unknown { key: String, hint: String, origin: Origin },
    #[error("the environment variable `{variable}` does not belong to any setting")]
    UnknownVariable { variable: String, hint: String },
    #[error("`{key}` must be {must}, not {found} ({origin})")]
    Invalid {
        key: String,
        must: String,
        /// What was written, in backticks, or a description of it.
        found: String,
        meant: Option<&'static str>,
        origin: Origin,
    },
    #[error("`{section}` is a group of settings, not a value ({origin})")]
    NotASection { section: String, origin: Origin },
    #[error("`{name}` is not a valid name of a {what} ({origin})")]
    GroupName { name: String, what: &'static str, reserved: &'static str, origin: Origin },
    #[error("the content type `{name}` matches no files ({origin})")]
    TypeWithoutFiles { name: String, origin: Origin },
    #[error("the tool `{name}` needs either a `command` or a `url` ({origin})")]
    ToolWithoutProvider { name: String, origin: Origin },
    /// A name that no model has; the advice lists those that exist.
    #[error("`{key}` names the model `{name}`, which is not defined ({origin})")]
    UnknownModel { key: String, name: String, advice: Box<str>, origin: Origin },
    #[error("keys are not allowed in settings files: `{key}` ({origin})")]
    KeyInSettings { key: String, origin: Origin },
    #[error("a project file may not set `{key}` ({origin})")]
    NotFromProject { key: String, origin: Origin },
    #[error("a project file may only lower `{key}`: it sets {value}, and your value is {allowed} ({origin})")]
    NotLower { key: String, value: u64, allowed: u64, origin: Origin },
    #[error("`{key}` in a project file must be a path inside the project ({origin})")]
    OutsideProject { key: String, origin: Origin },
    #[error("the settings file `{}` belongs to another user", path.display())]
    OtherOwner { path: PathBuf },
    /// A price for only one of input and output; `key` is the one that is missing.
    #[error("`{key}` has no value, but the other price has one ({origin})")]
    HalfPrice { key: String, origin: Origin },
    /// Line and column are counted from 1, the column in characters.
    #[error("could not read `{}:{line}:{column}` as TOML: {detail}", path.display())]
    NotToml { path: PathBuf, line: usize, column: usize, detail: String },
    #[error("could not read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("`{}` is larger than {bytes_max} bytes, the maximum for a settings file", path.display())]
    TooLarge { path: PathBuf, bytes_max: u64 },
    #[error("`--set {argument}` does not have the form `key=value`")]
    NotKeyValue { argument: String },
}

impl Explain for ConfigError {
    fn code(&self) -> ErrorCode {
        if matches!(self, Self::Unknown { .. } | Self::UnknownVariable { .. }) {
            ErrorCode::SettingUnknown
        } else if matches!(self, Self::NotKeyValue { .. }) {
            ErrorCode::UsageWrong
        } else {
            ErrorCode::SettingInvalid
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { hint, .. } | Self::UnknownVariable { hint, .. } => hint.clone(),
            Self::Invalid { meant, .. } => return meant.map(|meant| format!("did you mean `{meant}`?")),
            Self::GroupName { reserved, .. } => {
                format!("use 1 to 40 lowercase letters, digits, `_` or `-`, and {reserved}")
            }
            Self::UnknownModel { advice, .. } => advice.to_string(),
            Self::TypeWithoutFiles { .. } => {
                "add `extensions = [\"proto\"]` or `names = [\"BUILD\"]`".to_owned()
            }
            Self::ToolWithoutProvider { .. } => {
                "set either `command = [\"program\", \"argument\"]` or `url = \"http://…\"`; a program needs a command".to_owned()
            }
            Self::NotASection { section, .. } if [TYPES, MODELS, TOOLS].contains(&section.as_str()) => {
                format!("add a section `[{section}.NAME]` for each")
            }
            Self::NotASection { section, .. } => {
                format!("add the section `[{section}]` with one setting per line")
            }
            Self::KeyInSettings { key, .. } => {
                let section = key.rsplit_once('.').map_or("", |(section, _)| section);
                let section = if section.starts_with(MODELS) { section } else { "model" };
                format!(
                    "put the key in an environment variable and set `{section}.key_env` to its name"
                )
            }
            Self::NotFromProject { .. } => {
                "move it to your own `~/.config/spelunk/config.toml`, the environment or a flag".to_owned()
            }
            Self::NotLower { key, value, .. } => {
                format!(
                    "to allow that much, raise it yourself with `--set {key}={value}` or in your own settings"
                )
            }
            Self::OutsideProject { .. } => {
                "use a directory below the file, or choose another one yourself with `--workspace`".to_owned()
            }
            Self::OtherOwner { .. } => {
                "remove it, change its owner (`chown`), or work in another directory".to_owned()
            }
            Self::HalfPrice { key, .. } => format!("set `{key}` too"),
            Self::NotKeyValue { .. } => "write it as `--set limits.calls_max=100`".to_owned(),
            Self::NotToml { .. } | Self::Unreadable { .. } | Self::TooLarge { .. } => return None,
        })
    }
}
