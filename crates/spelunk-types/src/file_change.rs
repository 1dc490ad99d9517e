//! A change to one file on an agent's desk, as recorded in the journal.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Text;

/// A file that was written, appended to or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum FileChange {
    /// The file was created or replaced.
    Written {
        /// Relative to the working folder, with `/` between its parts.
        path: String,
        /// The whole content.
        content: Text,
    },
    /// Content was appended to the file.
    Appended {
        /// Relative to the working folder, with `/` between its parts.
        path: String,
        /// Only the appended part.
        content: Text,
    },
    /// The file was removed.
    Removed {
        /// Relative to the working folder, with `/` between its parts.
        path: String,
    },
}

impl FileChange {
    /// The path of the file.
    pub fn path(&self) -> &str {
        match self {
            Self::Written { path, .. } | Self::Appended { path, .. } | Self::Removed { path } => path,
        }
    }

    /// What was written, if anything was.
    pub fn content(&self) -> Option<&Text> {
        match self {
            Self::Written { content, .. } | Self::Appended { content, .. } => Some(content),
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
