//! The paths of files within the workspace.

use spelunk_types::{BlobId, RunId};

pub(crate) fn folder(run: &RunId) -> String {
    format!("runs/{run}")
}

pub(crate) fn archive_name(run: &RunId) -> String {
    format!("archive/{run}.tar.gz")
}

/// The path of a file named by a hash; the extra folder level keeps directories small.
pub(crate) fn sharded(folder: &str, id: &BlobId) -> String {
    let hex = id.to_string();
    format!("{folder}/{}/{hex}", hex.get(..2).unwrap_or_default())
}
