//! The scratch directory of a corpus, for text that had to be unpacked or extracted. Only its owner can enter it, and
//! it is removed with the corpus. Its files are named by number, never after archive entries.
#![expect(
    clippy::disallowed_methods,
    reason = "unpacked text is neither durable nor a source: it lives here"
)]

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// Created with its first file. Shared by threads.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    directory: Option<TempDir>,
    n_files: u64,
    bytes: u64,
}

impl Scratch {
    /// The disk space for all unpacked and extracted text of one scan.
    pub(crate) const BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

    pub(crate) fn create(&self) -> io::Result<(File, PathBuf)> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = match inner.directory.take() {
            Some(directory) => directory,
            None => private_directory()?,
        };
        let path = directory.path().join(format!("{:06}", inner.n_files));
        inner.directory = Some(directory);
        inner.n_files += 1;
        drop(inner);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok((file, path))
    }

    /// Reserves space for bytes about to be written; false if there is not enough.
    pub(crate) fn reserve(&self, bytes: u64) -> bool {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.bytes = inner.bytes.saturating_add(bytes);
        inner.bytes <= Self::BYTES_MAX
    }

    /// Removes a file that is not needed. All others are removed with the directory.
    pub(crate) fn discard(path: &Path) {
        drop(std::fs::remove_file(path));
    }
}

fn private_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("spelunk-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

#[cfg(test)]
mod tests;
