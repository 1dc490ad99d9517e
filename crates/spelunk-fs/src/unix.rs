//! The operations on Unix: all are relative to an open directory, and none follows a link.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is where private directories touch the file system"
)]

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::{Entry, EntryKind, Flags, not_plain};

#[derive(Debug)]
pub(crate) struct At(OwnedFd);

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// `NONBLOCK`: opening a pipe must not wait for its other end.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl At {
    pub(crate) fn root(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, DIRECTORY, Mode::empty())?))
    }

    pub(crate) fn enter(&self, name: &str) -> io::Result<Self> {
        match rustix::fs::openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(directory) => Ok(Self(directory)),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(not_plain(name)),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn open(&self, name: &str, flags: Flags) -> io::Result<File> {
        let flags = match flags {
            Flags::Read => OFlags::RDONLY,
            Flags::Write => OFlags::RDWR,
            Flags::Append => OFlags::WRONLY | OFlags::APPEND,
            Flags::Create => OFlags::RDWR | OFlags::CREATE,
            Flags::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        let opened = rustix::fs::openat(&self.0, name, flags | FILE, Mode::RUSR | Mode::WUSR);
        let file = match opened {
            Ok(file) => File::from(file),
            Err(Errno::LOOP | Errno::NXIO) => return Err(not_plain(name)),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.is_file() { Ok(file) } else { Err(not_plain(name)) }
    }

    pub(crate) fn make_dir(&self, name: &str) -> io::Result<()> {
        match rustix::fs::mkdirat(&self.0, name, Mode::RWXU) {
            // Another thread created it first.
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn rename(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &target.0, to)?)
    }

    pub(crate) fn link(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        rustix::fs::linkat(&self.0, from, &target.0, to, AtFlags::empty())?;
        Ok(rustix::fs::chmodat(&target.0, to, Mode::RUSR, AtFlags::empty())?)
    }

    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_dir(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn entry(&self, name: &str) -> io::Result<Entry> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(entry(name, &stat))
    }

    pub(crate) fn list(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for found in Dir::read_from(&self.0)? {
            let found = found?;
            let Ok(name) = found.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            match self.entry(name) {
                Ok(entry) => entries.push(entry),
                // Removed in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}

fn entry(name: &str, stat: &Stat) -> Entry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => EntryKind::Other,
    };
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    Entry {
        name: name.to_owned(),
        kind,
        len: u64::try_from(stat.st_size).unwrap_or(0),
        modified: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds.min(999_999_999)),
    }
}

pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    match rustix::fs::open(path, FILE | OFlags::RDONLY, Mode::empty()) {
        Err(Errno::LOOP | Errno::NXIO) => Err(absent()),
        opened => Some(File::from(opened?))
            .filter(|file| file.metadata().is_ok_and(|at| at.is_file()))
            .ok_or_else(absent),
    }
}

/// The owner of a file or directory if it is not the user running this process. Links are not followed.
pub(crate) fn other_owner(path: &Path) -> io::Result<Option<u32>> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = std::fs::symlink_metadata(path)?.uid();
    Ok((owner != rustix::process::geteuid().as_raw()).then_some(owner))
}

/// Creates the root and its parents, syncing each into its parent on request.
pub(crate) fn make_root(path: &Path, is_synced: bool) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(Ok(()), |parent| make_root(parent, is_synced))?;
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) if is_synced => File::open(parent.unwrap_or(Path::new(".")))?.sync_all(),
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
