//! The revision of a file: a stamp from the file system without reading, and a digest that requires reading all of it.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::store::ContextRevision;

/// A file's revision as the file system reports it, without reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size_bytes: u64,
    pub(crate) modified_ns: Option<u128>,
    /// Distinguishes a file from another that took its name.
    pub(crate) inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        let modified = metadata.modified().ok();
        let modified_ns =
            modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|age| age.as_nanos());
        Self { size_bytes: metadata.len(), modified_ns, inode }
    }

    pub(crate) fn revision(&self) -> ContextRevision {
        let modified_ms = self.modified_ns.and_then(|ns| u64::try_from(ns / 1_000_000).ok());
        ContextRevision { size_bytes: self.size_bytes, modified_ms, digest: None }
    }
}

/// BLAKE3 of a file's bytes in hexadecimal. Streams the file.
pub(crate) fn digest_of_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(spelunk_fs::open_to_read(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
