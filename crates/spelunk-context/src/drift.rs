//! Detects how the files of a view changed since the scan. A file that grew, such as a log, is read up to its size at
//! the scan; one that was truncated, rewritten or removed can no longer be read. Answers based on such files report it.

use std::fmt;

use crate::document::Origin;
use crate::scan_read::{begins_as_scanned, open_regular};
use crate::{DocEntry, View, error};

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drift {
    /// Bytes were appended to it.
    Grew {
        /// How much of it was read.
        bytes: u64,
    },
    /// It is shorter than at the scan.
    Shrank,
    /// Its contents changed.
    Rewritten,
    /// It no longer exists.
    Gone,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grew { bytes } => {
                write!(f, "has grown since it was scanned; only its first {bytes} bytes were read")
            }
            Self::Shrank => f.write_str("was truncated while it was read"),
            Self::Rewritten => f.write_str("was rewritten while it was read"),
            Self::Gone => f.write_str("was removed while it was read"),
        }
    }
}

impl View {
    /// The documents whose files changed since the scan. Checks metadata, and the contents of modified files.
    pub fn drifts(&self) -> Vec<(&DocEntry, Drift)> {
        self.documents().filter_map(|document| Some((document, drift(document)?))).collect()
    }
}

fn drift(document: &DocEntry) -> Option<Drift> {
    let Origin::File(path) = &document.origin else { return None };
    if document.extracted {
        // Its text is in our scratch directory.
        return None;
    }
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) => return error::is_absence(&error).then_some(Drift::Gone),
    };
    if metadata.len() < document.bytes {
        return Some(Drift::Shrank);
    }
    if metadata.len() == document.bytes && metadata.modified().ok() == document.modified {
        return None;
    }
    let is_same = open_regular(path).and_then(|file| begins_as_scanned(document, &file)).unwrap_or(false);
    match (is_same, metadata.len() > document.bytes) {
        (false, _) => Some(Drift::Rewritten),
        (true, true) => Some(Drift::Grew { bytes: document.bytes }),
        (true, false) => None,
    }
}

#[cfg(test)]
mod tests;
