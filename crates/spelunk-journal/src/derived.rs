//! Derived files: output that can be regenerated from a journal at any time, for people and other programs to read.
//! They are replaced atomically, private to their owner, and never synced: losing one costs nothing.

use std::io;
use std::path::PathBuf;

use spelunk_fs::{Durability, EntryKind, PrivateDir};
use spelunk_types::{BlobId, RunId};

use crate::blobs::file_name;
use crate::layout::folder;
use crate::{JournalError, Workspace};

/// The name prefix of a file that has not been renamed into place yet.
const STAGED: &str = ".staged-";

/// A directory of derived files.
#[derive(Debug, Clone)]
pub struct DerivedFiles {
    dir: PrivateDir,
    /// The folder within the directory; empty for the directory itself.
    folder: String,
}

impl DerivedFiles {
    /// The derived files next to a run's journal; `None` on a disk that is not the file system.
    pub fn of_run(workspace: &Workspace, run: &RunId) -> Option<Self> {
        workspace.dir().map(|dir| Self { dir: dir.clone(), folder: folder(run) })
    }

    /// Derived files in any directory, which is created on the first write.
    pub fn within(root: impl Into<PathBuf>) -> Self {
        Self { dir: PrivateDir::new(root), folder: String::new() }
    }

    /// The directory, and the folder in it.
    pub fn place(&self) -> (&PrivateDir, &str) {
        (&self.dir, &self.folder)
    }

    /// The path of the folder.
    pub fn root(&self) -> PathBuf {
        self.dir.root().join(&self.folder)
    }

    /// Removes staged files left by a process that died. Only the process that holds the run may call this.
    pub fn remove_leftovers(&self) {
        for entry in self.dir.list(&self.folder).unwrap_or_default() {
            if entry.kind == EntryKind::File && entry.name.starts_with(STAGED) {
                // A leftover only wastes disk space.
                drop(self.dir.remove_file(&self.name(&entry.name)));
            }
        }
    }

    /// Replaces a whole file. Readers see the old file or the new one, never a partial one.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        // Staged at the top level: next to the file, the name may belong to another file.
        let staging = (self.folder.as_str(), STAGED);
        let written = self.dir.replace(staging, &self.name(name), bytes, Durability::Unsynced);
        written.map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    /// Replaces a file with a read-only hard link to a blob, or with a copy if links do not work.
    pub fn replace_by_blob(&self, name: &str, blob: &BlobId, bytes: &[u8]) -> Result<(), JournalError> {
        let staged = self.name(&format!("{STAGED}{blob}"));
        let is_in_workspace = !self.folder.is_empty();
        let linked = if is_in_workspace {
            self.dir.link(&file_name(blob), &staged)
        } else {
            Err(io::ErrorKind::Unsupported.into())
        };
        let linked = linked.and_then(|()| self.dir.rename(&staged, &self.name(name), Durability::Unsynced));
        // Renaming one link to a file over another does nothing, so the staged name may remain.
        drop(self.dir.remove_file(&staged));
        if linked.is_ok() { Ok(()) } else { self.replace(name, bytes) }
    }

    /// Removes a file, or a directory and its contents. Succeeds if it does not exist.
    pub fn remove(&self, name: &str) -> Result<(), JournalError> {
        let removed = self.dir.remove_all(&self.name(name));
        removed.map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    /// Appends bytes to a file in one write.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        let appended = self.dir.append(&self.name(name), bytes);
        appended.map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    fn name(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }

    fn shown(&self, name: &str) -> String {
        self.root().join(name).display().to_string()
    }
}
