//! Files of a pull: the staging folder for partial downloads, and the verification before a file gets its final name.
#![expect(
    clippy::disallowed_methods,
    reason = "the folder is the user's own, and nothing in it belongs to a run"
)]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use spelunk_types::hex;

use super::PullError;
use crate::local::{ModelFolder, read_header};

/// Inside the model folder; because of the dot, nothing in it counts as a model.
const STAGING: &str = ".parts";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Checked {
    pub(super) fn of_file(path: &Path) -> Result<Self, PullError> {
        let mut reader = File::open(path).map_err(|source| disk(path, source))?;
        let mut sum = Summed::new(io::sink());
        io::copy(&mut reader, &mut sum).map_err(|source| disk(path, source))?;
        Ok(sum.checked(path))
    }
}

/// A writer that tracks the length and checksum of what it wrote.
pub(super) struct Summed<W> {
    inner: W,
    pub(super) bytes: u64,
    sum: Sha256,
}

impl<W: Write> Summed<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, bytes: 0, sum: Sha256::new() }
    }

    pub(super) fn checked(self, path: &Path) -> Checked {
        Checked { path: path.to_owned(), bytes: self.bytes, sha256: hex(&self.sum.finalize()) }
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.inner.write(bytes)?;
        let written = bytes.get(..n_written).unwrap_or(bytes);
        self.sum.update(written);
        self.bytes += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The staging folder of one model, locked for one process at a time.
#[derive(Debug)]
pub(super) struct Staging {
    pub(super) dir: PathBuf,
    /// Holds the lock while it is open.
    _lock: File,
}

impl Staging {
    pub(super) fn open(folder: &ModelFolder, name: &str) -> Result<Self, PullError> {
        let dir = folder.path().join(STAGING).join(name);
        make_dir(&dir)?;
        let path = dir.join("lock");
        let lock = File::create(&path).map_err(|source| disk(&path, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { dir, _lock: lock }),
            Err(std::fs::TryLockError::WouldBlock) => Err(PullError::Busy { name: name.to_owned() }),
            Err(std::fs::TryLockError::Error(source)) => Err(disk(&path, source)),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Opens a new file, or a partial one from an earlier attempt, for appending.
    pub(super) fn append(&self, name: &str) -> Result<(File, u64), PullError> {
        let path = self.path(name);
        let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let file = opened.map_err(|source| disk(&path, source))?;
        let bytes = file.metadata().map_err(|source| disk(&path, source))?.len();
        Ok((file, bytes))
    }

    pub(super) fn create(&self, name: &str) -> Result<File, PullError> {
        let path = self.path(name);
        File::create(&path).map_err(|source| disk(&path, source))
    }

    pub(super) fn open_file(&self, name: &str) -> Result<File, PullError> {
        let path = self.path(name);
        File::open(&path).map_err(|source| disk(&path, source))
    }

    pub(super) fn remove(&self, name: &str) {
        drop(std::fs::remove_file(self.path(name)));
    }

    pub(super) fn clear(&self) {
        for name in self.names().iter().filter(|name| *name != "lock") {
            self.remove(name);
        }
    }

    /// Moves a verified file to its final path, if it is a model, and cleans up.
    pub(super) fn finish(self, checked: &Checked, path: &Path) -> Result<(), PullError> {
        if let Err(source) = read_header(&checked.path) {
            self.clear();
            return Err(PullError::NotModel { path: checked.path.clone(), source });
        }
        let file = File::open(&checked.path).and_then(|file| file.sync_all());
        file.map_err(|source| disk(&checked.path, source))?;
        self.move_to(&checked.path, path)
    }

    pub(super) fn place(self, name: &str, path: &Path) -> Result<(), PullError> {
        let staged = self.path(name);
        self.move_to(&staged, path)
    }

    fn move_to(self, staged: &Path, path: &Path) -> Result<(), PullError> {
        std::fs::rename(staged, path).map_err(|source| disk(path, source))?;
        drop(std::fs::remove_dir_all(&self.dir));
        Ok(())
    }

    pub(super) fn copy(self, source: &Path, path: &Path) -> Result<(), PullError> {
        let mut from = File::open(source).map_err(|error| disk(source, error))?;
        let copied = self.path("copy");
        let mut to = Summed::new(self.create("copy")?);
        io::copy(&mut from, &mut to).map_err(|error| disk(&copied, error))?;
        let checked = to.checked(&copied);
        self.finish(&checked, path)
    }
}

pub(super) fn make_dir(dir: &Path) -> Result<(), PullError> {
    std::fs::create_dir_all(dir).map_err(|source| disk(dir, source))
}

pub(super) fn link(source: &Path, path: &Path) -> Result<(), PullError> {
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(source, path);
    #[cfg(not(unix))]
    let linked = std::fs::copy(source, path).map(drop);
    linked.map_err(|error| disk(path, error))
}

pub(super) fn disk(path: &Path, source: io::Error) -> PullError {
    if source.kind() == io::ErrorKind::NotFound {
        return PullError::FileMissing { path: path.to_owned() };
    }
    PullError::Disk { path: path.to_owned(), source }
}
