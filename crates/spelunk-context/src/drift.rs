//! What became of the files of a view since they were scanned. A file that grew, such as a log, is read as far as it was
//! seen at the scan; one that was cut, rewritten or removed cannot be read any more. Whoever answers from them says so.

use std::fmt;

use crate::corpus::Origin;
use crate::scan_read::{begins_as_scanned, open_regular};
use crate::{DocEntry, View, error};

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drift {
    /// More was appended to it.
    Grew {
        /// How much of it was read.
        bytes: u64,
    },
    /// It is shorter than it was.
    Shrank,
    /// It holds something else.
    Rewritten,
    /// It is not there any more.
    Gone,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grew { bytes } => {
                write!(f, "grew while it was read; the first {bytes} bytes were read")
            }
            Self::Shrank => f.write_str("became shorter while it was read"),
            Self::Rewritten => f.write_str("was rewritten while it was read"),
            Self::Gone => f.write_str("was removed while it was read"),
        }
    }
}

impl View {
    /// The documents whose files are not as they were scanned. Looks at every file, and into those that were written to.
    pub fn drifts(&self) -> Vec<(&DocEntry, Drift)> {
        self.documents().filter_map(|document| Some((document, drift(document)?))).collect()
    }
}

fn drift(document: &DocEntry) -> Option<Drift> {
    let Origin::File(path) = &document.origin else { return None };
    if document.extracted {
        // Its text is in a scratch file of ours.
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
