//! Removing runs: a run that no process works on disappears at once, then its files are deleted. Blobs stay until `gc`.
#![expect(clippy::disallowed_methods, reason = "listing and deleting are not among the disk's operations")]

use std::path::Path;

use spelunk_types::RunId;

use crate::archive::archive_name;
use crate::disk::make_parent;
use crate::gc::files_below;
use crate::{JournalError, Workspace};

/// How much room the folder of a run takes, its blobs not counted.
pub fn run_bytes(workspace: &Workspace, run: &RunId) -> u64 {
    let Some(root) = workspace.root() else { return 0 };
    let files = files_below(&folder(root, run)).unwrap_or_default();
    files.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
}

/// How much room an archive takes.
pub fn archive_bytes(workspace: &Workspace, run: &RunId) -> u64 {
    let path = workspace.root().map(|root| root.join(archive_name(run)));
    path.and_then(|path| path.metadata().ok()).map_or(0, |file| file.len())
}

/// Removes a run and says how much room that made. Refused while a process works on it.
pub fn remove_run(workspace: &Workspace, run: &RunId) -> Result<u64, JournalError> {
    let Some(root) = workspace.root() else { return Ok(0) };
    let _lock = workspace.lock(run)?;
    let bytes = run_bytes(workspace, run);
    remove_folder(root, run)?;
    Ok(bytes)
}

/// Removes an archive and says how much room that made.
pub fn remove_archive(workspace: &Workspace, run: &RunId) -> Result<u64, JournalError> {
    let Some(root) = workspace.root() else { return Ok(0) };
    let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
    let path = root.join(archive_name(run));
    let bytes = path.metadata().map_err(unusable)?.len();
    std::fs::remove_file(&path).map_err(unusable)?;
    Ok(bytes)
}

/// The caller holds the run's lock. A crash in the middle leaves files under `tmp`, which `gc` removes, and no half run.
pub(crate) fn remove_folder(root: &Path, run: &RunId) -> Result<(), JournalError> {
    let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
    let aside = root.join("tmp").join(format!("removed-{}-{run}", std::process::id()));
    make_parent(&aside).map_err(unusable)?;
    std::fs::rename(folder(root, run), &aside).map_err(unusable)?;
    std::fs::remove_dir_all(&aside).map_err(unusable)
}

pub(crate) fn folder(root: &Path, run: &RunId) -> std::path::PathBuf {
    root.join("runs").join(run.as_str())
}
