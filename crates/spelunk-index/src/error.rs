//! Errors of an index. Damage is not an error of an update, which rebuilds the index and reports it.

use std::io;
use std::path::PathBuf;

use spelunk_types::{ErrorCode, Explain};

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
    #[error("the index in `{directory}` is being updated by {}", Holder(*pid))]
    Locked { directory: PathBuf, pid: Option<u32> },
    #[error("the index in `{directory}` has no vectors to search by meaning")]
    NoVectors { directory: PathBuf },
    #[error("the index in `{directory}` was made with the embedding model `{made_with}`, not `{asked}`")]
    OtherModel { directory: PathBuf, made_with: String, asked: String },
    #[error("could not embed")]
    Embed {
        #[from]
        source: EmbedError,
    },
}

/// The process that holds a lock, if known.
struct Holder(Option<u32>);

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("another process"),
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
            Self::Disk { .. } => "make room there, or check who may write there".to_owned(),
            Self::Damaged { .. } => "search again: it is built anew from the documents".to_owned(),
            Self::Locked { .. } => "wait until it is done, then search again".to_owned(),
            Self::NoVectors { .. } => "search by words, or update it with an embedding model".to_owned(),
            Self::OtherModel { .. } => "update it, or search with the model it was made with".to_owned(),
            Self::Embed { source } => return source.hint(),
        })
    }
}
