//! The disk: durable state needs only nine operations, which keeps fault injection small. Names are relative and use
//! `/`; `FileDisk` follows no links (`spelunk-fs`).

use std::io::{self, Read, Seek};
use std::path::PathBuf;

use spelunk_fs::{Durability, PrivateDir, if_there};

/// Durable named files.
pub trait Disk: Send + Sync {
    /// Writes a whole file atomically: afterwards it is either complete and synced, or absent.
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Like `create`, but a power cut may lose some or all of it: for expendable data with its own checksum.
    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Appends bytes, creating the file if necessary. Not durable until `sync`, nor a new file until `sync_name`.
    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything in the file durable.
    fn sync(&self, name: &str) -> io::Result<()>;
    /// Makes the names of a file and of its directories durable, and the files in the root.
    fn sync_name(&self, name: &str) -> io::Result<()>;
    /// Truncates the file, durably.
    fn truncate(&self, name: &str, len: u64) -> io::Result<()>;
    /// The whole file, or `None` if it does not exist.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
    /// Whether the file has these bytes and need not be written.
    fn holds(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        Ok(self.read(name)?.as_deref() == Some(bytes))
    }
    /// Up to `bytes_max` bytes of the file starting at `from`, or `None` if it does not exist.
    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>>;
}

/// A directory of the real file system.
#[derive(Debug)]
pub struct FileDisk {
    dir: PrivateDir,
}

/// Where files are written before they are renamed into place.
pub(crate) const STAGING: &str = "tmp";

impl FileDisk {
    /// The directory is created on the first write.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { dir: PrivateDir::new(root) }
    }

    /// The files of this directory.
    pub fn of(dir: PrivateDir) -> Self {
        Self { dir }
    }

    /// The directory itself, for operations that the disk does not have.
    pub fn dir(&self) -> &PrivateDir {
        &self.dir
    }
}

impl Disk for FileDisk {
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.dir.replace((STAGING, ""), name, bytes, Durability::Synced)
    }

    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.dir.replace((STAGING, ""), name, bytes, Durability::Unsynced)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.dir.append(name, bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.dir.open_to_append(name)?.sync_data()
    }

    fn sync_name(&self, name: &str) -> io::Result<()> {
        self.dir.sync_name(name)
    }

    fn truncate(&self, name: &str, len: u64) -> io::Result<()> {
        let file = self.dir.open_to_write(name)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = if_there(self.dir.open(name))? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = if_there(self.dir.open(name))? else { return Ok(None) };
        file.seek(io::SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(bytes_max as u64).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}
