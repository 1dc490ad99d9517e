//! Errors of an index. Damage is not an error of an update, which rebuilds the index and reports it.

use std::io;
use std::path::{Path, PathBuf};

use spelunk_types::{ErrorCode, Explain};
use tantivy::TantivyError;

use crate::EmbedError;

/// An index that could not be built or searched.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum IndexError {
    #[error("could not use the index in `{directory}`")]
    Disk {
        directory: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the index in `{directory}` is damaged: {why}")]
    Damaged { directory: PathBuf, why: String },
    #[error("the index in `{directory}` is being updated by {}", holder(*pid))]
    Locked { directory: PathBuf, pid: Option<u32> },
    #[error("the index in `{directory}` has no vectors, so it cannot be searched by meaning")]
    NoVectors { directory: PathBuf },
    #[error("the index in `{directory}` was built with the embedding model `{made_with}`, not `{asked}`")]
    OtherModel { directory: PathBuf, made_with: String, asked: String },
    #[error("could not compute embeddings")]
    Embed {
        #[from]
        source: EmbedError,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// A failure in the files of an index, without its directory.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum FileError {
    Disk(#[from] io::Error),
    Words(#[from] TantivyError),
    Embed(#[from] EmbedError),
}

impl IndexError {
    pub(crate) fn of(directory: &Path, error: impl Into<FileError>) -> Self {
        let directory = directory.to_owned();
        match error.into() {
            FileError::Disk(source) => Self::Disk { directory, source },
            FileError::Words(TantivyError::IoError(source)) => {
                Self::Disk { directory, source: io::Error::new(source.kind(), source.to_string()) }
            }
            FileError::Words(error) => Self::Damaged { directory, why: error.to_string() },
            FileError::Embed(source) => Self::Embed { source },
        }
    }
}

impl Explain for IndexError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Disk { .. } => ErrorCode::WorkspaceUnusable,
            Self::Damaged { .. } => ErrorCode::IndexDamaged,
            Self::Locked { .. } => ErrorCode::IndexLocked,
            Self::NoVectors { .. } | Self::OtherModel { .. } => ErrorCode::IndexOtherModel,
            Self::Embed { source } => source.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Disk { .. } => "free some space there, or check its permissions".to_owned(),
            Self::Damaged { .. } => "search again: the index is rebuilt from the documents".to_owned(),
            Self::Locked { .. } => "wait until it is done, then search again".to_owned(),
            Self::NoVectors { .. } => "search by words, or update it with an embedding model".to_owned(),
            Self::OtherModel { .. } => "update it, or search with the model it was built with".to_owned(),
            Self::Embed { source } => return source.hint(),
        })
    }
}
