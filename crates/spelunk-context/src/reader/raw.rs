//! The bytes beneath a reader: an open file with positioned reads, or bytes in memory. Files are not memory-mapped:
//! truncating a mapped file kills the process, while a read returns an error.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use spelunk_types::BlobId;

use super::ReadError;
use crate::scan_read::{begins_as_scanned, fill, open_regular, sample};
use crate::{DocEntry, SourceError};

/// The state of a file when it was opened. Equal revisions are assumed to have the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Revision {
    bytes: u64,
    /// `None` if the system does not provide it.
    modified: Option<SystemTime>,
}

impl Revision {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

#[derive(Debug)]
pub(super) enum Raw {
    File {
        file: File,
        path: PathBuf,
        revision: Revision,
        /// The limit up to which it is read, whatever is appended meanwhile.
        pinned: Option<Pinned>,
    },
    Memory(Arc<[u8]>),
    /// A file whose text was decoded, extracted or unpacked into memory. It can become stale like any other.
    Decoded {
        text: Arc<[u8]>,
        path: PathBuf,
        revision: Revision,
        pinned: Option<Pinned>,
    },
}

/// A document of which only the scanned bytes are read, not those appended to its file later.
#[derive(Debug)]
pub(super) struct Pinned {
    document: DocEntry,
    identity: Option<(u64, u64)>,
    seen: Mutex<VerifiedFile>,
}

#[derive(Debug)]
struct VerifiedFile {
    revision: Revision,
    /// Samples of the first bytes, taken when growth was first detected.
    samples: Option<BlobId>,
}

impl Pinned {
    /// Whether the first bytes may have changed. After growth, the hash is checked once, then samples.
    fn is_stale(&self, path: &Path, metadata: &Metadata) -> bool {
        let now = Revision::of(metadata);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if self.identity != identity(metadata) || now == seen.revision {
            return self.identity != identity(metadata);
        }
        if now.bytes <= seen.revision.bytes {
            return true;
        }
        let looked = open_regular(path).and_then(|file| {
            let samples = sample::digest(&file, self.document.bytes, None)?;
            let is_same = match &seen.samples {
                Some(known) => *known == samples,
                None => begins_as_scanned(&self.document, &file)?,
            };
            Ok(is_same.then_some(samples))
        });
        let Ok(Some(samples)) = looked else { return true };
        *seen = VerifiedFile { revision: now, samples: Some(samples) };
        false
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not say")]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

impl Raw {
    /// Opens only a regular file: a pipe would block forever.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let from_io = |error| SourceError::from_io(path, error);
        let metadata = path.metadata().map_err(from_io)?;
        if metadata.is_dir() {
            return Err(ReadError::Directory { path: path.to_owned() });
        }
        if !metadata.is_file() {
            return Err(SourceError::Special { path: path.to_owned() }.into());
        }
        let file = spelunk_fs::open_to_read(path).map_err(from_io)?;
        let revision = Revision::of(&file.metadata().map_err(from_io)?);
        Ok(Self::File { file, path: path.to_owned(), revision, pinned: None })
    }

    /// Opens a file of which only the scanned bytes are read. `None` if they have changed.
    pub(super) fn open_scanned(path: &Path, document: &DocEntry) -> Result<Option<Self>, ReadError> {
        let Self::File { file, path, revision, .. } = Self::open(path)? else { return Ok(None) };
        let metadata = file.metadata().map_err(|error| SourceError::from_io(&path, error))?;
        // Reading the whole file at every open would be too expensive: its hash is checked only if it has grown.
        let as_scanned = Revision { bytes: document.bytes, ..revision };
        let pinned = Pinned {
            document: document.clone(),
            identity: identity(&metadata),
            seen: Mutex::new(VerifiedFile { revision: as_scanned, samples: None }),
        };
        let is_stale = pinned.is_stale(&path, &metadata);
        Ok((!is_stale).then_some(Self::File { file, path, revision, pinned: Some(pinned) }))
    }

    /// The number of bytes to read; the text's length for a decoded file.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::File { revision, pinned, .. } => {
                pinned.as_ref().map_or(revision.bytes, |pinned| pinned.document.bytes)
            }
            Self::Memory(bytes) | Self::Decoded { text: bytes, .. } => bytes.len() as u64,
        }
    }

    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::File { .. } => 0,
            Self::Memory(bytes) | Self::Decoded { text: bytes, .. } => bytes.len() as u64,
        }
    }

    pub(super) fn decoded(self, text: String) -> Self {
        let text = text.into_bytes().into();
        match self {
            Self::File { path, revision, pinned, .. } | Self::Decoded { path, revision, pinned, .. } => {
                Self::Decoded { text, path, revision, pinned }
            }
            Self::Memory(_) => Self::Memory(text),
        }
    }

    pub(super) fn is_stale(&self) -> bool {
        match self {
            Self::File { path, revision, pinned, .. } | Self::Decoded { path, revision, pinned, .. } => {
                path.metadata().map_or(true, |metadata| match pinned {
                    None => Revision::of(&metadata) != *revision,
                    Some(pinned) => pinned.is_stale(path, &metadata),
                })
            }
            Self::Memory(_) => false,
        }
    }

    pub(super) fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        match self {
            Self::File { file, path, .. } => {
                let read = |n_read: usize, rest: &mut [u8]| read_some_at(file, at + n_read as u64, rest);
                Ok(fill(buffer, read).map_err(|error| SourceError::from_io(path, error))?)
            }
            Self::Memory(bytes) | Self::Decoded { text: bytes, .. } => {
                let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                let n_read = buffer.len().min(bytes.len() - from);
                buffer[..n_read].copy_from_slice(&bytes[from..from + n_read]);
                Ok(n_read)
            }
        }
    }
}

#[cfg(unix)]
fn read_some_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_some_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
