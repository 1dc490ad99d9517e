//! The paths of a run's files within the workspace.

use spelunk_types::RunId;

/// The folder of a run.
pub(crate) fn folder(run: &RunId) -> String {
    format!("runs/{run}")
}

pub(crate) fn archive_name(run: &RunId) -> String {
    format!("archive/{run}.tar.gz")
}
