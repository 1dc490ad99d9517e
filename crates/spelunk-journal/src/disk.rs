//! The disk: seven operations are all that durable state needs, which keeps fault injection small. Names are relative
//! and use `/`; `FileDisk` follows no links (`spelunk-fs`).

use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

use spelunk_fs::{Durability, PrivateDir};

/// Durable bytes under names.
pub trait Disk: Send + Sync {
    /// Writes a whole file so that it is either there, synced, or not there at all.
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Writes a whole file as `create` does, but does not wait for it to be durable: a power cut may leave none of it, or
    /// half. For what carries its own checksum and can be done without.
    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Adds bytes at the end, making the file if need be. Not durable before `sync`.
    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything appended so far durable.
    fn sync(&self, name: &str) -> io::Result<()>;
    /// Cuts the file, durably.
    fn truncate(&self, name: &str, len: u64) -> io::Result<()>;
    /// The whole file, or `None` if there is none.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
    /// Up to so many bytes of the file from a place in it on, or `None` if there is no file.
    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>>;
}

/// A directory of the real file system.
#[derive(Debug)]
pub struct FileDisk {
    dir: PrivateDir,
}

/// Where a file is written before it takes its place.
pub(crate) const STAGING: &str = "tmp";

impl FileDisk {
    /// The directory is made when first written to.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { dir: PrivateDir::new(root) }
    }

    /// The files of this directory.
    pub fn of(dir: PrivateDir) -> Self {
        Self { dir }
    }

    /// The directory itself, for what is not among the disk's operations.
    pub fn dir(&self) -> &PrivateDir {
        &self.dir
    }

    fn write_whole(&self, name: &str, bytes: &[u8], durability: Durability) -> io::Result<()> {
        replace(&self.dir, (STAGING, ""), name, bytes, durability)
    }
}

/// Writes the bytes to a file of its own in `folder`, under a name that begins with `prefix`, and gives it its name once
/// they are whole.
pub(crate) fn replace(
    dir: &PrivateDir,
    (folder, prefix): (&str, &str),
    name: &str,
    bytes: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let (mut file, staged) = dir.stage(folder, prefix)?;
    let mut written = file.write_all(bytes);
    if durability == Durability::Synced {
        written = written.and_then(|()| file.sync_all());
    }
    drop(file);
    written.and_then(|()| dir.rename(&staged, name, durability)).inspect_err(|_| {
        // The staged file is worthless; the first error is the one to tell.
        drop(dir.remove_file(&staged));
    })
}

impl Disk for FileDisk {
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_whole(name, bytes, Durability::Synced)
    }

    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_whole(name, bytes, Durability::Unsynced)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = match self.dir.open_to_append(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match self.dir.create_new(name, Durability::Synced) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        self.dir.open_to_append(name)?
                    }
                    created => created?,
                }
            }
            opened => opened?,
        };
        file.write_all(bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.dir.open_to_append(name)?.sync_data()
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

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(there) => Ok(Some(there)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
