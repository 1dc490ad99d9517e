//! The operations for systems without Unix directory handles: names are checked for links just before they are used.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is where private directories touch the file system"
)]

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{Entry, EntryKind, Flags, not_plain};

/// A directory that was not a link when it was entered.
#[derive(Debug)]
pub(crate) struct At(PathBuf);

impl At {
    pub(crate) fn root(path: &Path) -> io::Result<Self> {
        if path.metadata()?.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub(crate) fn enter(&self, name: &str) -> io::Result<Self> {
        let is_dir = self.entry(name)?.kind == EntryKind::Directory;
        if is_dir { Ok(Self(self.0.join(name))) } else { Err(not_plain(name)) }
    }

    pub(crate) fn open(&self, name: &str, flags: Flags) -> io::Result<File> {
        match self.entry(name) {
            Ok(entry) if entry.kind != EntryKind::File => return Err(not_plain(name)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let mut options = OpenOptions::new();
        match flags {
            Flags::Read => options.read(true),
            Flags::Write => options.read(true).write(true),
            Flags::Append => options.append(true),
            Flags::Create => options.read(true).write(true).create(true).truncate(false),
            Flags::CreateNew => options.read(true).write(true).create_new(true),
        };
        options.open(self.0.join(name))
    }

    pub(crate) fn make_dir(&self, name: &str) -> io::Result<()> {
        match std::fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub(crate) fn rename(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), target.0.join(to))
    }

    /// Unsupported: a read-only file cannot be removed here.
    pub(crate) fn link(&self, _from: &str, _target: &Self, _to: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    pub(crate) fn remove_dir(&self, name: &str) -> io::Result<()> {
        std::fs::remove_dir(self.0.join(name))
    }

    pub(crate) fn entry(&self, name: &str) -> io::Result<Entry> {
        Ok(entry(name, &std::fs::symlink_metadata(self.0.join(name))?))
    }

    pub(crate) fn list(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for found in std::fs::read_dir(&self.0)? {
            if let Ok(name) = found?.file_name().into_string() {
                entries.push(self.entry(&name)?);
            }
        }
        Ok(entries)
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "directories cannot be synced here")]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn entry(name: &str, metadata: &Metadata) -> Entry {
    let kind = match metadata {
        file if file.is_file() => EntryKind::File,
        directory if directory.is_dir() => EntryKind::Directory,
        _ => EntryKind::Other,
    };
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Entry { name: name.to_owned(), kind, len: metadata.len(), modified }
}

pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_file() { open_to_read(path) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Ownership cannot be determined on this system.
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
pub(crate) fn other_owner(_path: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}

pub(crate) fn make_root(path: &Path, _is_synced: bool) -> io::Result<()> {
    std::fs::create_dir_all(path)
}
