//! The workspace: the directory with runs, blobs and caches. Created private to its owner and ignored by git.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use spelunk_fs::{EntryKind, PrivateDir};
use spelunk_types::{RunId, truncate};

use crate::{
    Blobs, Disk, FileDisk, Journal, JournalError, JournalSync, OpenedJournal, Record, ReplyCache, RunLock,
    SharedRuns, SyncMode, WorkspaceHold,
};

const FORMAT_FILE: &str = "workspace.toml";
const FORMAT_TEXT: &str = "format = 1\n";
/// How much of a journal is read at a time to see whether its first line is complete.
const LOOK_BYTES: usize = 8192;

/// The directory of runs, blobs and caches.
#[derive(Clone)]
pub struct Workspace {
    disk: Arc<dyn Disk>,
    sync_mode: SyncMode,
    /// `None` on a disk that is not the file system: there are then no locks and no listing.
    dir: Option<PrivateDir>,
    /// The runs shared with other machines, if any.
    shared: Option<Arc<dyn SharedRuns>>,
    /// The key that the reply cache is signed with.
    cache_key: [u8; 32],
}

impl Workspace {
    /// Opens or creates the workspace in this directory.
    pub fn open(root: &Path) -> Result<Self, JournalError> {
        let dir = PrivateDir::new(root);
        if Self::is_new(&dir)? {
            let disk = FileDisk::of(dir.clone());
            // The files become durable with the first journal.
            let made = disk
                .create_unsynced(".gitignore", b"*\n")
                .and_then(|()| disk.create_unsynced(FORMAT_FILE, FORMAT_TEXT.as_bytes()))
                .and_then(|()| dir.sync_root());
            made.map_err(|source| JournalError::unusable(dir.root(), source))?;
        }
        Ok(Self::in_dir(dir))
    }

    /// Opens a workspace for reading: nothing in it is ever changed.
    pub fn open_read_only(root: &Path) -> Result<Self, JournalError> {
        let dir = PrivateDir::new(root).read_only();
        Self::is_new(&dir)?;
        Ok(Self::in_dir(dir))
    }

    fn in_dir(dir: PrivateDir) -> Self {
        Self { dir: Some(dir.clone()), ..Self::on(Arc::new(FileDisk::of(dir))) }
    }

    /// Whether the directory is not a workspace yet. A workspace made by a newer version is an error.
    fn is_new(dir: &PrivateDir) -> Result<bool, JournalError> {
        let read = FileDisk::of(dir.clone())
            .read(FORMAT_FILE)
            .map_err(|source| JournalError::unusable(dir.root(), source))?;
        match read {
            None => Ok(true),
            // A power cut may leave the file without its text.
            Some(bytes) if bytes.iter().all(|byte| *byte == 0) => Ok(true),
            Some(bytes) if bytes == FORMAT_TEXT.as_bytes() => Ok(false),
            Some(bytes) => {
                let format = truncate(String::from_utf8_lossy(&bytes).trim(), 40).to_owned();
                Err(JournalError::WorkspaceNewer { path: dir.root().display().to_string(), format })
            }
        }
    }

    /// The same workspace, with a reply cache that only holders of this key can write.
    #[must_use]
    pub fn with_cache_key(self, cache_key: [u8; 32]) -> Self {
        Self { cache_key, ..self }
    }

    /// The same workspace, with journals that are synced in this mode.
    #[must_use]
    pub fn with_sync_mode(self, sync_mode: SyncMode) -> Self {
        Self { sync_mode, ..self }
    }

    /// The same workspace as a local copy of a fleet's: `disk` writes to the fleet first, then here.
    #[must_use]
    pub fn with_shared(self, disk: Arc<dyn Disk>, shared: Arc<dyn SharedRuns>) -> Self {
        Self { disk, shared: Some(shared), ..self }
    }

    /// The runs shared with other machines, if any.
    pub fn shared(&self) -> Option<&Arc<dyn SharedRuns>> {
        self.shared.as_ref()
    }

    /// Brings the local copy of a shared journal up to date. If that fails, the copy is read as it is.
    pub fn refresh(&self, run: &RunId) {
        if let Some(shared) = &self.shared {
            drop(shared.refresh(run));
        }
    }

    /// A workspace on any disk, for tests.
    pub fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk, sync_mode: SyncMode::default(), dir: None, shared: None, cache_key: [0; 32] }
    }

    /// Whether there is a workspace in this directory.
    pub fn exists(root: &Path) -> bool {
        root.join(FORMAT_FILE).is_file()
    }

    /// The path of the directory, if there is one.
    pub fn root(&self) -> Option<&Path> {
        self.dir.as_ref().map(PrivateDir::root)
    }

    /// The directory, if there is one.
    pub fn dir(&self) -> Option<&PrivateDir> {
        self.dir.as_ref()
    }

    pub(crate) fn unusable(&self, source: io::Error) -> JournalError {
        JournalError::unusable(self.root().unwrap_or(Path::new("")), source)
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
    pub fn replies(&self) -> ReplyCache {
        ReplyCache::new(Arc::clone(&self.disk), self.dir.clone(), self.cache_key)
    }

    /// Prevents garbage collection while held: data written meanwhile is not referenced by any run yet.
    pub fn hold(&self) -> Result<Option<WorkspaceHold>, JournalError> {
        self.dir.as_ref().map(WorkspaceHold::take).transpose()
    }

    /// Whether a process is working on the run right now. Has no side effects.
    pub fn is_locked(&self, run: &RunId) -> bool {
        self.dir().is_some_and(|dir| crate::lock::is_locked(dir, run))
            || self.shared.as_ref().is_some_and(|shared| shared.is_leased(run).unwrap_or(false))
    }

    /// Locks the run for writing; `None` if there are no locks.
    pub fn lock(&self, run: &RunId) -> Result<Option<RunLock>, JournalError> {
        let Some(dir) = &self.dir else { return Ok(None) };
        let lock = RunLock::take(dir, run)?;
        Ok(Some(match &self.shared {
            Some(shared) => lock.with(shared.lease(run)?),
            None => lock,
        }))
    }

    /// The journal of a new run.
    pub fn create_journal(&self, run: &RunId) -> Journal {
        Journal::create(Arc::clone(&self.disk), run).with_mode(self.sync_mode)
    }

    /// The journal of an existing run, to continue writing. Take the lock first.
    pub fn open_journal(&self, run: &RunId) -> Result<OpenedJournal, JournalError> {
        if let Some(shared) = &self.shared {
            let name = crate::journal::file_name(run);
            shared.catch_up(run).map_err(|source| JournalError::Read { name, source })?;
        }
        let opened = Journal::open(Arc::clone(&self.disk), run)?;
        Ok(OpenedJournal { journal: opened.journal.with_mode(self.sync_mode), ..opened })
    }

    /// The handle that syncs a run's journal, whoever writes it.
    pub fn sync_of(&self, run: &RunId) -> JournalSync {
        JournalSync::new(Arc::clone(&self.disk), &crate::journal::file_name(run))
    }

    /// The journal of any run, for reading.
    pub fn read_journal(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        self.refresh(run);
        Journal::read(self.disk.as_ref(), run)
    }

    /// Whether a run has begun. Looks only at its own files.
    pub fn has(&self, run: &RunId) -> bool {
        if let Some(Ok(has)) = self.shared.as_ref().map(|shared| shared.has(run)) {
            return has;
        }
        // Without a complete line in its journal, a run died before its first event: there is nothing to resume.
        self.dir.as_ref().is_some_and(|dir| is_line_whole(dir, &crate::journal::file_name(run)))
    }

    /// Every run, oldest first.
    pub fn runs(&self) -> Result<Vec<RunId>, JournalError> {
        self.runs_where(|_| true)
    }

    /// The runs that are wanted, oldest first. Only their journals are opened.
    pub fn runs_where(&self, is_wanted: impl Fn(&RunId) -> bool) -> Result<Vec<RunId>, JournalError> {
        let Some(dir) = &self.dir else { return Ok(Vec::new()) };
        if let Some(shared) = &self.shared {
            let mut runs =
                shared.runs().map_err(|source| JournalError::Read { name: "runs".into(), source })?;
            runs.retain(is_wanted);
            runs.sort();
            return Ok(runs);
        }
        let entries = dir.list("runs").map_err(|source| JournalError::unusable(dir.root(), source))?;
        let mut runs = Vec::new();
        for entry in entries.into_iter().filter(|entry| entry.kind == EntryKind::Directory) {
            runs.extend(entry.name.parse::<RunId>().ok().filter(|run| is_wanted(run) && self.has(run)));
        }
        runs.sort();
        Ok(runs)
    }

    /// Finds a run by a prefix of its short or full id; the newest if no name is given.
    pub fn find(&self, name: Option<&str>) -> Result<RunId, JournalError> {
        if let Some(run) = name.and_then(|name| name.parse().ok()).filter(|run| self.has(run)) {
            return Ok(run);
        }
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

/// Whether the first line of a file is complete.
fn is_line_whole(dir: &PrivateDir, name: &str) -> bool {
    let Ok(mut file) = dir.open(name) else { return false };
    let mut bytes = [0; LOOK_BYTES];
    loop {
        match file.read(&mut bytes) {
            Ok(0) | Err(_) => return false,
            Ok(n) if bytes.get(..n).is_some_and(|bytes| bytes.contains(&b'\n')) => return true,
            Ok(_) => {}
        }
    }
}
