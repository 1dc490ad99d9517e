//! The lock: one writer for each run, held by the operating system so that it ends with its process. A run also holds
//! the workspace's lock with others, so that collecting garbage waits for no run and no run starts under it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use spelunk_types::RunId;

use crate::disk::make_parent;
use crate::{JournalError, Workspace};

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
    pub(crate) fn take(root: &Path) -> Result<Self, JournalError> {
        let file = open(&root.join("workspace.lock")).map_err(|source| unusable(root, source))?;
        match patiently(|| file.try_lock_shared()) {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(JournalError::WorkspaceBusy),
            Err(TryLockError::Error(source)) => Err(unusable(root, source)),
        }
    }
}

impl RunLock {
    pub(crate) fn take(root: &Path, run: &RunId) -> Result<Self, JournalError> {
        let workspace = WorkspaceHold::take(root)?;
        let path = root.join("runs").join(run.as_str()).join("run.lock");
        make_parent(&path).map_err(|source| unusable(root, source))?;
        let mut file = open(&path).map_err(|source| unusable(root, source))?;
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
            Err(TryLockError::Error(source)) => Err(unusable(root, source)),
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
pub(crate) fn take_workspace(root: &Path) -> Result<File, JournalError> {
    let file = open(&root.join("workspace.lock")).map_err(|source| unusable(root, source))?;
    match patiently(|| file.try_lock()) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::WorkspaceBusy),
        Err(TryLockError::Error(source)) => Err(unusable(root, source)),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn unusable(root: &Path, source: io::Error) -> JournalError {
    JournalError::Workspace { path: root.display().to_string(), source }
}

/// Whether a process works on the run right now. Leaves no trace.
pub fn is_locked(workspace: &Workspace, run: &RunId) -> bool {
    let Some(root) = workspace.root() else { return false };
    let path = root.join("runs").join(run.as_str()).join("run.lock");
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}
