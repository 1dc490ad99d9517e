//! The bytes under a reader: an open file read at positions, or bytes in memory. Nothing is mapped: a file that is cut
//! short under a map kills the process, under a read it is an error.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use spelunk_types::BlobId;

use super::ReadError;
use crate::scan_read::{begins_as_scanned, open_regular};
use crate::{DocEntry, sample};

/// What a file was when it was opened. Two revisions that are equal are taken for the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision {
    /// The size on disk, or of the bytes in memory.
    pub bytes: u64,
    /// When it was last written; nothing for bytes in memory, and where the system does not say.
    pub modified: Option<SystemTime>,
}

impl Revision {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// Where the bytes are.
#[derive(Debug)]
pub(super) enum Raw {
    File {
        file: File,
        path: PathBuf,
        revision: Revision,
        /// How much of it is read, whatever is appended to it meanwhile.
        pinned: Option<Pinned>,
    },
    Memory(Arc<[u8]>),
    /// A file whose text was decoded, extracted or unpacked into memory. It goes stale like any other.
    Decoded {
        text: Arc<[u8]>,
        path: PathBuf,
        revision: Revision,
        pinned: Option<Pinned>,
    },
}

/// A document of which the first bytes are read, and what is appended to its file is not.
#[derive(Debug)]
pub(super) struct Pinned {
    document: DocEntry,
    /// Which file it is, where the system says.
    identity: Option<(u64, u64)>,
    seen: Mutex<Seen>,
}

/// The file when it was last found to begin as it did.
#[derive(Debug)]
struct Seen {
    revision: Revision,
    /// Samples of the first bytes, taken when it was first found to have grown.
    samples: Option<BlobId>,
}

impl Pinned {
    /// Whether the first bytes may be others by now. A file that was only appended to has kept them; its hash is looked at
    /// once, and samples each time that it has grown since.
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
        *seen = Seen { revision: now, samples: Some(samples) };
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
    /// Opens only a regular file: a pipe would block for ever.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let from_io = |error| ReadError::from_io(path, error);
        let metadata = path.metadata().map_err(from_io)?;
        if metadata.is_dir() {
            return Err(ReadError::Directory { path: path.to_owned() });
        }
        if !metadata.is_file() {
            return Err(ReadError::Special { path: path.to_owned() });
        }
        let file = spelunk_fs::open_to_read(path).map_err(from_io)?;
        let revision = Revision::of(&file.metadata().map_err(from_io)?);
        Ok(Self::File { file, path: path.to_owned(), revision, pinned: None })
    }

    /// Opens a file of which only the first bytes are read: those that were scanned. Nothing where they are others now.
    pub(super) fn open_scanned(path: &Path, document: &DocEntry) -> Result<Option<Self>, ReadError> {
        let Self::File { file, path, revision, .. } = Self::open(path)? else { return Ok(None) };
        let metadata = file.metadata().map_err(|error| ReadError::from_io(&path, error))?;
        // To read a file through each time it is opened would cost more than it is worth: its hash is looked at only if
        // it is longer than it was.
        let as_scanned = Revision { bytes: document.bytes, ..revision };
        let pinned = Pinned {
            document: document.clone(),
            identity: identity(&metadata),
            seen: Mutex::new(Seen { revision: as_scanned, samples: None }),
        };
        let is_stale = pinned.is_stale(&path, &metadata);
        Ok((!is_stale).then_some(Self::File { file, path, revision, pinned: Some(pinned) }))
    }

    pub(super) fn revision(&self) -> Revision {
        match self {
            Self::File { revision, .. } | Self::Decoded { revision, .. } => *revision,
            Self::Memory(bytes) => Revision { bytes: bytes.len() as u64, modified: None },
        }
    }

    /// How many bytes there are to read; for a decoded file, how many its text has.
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

    /// The same file with its decoded text instead of its bytes.
    pub(super) fn decoded(self, text: String) -> Self {
        let text = text.into_bytes().into();
        match self {
            Self::File { path, revision, pinned, .. } | Self::Decoded { path, revision, pinned, .. } => {
                Self::Decoded { text, path, revision, pinned }
            }
            Self::Memory(_) => Self::Memory(text),
        }
    }

    /// Whether the file under that path is another than was opened, or gone.
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

    /// Fills the buffer from `at`, or less of it where the bytes end.
    pub(super) fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        match self {
            Self::File { file, path, .. } => {
                fill_at(file, at, buffer).map_err(|error| ReadError::from_io(path, error))
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

fn fill_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match read_some_at(file, at + n_read as u64, &mut buffer[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

#[cfg(unix)]
fn read_some_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_some_at(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
