//! Derived files: what can be made again from a journal at any time, written for people and other programs to read.
//! They are whole or not there, private to their owner, and never synced: losing one costs nothing.
#![expect(clippy::disallowed_methods, reason = "these bytes are not durable, and the disk's are")]

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use spelunk_types::RunId;

use crate::disk::{make_parent_unsynced, private, stage_in};
use crate::{JournalError, Workspace};

/// How the name of a file begins that has not taken its place yet.
const STAGED: &str = ".staged-";

/// A directory of derived files.
#[derive(Debug, Clone)]
pub struct DerivedFiles {
    root: PathBuf,
}

impl DerivedFiles {
    /// Those beside a run's journal; `None` on a disk that is not the file system.
    pub fn of_run(workspace: &Workspace, run: &RunId) -> Option<Self> {
        workspace.root().map(|root| Self { root: root.join("runs").join(run.as_str()) })
    }

    /// Those in any directory; it is made when first written to.
    pub fn within(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where they are.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a whole file in the place of what was there.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        self.try_replace(name, bytes).map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    /// Removes a file, or a directory with all that is in it. One that is not there is removed already.
    pub fn remove(&self, name: &str) -> Result<(), JournalError> {
        let path = self.path(name);
        let removed = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(&path),
            Ok(_) => std::fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(JournalError::Write { name: self.shown(name), source })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Adds bytes at the end of a file, in one write.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        self.try_append(name, bytes).map_err(|source| JournalError::Write { name: self.shown(name), source })
    }

    fn try_replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        make_parent_unsynced(&path)?;
        // Readers see the old file or the new one, never half of one.
        // Not beside the file: that name may be another file's.
        let (mut file, staged) = stage_in(&self.root, STAGED)?;
        let written = file.write_all(bytes);
        drop(file);
        written.and_then(|()| std::fs::rename(&staged, &path)).inspect_err(|_| {
            // The staged file is worthless; the first error is the one to tell.
            drop(std::fs::remove_file(&staged));
        })
    }

    fn try_append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        make_parent_unsynced(&path)?;
        private(OpenOptions::new().append(true).create(true)).open(&path)?.write_all(bytes)
    }

    fn path(&self, name: &str) -> PathBuf {
        debug_assert!(!name.split('/').any(|part| part.is_empty() || part == ".."), "{name}");
        self.root.join(name)
    }

    fn shown(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }
}
