//! Removing runs: a run that no process is working on disappears at once, then its files are deleted. Blobs stay until
//! `gc`.

use spelunk_fs::{Durability, PrivateDir};
use spelunk_types::RunId;

use crate::layout::{archive_name, folder};
use crate::{JournalError, Workspace};

/// The size of a run's folder, without its blobs.
pub fn run_bytes(workspace: &Workspace, run: &RunId) -> u64 {
    let Some(dir) = workspace.dir() else { return 0 };
    let files = dir.files_below(&folder(run)).unwrap_or_default();
    files.iter().map(|(_, file)| file.len).sum()
}

/// The size of an archive.
pub fn archive_bytes(workspace: &Workspace, run: &RunId) -> u64 {
    let entry = workspace.dir().and_then(|dir| dir.entry(&archive_name(run)).ok().flatten());
    entry.map_or(0, |file| file.len)
}

/// Removes a run and returns how many bytes that freed. Refused while a process is working on it.
pub fn remove_run(workspace: &Workspace, run: &RunId) -> Result<u64, JournalError> {
    let Some(dir) = workspace.dir() else { return Ok(0) };
    let _lock = workspace.lock(run)?;
    let bytes = run_bytes(workspace, run);
    remove_folder(dir, run).map_err(|source| workspace.unusable(source))?;
    Ok(bytes)
}

/// Removes an archive and returns how many bytes that freed.
pub fn remove_archive(workspace: &Workspace, run: &RunId) -> Result<u64, JournalError> {
    let Some(dir) = workspace.dir() else { return Ok(0) };
    let bytes = archive_bytes(workspace, run);
    dir.remove_file(&archive_name(run)).map_err(|source| workspace.unusable(source))?;
    Ok(bytes)
}

/// The caller holds the run's lock. A crash in the middle leaves files under `tmp`, which `gc` removes, never half a
/// run.
pub(crate) fn remove_folder(dir: &PrivateDir, run: &RunId) -> std::io::Result<()> {
    let aside = format!("tmp/removed-{}-{run}", std::process::id());
    dir.rename(&folder(run), &aside, Durability::Unsynced)?;
    dir.remove_all(&aside)
}
