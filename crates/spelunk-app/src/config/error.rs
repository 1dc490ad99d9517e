//! Errors in settings. Every message names the location; a value that may be a key is never repeated.

use std::io;
use std::path::PathBuf;

use spelunk_types::{ErrorCode, Explain};

use super::layer::Origin;
use super::table::{MODELS, TYPES};
use super::{models, types};

/// Invalid settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such setting.
    #[error("there is no setting `{key}` ({origin})")]
    Unknown {
        /// What was written.
        key: String,
        /// What was probably meant.
        meant: Option<String>,
        /// Where.
        origin: Origin,
    },
    /// A variable with our prefix that names no setting.
    #[error("the environment variable `{variable}` sets nothing")]
    UnknownVariable {
        /// Its name.
        variable: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A value of the wrong kind or size.
    #[error("`{key}` must be {must}, not {found} ({origin})")]
    Invalid {
        /// The setting.
        key: String,
        /// What it must be.
        must: String,
        /// What was written, in backticks, or a description of it.
        found: String,
        /// The choice that was probably meant.
        meant: Option<&'static str>,
        /// Where.
        origin: Origin,
    },
    /// A section written as a value.
    #[error("`{section}` is a group of settings, not a value ({origin})")]
    NotASection {
        /// The section.
        section: String,
        /// Where.
        origin: Origin,
    },
    /// An invalid name for a content type.
    #[error("`{name}` cannot be the name of a content type ({origin})")]
    TypeName {
        /// What was written.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// A field that a content type does not have.
    #[error("there is no setting `{key}` ({origin})")]
    UnknownOfType {
        /// What was written.
        key: String,
        /// What was probably meant.
        meant: Option<String>,
        /// Where.
        origin: Origin,
    },
    /// A content type that no file can match.
    #[error("the content type `{name}` names no files ({origin})")]
    TypeWithoutFiles {
        /// Its name.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// An invalid name for a model.
    #[error("`{name}` cannot be the name of a model ({origin})")]
    ModelName {
        /// What was written.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// A field that a model does not have.
    #[error("there is no setting `{key}` ({origin})")]
    UnknownOfModel {
        /// What was written.
        key: String,
        /// What was probably meant.
        meant: Option<String>,
        /// Where.
        origin: Origin,
    },
    /// A name that no model has.
    #[error("`{key}` names the model `{name}`, which is not defined ({origin})")]
    UnknownModel {
        /// The setting.
        key: String,
        /// The name.
        name: String,
        /// The names that exist.
        advice: Box<str>,
        /// Where.
        origin: Origin,
    },
    /// A key written as a setting.
    #[error("a key does not belong in settings: `{key}` ({origin})")]
    KeyInSettings {
        /// The setting it was written as.
        key: String,
        /// Where.
        origin: Origin,
    },
    /// A setting that a project file may not set.
    #[error("a project file may not set `{key}` ({origin})")]
    NotFromProject {
        /// The setting.
        key: String,
        /// Where.
        origin: Origin,
    },
    /// A limit that a project file would raise.
    #[error("a project file may only lower `{key}`: it says {value}, and yours is {allowed} ({origin})")]
    NotLower {
        /// The setting.
        key: String,
        /// The value in the project file.
        value: u64,
        /// The user's value.
        allowed: u64,
        /// Where.
        origin: Origin,
    },
    /// A path in a project file that leads outside the project.
    #[error("`{key}` in a project file must be a path inside of the project ({origin})")]
    OutsideProject {
        /// The setting.
        key: String,
        /// Where.
        origin: Origin,
    },
    /// A project file owned by another user.
    #[error("the settings file `{}` belongs to another user", path.display())]
    OtherOwner {
        /// The file.
        path: PathBuf,
    },
    /// A price for only one of input and output.
    #[error("`{key}` has no value, but the other price has one ({origin})")]
    HalfPrice {
        /// The price that is missing.
        key: String,
        /// Where the other one was set.
        origin: Origin,
    },
    /// A file that is not TOML.
    #[error("could not read `{}:{line}:{column}` as TOML: {detail}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// The parser's message.
        detail: String,
    },
    /// A file that cannot be read.
    #[error("could not read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file too large to be settings.
    #[error("`{}` is larger than {bytes_max} bytes, which settings never are", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// `--set` without `=`.
    #[error("`--set {argument}` is not of the form `key=value`")]
    NotKeyValue {
        /// What was written.
        argument: String,
    },
}

impl Explain for ConfigError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. }
            | Self::UnknownVariable { .. }
            | Self::UnknownOfType { .. }
            | Self::UnknownOfModel { .. } => ErrorCode::SettingUnknown,
            Self::Invalid { .. }
            | Self::NotASection { .. }
            | Self::TypeName { .. }
            | Self::ModelName { .. }
            | Self::UnknownModel { .. }
            | Self::TypeWithoutFiles { .. }
            | Self::KeyInSettings { .. }
            | Self::NotFromProject { .. }
            | Self::NotLower { .. }
            | Self::OutsideProject { .. }
            | Self::OtherOwner { .. }
            | Self::HalfPrice { .. }
            | Self::NotToml { .. }
            | Self::Unreadable { .. }
            | Self::TooLarge { .. } => ErrorCode::SettingInvalid,
            Self::NotKeyValue { .. } => ErrorCode::UsageWrong,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { meant: Some(meant), .. }
            | Self::UnknownVariable { meant: Some(meant), .. }
            | Self::UnknownOfType { meant: Some(meant), .. }
            | Self::UnknownOfModel { meant: Some(meant), .. } => Some(format!("did you mean `{meant}`?")),
            Self::Unknown { meant: None, .. } => {
                Some("run `spelunk config show` to see every setting".to_owned())
            }
            Self::UnknownVariable { meant: None, variable } => {
                Some(format!("unset `{variable}`, or run `spelunk config show` to see every setting"))
            }
            Self::UnknownOfType { meant: None, .. } => Some(format!("a content type has {}", types::words())),
            Self::UnknownOfModel { meant: None, .. } => Some(format!("a model has {}", models::words())),
            Self::ModelName { .. } => {
                Some("use 1 to 40 small letters, digits, `_` or `-`, and not `none`".to_owned())
            }
            Self::UnknownModel { advice, .. } => Some(advice.to_string()),
            Self::TypeName { .. } => {
                Some("use 1 to 40 small letters, digits, `_` or `-`, and no built-in name".to_owned())
            }
            Self::TypeWithoutFiles { .. } => {
                Some("write `extensions = [\"proto\"]` or `names = [\"BUILD\"]` there".to_owned())
            }
            Self::Invalid { meant, .. } => meant.map(|meant| format!("did you mean `{meant}`?")),
            Self::NotASection { section, .. } if section == TYPES || section == MODELS => {
                Some(format!("open a group for each with `[{section}.NAME]`"))
            }
            Self::NotASection { section, .. } => {
                Some(format!("open the group with `[{section}]` and write one setting per line"))
            }
            Self::KeyInSettings { key, .. } => {
                let section = key.rsplit_once('.').map_or("", |(section, _)| section);
                let section = if section.starts_with(MODELS) { section } else { "model" };
                Some(format!(
                    "put the key in an environment variable and name that variable with `{section}.key_env`"
                ))
            }
            Self::NotFromProject { .. } => Some(
                "move it to your own `~/.config/spelunk/config.toml`, the environment or a flag".to_owned(),
            ),
            Self::NotLower { key, value, .. } => Some(format!(
                "if you want that much, raise it yourself: `--set {key}={value}`, or your own settings"
            )),
            Self::OutsideProject { .. } => Some(
                "name a directory below the file, or choose another yourself with `--workspace`".to_owned(),
            ),
            Self::OtherOwner { .. } => {
                Some("remove it, make it your own (`chown`), or work in another directory".to_owned())
            }
            Self::HalfPrice { key, .. } => Some(format!("set `{key}` too")),
            Self::NotKeyValue { .. } => Some("write it like `--set limits.calls_max=100`".to_owned()),
            Self::NotToml { .. } | Self::Unreadable { .. } | Self::TooLarge { .. } => None,
        }
    }
}
