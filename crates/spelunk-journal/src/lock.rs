//! Locks: each run has one writer. The operating system holds the lock, so it is released when the process ends. A run
//! also holds the workspace lock in shared mode, so that garbage collection and runs exclude each other.

use std::fs::{File, TryLockError};
use std::time::Duration;

use spelunk_fs::{LockError, PrivateDir, lock_file, lock_within};
use spelunk_types::RunId;

use crate::layout::folder;
use crate::{JournalError, Lease};

/// Held by every writing process, shared or exclusive.
const WORKSPACE_LOCK: &str = "workspace.lock";

/// Held while a process writes a run.
#[derive(Debug)]
pub struct RunLock {
    /// Released first, since fields are dropped in order: until then, no other process of this machine may write the copy.
    _lease: Option<Lease>,
    /// Dropping the files releases both locks.
    _run: File,
    _workspace: WorkspaceHold,
}

/// Held in shared mode while writing data that no run references yet; prevents garbage collection.
#[derive(Debug)]
pub struct WorkspaceHold {
    _file: File,
}

impl WorkspaceHold {
    pub(crate) fn take(dir: &PrivateDir) -> Result<Self, JournalError> {
        Ok(Self { _file: lock_workspace(dir, File::try_lock_shared)? })
    }
}

impl RunLock {
    pub(crate) fn with(self, lease: Lease) -> Self {
        Self { _lease: Some(lease), ..self }
    }

    pub(crate) fn take(dir: &PrivateDir, run: &RunId) -> Result<Self, JournalError> {
        let workspace = WorkspaceHold::take(dir)?;
        let unusable = |source| JournalError::unusable(dir.root(), source);
        let file = dir.open_or_create(&lock_name(run)).map_err(unusable)?;
        match lock_file(file, PATIENCE) {
            Ok(file) => Ok(Self { _lease: None, _run: file, _workspace: workspace }),
            Err(LockError::Held(pid)) => Err(JournalError::Locked { run: run.clone(), pid }),
            Err(LockError::Unusable(source)) => Err(unusable(source)),
        }
    }
}

/// How long to wait for a lock: the child of a killed process holds it until it calls exec, milliseconds later.
const PATIENCE: Duration = Duration::from_secs(1);

/// Locks the whole workspace, for work that no run may see half done.
pub(crate) fn take_workspace(dir: &PrivateDir) -> Result<File, JournalError> {
    lock_workspace(dir, File::try_lock)
}

fn lock_workspace(
    dir: &PrivateDir,
    lock: fn(&File) -> Result<(), TryLockError>,
) -> Result<File, JournalError> {
    let unusable = |source| JournalError::unusable(dir.root(), source);
    let file = dir.open_or_create(WORKSPACE_LOCK).map_err(unusable)?;
    match lock_within(PATIENCE, || lock(&file)) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::WorkspaceBusy),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

fn lock_name(run: &RunId) -> String {
    format!("{}/run.lock", folder(run))
}

/// Whether a process is working on the run right now. Has no side effects.
pub(crate) fn is_locked(dir: &PrivateDir, run: &RunId) -> bool {
    let Ok(file) = dir.open(&lock_name(run)) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}
