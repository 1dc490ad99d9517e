//! The bytes under a reader: an open file read at positions, or bytes in memory. Nothing is mapped: a file that is cut
//! short under a map kills the process, under a read it is an error.
#![expect(clippy::disallowed_methods, reason = "documents are read here, on behalf of the sources")]

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::ReadError;

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
    },
    Memory(Arc<[u8]>),
    /// A file whose text was decoded, extracted or unpacked into memory. It goes stale like any other.
    Decoded {
        text: Arc<[u8]>,
        path: PathBuf,
        revision: Revision,
    },
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
        let file = File::open(path).map_err(from_io)?;
        let revision = Revision::of(&file.metadata().map_err(from_io)?);
        Ok(Self::File { file, path: path.to_owned(), revision })
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
            Self::File { revision, .. } => revision.bytes,
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
            Self::File { path, revision, .. } | Self::Decoded { path, revision, .. } => {
                Self::Decoded { text, path, revision }
            }
            Self::Memory(_) => Self::Memory(text),
        }
    }

    /// Whether the file under that path is another than was opened, or gone.
    pub(super) fn is_stale(&self) -> bool {
        match self {
            Self::File { path, revision, .. } | Self::Decoded { path, revision, .. } => {
                path.metadata().map_or(true, |metadata| Revision::of(&metadata) != *revision)
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
