//! The workspace: the directory that holds runs, blobs and caches. Opening one makes it if need be, private to its
//! owner and invisible to git.
#![expect(
    clippy::disallowed_methods,
    reason = "listing runs reads directories, which is not among the disk's operations"
)]

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spelunk_types::RunId;

use crate::{Blobs, Disk, FileDisk, Journal, JournalError, Opened, Record, Replies, RunLock, WorkspaceHold};

const FORMAT_FILE: &str = "workspace.toml";
const FORMAT_TEXT: &str = "format = 1\n";
/// What is read of a journal at once to see whether its first line is whole.
const LOOK_BYTES: usize = 8192;

/// Where runs live.
#[derive(Clone)]
pub struct Workspace {
    disk: Arc<dyn Disk>,
    /// `None` on a disk that is not the file system: then there are no locks and no listing.
    root: Option<PathBuf>,
}

impl Workspace {
    /// Opens or makes the workspace in this directory.
    pub fn open(root: &Path) -> Result<Self, JournalError> {
        let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
        let disk = FileDisk::new(root);
        match disk.read(FORMAT_FILE).map_err(unusable)? {
            Some(bytes) if bytes == FORMAT_TEXT.as_bytes() => {}
            Some(bytes) => {
                let format = String::from_utf8_lossy(&bytes).trim().chars().take(40).collect();
                return Err(JournalError::WorkspaceNewer { path: root.display().to_string(), format });
            }
            None => {
                disk.create(".gitignore", b"*\n").map_err(unusable)?;
                disk.create(FORMAT_FILE, FORMAT_TEXT.as_bytes()).map_err(unusable)?;
            }
        }
        Ok(Self { disk: Arc::new(disk), root: Some(root.to_owned()) })
    }

    /// A workspace on any disk, for tests.
    pub fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk, root: None }
    }

    /// Whether there is a workspace in this directory.
    pub fn exists(root: &Path) -> bool {
        root.join(FORMAT_FILE).is_file()
    }

    /// The directory, where there is one.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The blobs of all runs.
    pub fn blobs(&self) -> Blobs {
        Blobs::new(Arc::clone(&self.disk))
    }

    /// The blobs of all runs, and the prompts of this one.
    pub fn blobs_of(&self, run: &RunId) -> Blobs {
        Blobs::of_run(Arc::clone(&self.disk), run)
    }

    /// The reply cache of all runs.
    pub fn replies(&self) -> Replies {
        Replies::new(Arc::clone(&self.disk), self.root.clone())
    }

    /// Keeps garbage from being collected for as long as it is held: what is written meanwhile is named by no run yet.
    pub fn hold(&self) -> Result<Option<WorkspaceHold>, JournalError> {
        self.root.as_deref().map(WorkspaceHold::take).transpose()
    }

    /// Takes the run for writing; `None` where there are no locks.
    pub fn lock(&self, run: &RunId) -> Result<Option<RunLock>, JournalError> {
        self.root.as_deref().map(|root| RunLock::take(root, run)).transpose()
    }

    /// The journal of a new run.
    pub fn create_journal(&self, run: &RunId) -> Journal {
        Journal::create(Arc::clone(&self.disk), run)
    }

    /// The journal of an old run, to go on writing. Take the lock first.
    pub fn open_journal(&self, run: &RunId) -> Result<Opened, JournalError> {
        Journal::open(Arc::clone(&self.disk), run)
    }

    /// The journal of any run, to look at.
    pub fn read_journal(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        Journal::read(self.disk.as_ref(), run)
    }

    /// Every run, oldest first.
    pub fn runs(&self) -> Result<Vec<RunId>, JournalError> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        let unusable = |source| JournalError::Workspace { path: root.display().to_string(), source };
        let entries = match std::fs::read_dir(root.join("runs")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unusable(error)),
        };
        let mut runs = Vec::new();
        for entry in entries {
            let name = entry.map_err(unusable)?.file_name();
            let run = name.to_str().and_then(|name| name.parse::<RunId>().ok());
            // Without a whole line in its journal, a run died before its first event: there is nothing to go on with.
            let has_begun = |run: &RunId| is_line_whole(&root.join(crate::journal::file_name(run)));
            runs.extend(run.filter(has_begun));
        }
        runs.sort();
        Ok(runs)
    }

    /// The run that people call by the beginning of its short or whole name; the newest for no name.
    pub fn find(&self, name: Option<&str>) -> Result<RunId, JournalError> {
        let mut runs = self.runs()?;
        let Some(name) = name else {
            return runs.pop().ok_or(JournalError::NoRuns);
        };
        runs.retain(|run| run.short().starts_with(name) || run.as_str().starts_with(name));
        match runs.len() {
            0 => Err(JournalError::NotFound { name: name.to_owned() }),
            1 => Ok(runs.remove(0)),
            _ => Err(JournalError::Ambiguous { name: name.to_owned(), runs }),
        }
    }
}

/// Whether the first line of a file is whole.
fn is_line_whole(path: &Path) -> bool {
    let Ok(mut file) = std::fs::File::open(path) else { return false };
    let mut bytes = [0; LOOK_BYTES];
    loop {
        match file.read(&mut bytes) {
            Ok(0) | Err(_) => return false,
            Ok(n) if bytes.get(..n).is_some_and(|bytes| bytes.contains(&b'\n')) => return true,
            Ok(_) => {}
        }
    }
}
