//! Derived files: what can be made again from a journal at any time, written for people and other programs to read.
//! They are whole or not there, private to their owner, and never synced: losing one costs nothing.

use std::io::{self, Write};
use std::path::PathBuf;

use spelunk_fs::{Durability, EntryKind, PrivateDir};
use spelunk_types::RunId;

use crate::disk::replace;
use crate::layout::folder;
use crate::{JournalError, Workspace};

/// How the name of a file begins that has not taken its place yet.
const STAGED: &str = ".staged-";

/// A directory of derived files.
#[derive(Debug, Clone)]
pub struct DerivedFiles {
    dir: PrivateDir,
    /// The folder within the directory; empty for the directory itself.
    folder: String,
}

impl DerivedFiles {
    /// Those beside a run's journal; `None` on a disk that is not the file system.
    pub fn of_run(workspace: &Workspace, run: &RunId) -> Option<Self> {
        workspace.dir().map(|dir| Self { dir: dir.clone(), folder: folder(run) })
    }

    /// Those in any directory; it is made when first written to.
    pub fn within(root: impl Into<PathBuf>) -> Self {
        Self { dir: PrivateDir::new(root), folder: String::new() }
    }

    /// The directory and the folder in it.
    pub fn place(&self) -> (&PrivateDir, &str) {
        (&self.dir, &self.folder)
    }

    /// Where they are.
    pub fn root(&self) -> PathBuf {
        self.dir.root().join(&self.folder)
    }

    /// Removes files that a process which died left before they took their places. Only who has the run may.
    pub fn remove_leftovers(&self) {
        for entry in self.dir.list(&self.folder).unwrap_or_default() {
            if entry.kind == EntryKind::File && entry.name.starts_with(STAGED) {
                // What stays costs room and nothing else.
                drop(self.dir.remove_file(&self.name(&entry.name)));
            }
        }
    }

    /// Writes a whole file in the place of what was there. Readers see the old file or the new one, never half of one.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        // Staged at the top: beside the file, that name may be another file's.
        let written =
            replace(&self.dir, (&self.folder, STAGED), &self.name(name), bytes, Durability::Unsynced);
        written.map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    /// Removes a file, or a directory with all that is in it. One that is not there is removed already.
    pub fn remove(&self, name: &str) -> Result<(), JournalError> {
        let removed = self.dir.remove_all(&self.name(name));
        removed.map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    /// Adds bytes at the end of a file, in one write.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        self.try_append(name, bytes).map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    fn try_append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let name = self.name(name);
        let mut file = match self.dir.open_to_append(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_new(&name, Durability::Unsynced)?
            }
            opened => opened?,
        };
        file.write_all(bytes)
    }

    fn name(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }

    fn shown(&self, name: &str) -> String {
        self.root().join(name).display().to_string()
    }
}
