//! The lock: one writer for each run, held by the operating system so that it ends with its process. A run also holds
//! the workspace's lock with others, so that collecting garbage waits for no run and no run starts under it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use spelunk_fs::{Durability, PrivateDir};
use spelunk_types::RunId;

use crate::JournalError;
use crate::layout::folder;

/// Held by every process that writes, with others or alone.
const WORKSPACE_LOCK: &str = "workspace.lock";

/// Held while a process writes a run.
#[derive(Debug)]
pub struct RunLock {
    /// Dropping the files releases both locks.
    _run: File,
    _workspace: WorkspaceHold,
}

/// Held, with others, while something is written that no run names yet: no garbage is collected.
#[derive(Debug)]
pub struct WorkspaceHold {
    _file: File,
}

impl WorkspaceHold {
    pub(crate) fn take(dir: &PrivateDir) -> Result<Self, JournalError> {
        let file = dir.open_or_create(WORKSPACE_LOCK).map_err(|source| unusable(dir, source))?;
        match patiently(|| file.try_lock_shared()) {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(JournalError::WorkspaceBusy),
            Err(TryLockError::Error(source)) => Err(unusable(dir, source)),
        }
    }
}

impl RunLock {
    pub(crate) fn take(dir: &PrivateDir, run: &RunId) -> Result<Self, JournalError> {
        let workspace = WorkspaceHold::take(dir)?;
        // The folder of the run is durable before its journal is written.
        let mut file = dir
            .make_dir(&folder(run), Durability::Synced)
            .and_then(|()| dir.open_or_create(&lock_name(run)))
            .map_err(|source| unusable(dir, source))?;
        match patiently(|| file.try_lock()) {
            Ok(()) => {
                // The pid only serves the message of the process that comes second.
                drop(file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())));
                Ok(Self { _run: file, _workspace: workspace })
            }
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                drop(file.read_to_string(&mut pid));
                Err(JournalError::Locked { run: run.clone(), pid: pid.trim().parse().ok() })
            }
            Err(TryLockError::Error(source)) => Err(unusable(dir, source)),
        }
    }
}

/// How long a lock may take to become free.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tries again for a moment. A process that was killed while it started another one leaves its lock to that other one
/// until it runs its own program, a few milliseconds later.
fn patiently(mut lock: impl FnMut() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    let began = Instant::now();
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            taken => return taken,
        }
    }
}

/// The whole workspace, for work that no run may see half done.
pub(crate) fn take_workspace(dir: &PrivateDir) -> Result<File, JournalError> {
    let file = dir.open_or_create(WORKSPACE_LOCK).map_err(|source| unusable(dir, source))?;
    match patiently(|| file.try_lock()) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::WorkspaceBusy),
        Err(TryLockError::Error(source)) => Err(unusable(dir, source)),
    }
}

fn lock_name(run: &RunId) -> String {
    format!("{}/run.lock", folder(run))
}

fn unusable(dir: &PrivateDir, source: io::Error) -> JournalError {
    JournalError::Workspace { path: dir.root().display().to_string(), source }
}

/// Whether a process works on the run right now. Leaves no trace.
pub(crate) fn is_locked(dir: &PrivateDir, run: &RunId) -> bool {
    let Ok(file) = dir.open(&lock_name(run)) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}
