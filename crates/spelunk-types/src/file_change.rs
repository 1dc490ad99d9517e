//! A change of one file on the desk of an agent, as the journal keeps it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{BlobId, Text};

/// A file that was written, added to or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum FileChange {
    /// What it holds now.
    Written {
        /// Relative to the desk, with `/` between its parts.
        path: String,
        /// All of it.
        content: Text,
    },
    /// What was added at its end.
    Appended {
        /// Relative to the desk, with `/` between its parts.
        path: String,
        /// Only what is new.
        content: Text,
    },
    /// It is gone.
    Removed {
        /// Relative to the desk, with `/` between its parts.
        path: String,
    },
}

impl FileChange {
    /// Which file.
    pub fn path(&self) -> &str {
        match self {
            Self::Written { path, .. } | Self::Appended { path, .. } | Self::Removed { path } => path,
        }
    }

    /// The blob that holds the content, if one does.
    pub fn blob(&self) -> Option<&BlobId> {
        match self {
            Self::Written { content, .. } | Self::Appended { content, .. } => content.blob(),
            Self::Removed { .. } => None,
        }
    }
}

impl fmt::Display for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written { path, .. } => write!(f, "{path}"),
            Self::Appended { path, .. } => write!(f, "+{path}"),
            Self::Removed { path } => write!(f, "-{path}"),
        }
    }
}
