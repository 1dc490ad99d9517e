//! Access to a private directory. Someone who can place files in it, such as the author of a cloned repository, must
//! not be able to redirect what the program reads, writes or deletes. Every name is resolved one component at a time
//! below the opened root, and a symbolic link anywhere in it is an error. Only regular files are opened. Directories
//! are created with mode 0700 and files with 0600, because they hold prompts and documents.

mod lock;
#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use lock::{LockError, lock_file, lock_within};
#[cfg(not(unix))]
use portable as system;
use system::At;
#[cfg(unix)]
use unix as system;

/// A directory and whether it may be changed.
#[derive(Debug, Clone)]
pub struct PrivateDir {
    root: PathBuf,
    is_read_only: bool,
}

impl From<&Path> for PrivateDir {
    fn from(root: &Path) -> Self {
        Self::new(root)
    }
}

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, a pipe, a socket or a device.
    Other,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name within the directory.
    pub name: String,
    /// Its type. Links are not followed.
    pub kind: EntryKind,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last modified.
    pub modified: SystemTime,
}

/// How durable a new directory must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Synced to disk when the call returns.
    Synced,
    /// Written whenever the operating system does so.
    Unsynced,
}

#[derive(Debug, Clone, Copy)]
enum Flags {
    Read,
    Write,
    Append,
    Create,
    CreateNew,
}

const STAGE_ATTEMPTS_MAX: u32 = 100;
/// How deep [`PrivateDir::files_below`] descends. Nothing we write is deeper.
const DEPTH_MAX: usize = 32;

impl PrivateDir {
    /// The directory at `root`, which need not exist. Links in `root` itself belong to the caller and are followed.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), is_read_only: false }
    }

    /// The same directory, but every change fails with [`io::ErrorKind::PermissionDenied`].
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Whether every change is refused.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The path of the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens a file for reading.
    pub fn open(&self, name: &str) -> io::Result<File> {
        let (parent, last) = self.parent(name)?;
        parent.open(last, Flags::Read)
    }

    /// Opens an existing file for reading and writing.
    pub fn open_to_write(&self, name: &str) -> io::Result<File> {
        let (parent, last) = self.parent_to_change(name)?;
        parent.open(last, Flags::Write)
    }

    /// Opens a file for reading and writing, creating it if necessary.
    pub fn open_or_create(&self, name: &str) -> io::Result<File> {
        let (parent, last) = self.make_parent(name, Durability::Unsynced)?;
        parent.open(last, Flags::Create)
    }

    /// Opens an existing file for appending.
    pub fn open_to_append(&self, name: &str) -> io::Result<File> {
        let (parent, last) = self.parent_to_change(name)?;
        parent.open(last, Flags::Append)
    }

    /// Appends bytes to a file in one write, creating it if necessary.
    pub fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = match self.open_to_append(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match self.create_new(name, Durability::Unsynced) {
                    // Another process created it first.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        self.open_to_append(name)?
                    }
                    created => created?,
                }
            }
            opened => opened?,
        };
        file.write_all(bytes)
    }

    /// Creates a file; it is an error if it already exists.
    pub fn create_new(&self, name: &str, durability: Durability) -> io::Result<File> {
        let (parent, last) = self.make_parent(name, durability)?;
        let file = parent.open(last, Flags::CreateNew)?;
        if durability == Durability::Synced {
            parent.sync()?;
        }
        Ok(file)
    }

    /// Creates a file with an unpredictable name in the directory `folder` (`""` is the root). Returns the name.
    pub fn stage(&self, folder: &str, prefix: &str) -> io::Result<(File, String)> {
        for _ in 0..STAGE_ATTEMPTS_MAX {
            let random = RandomState::new().hash_one(std::process::id());
            let name = join(folder, &format!("{prefix}{random:016x}"));
            match self.create_new(&name, Durability::Unsynced) {
                Ok(file) => return Ok((file, name)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Replaces a whole file: writes a file in `folder` whose name begins with `prefix`, then renames it.
    pub fn replace(
        &self,
        (folder, prefix): (&str, &str),
        name: &str,
        bytes: &[u8],
        durability: Durability,
    ) -> io::Result<()> {
        let (mut file, staged) = self.stage(folder, prefix)?;
        let mut written = file.write_all(bytes);
        if durability == Durability::Synced {
            written = written.and_then(|()| file.sync_all());
        }
        drop(file);
        written.and_then(|()| self.rename(&staged, name, durability)).inspect_err(|_| {
            // The staged file is worthless; the first error is the one to report.
            drop(self.remove_file(&staged));
        })
    }

    /// Renames a file or directory, replacing any file or link at the target. Links are not followed.
    pub fn rename(&self, from: &str, to: &str, durability: Durability) -> io::Result<()> {
        let (source, from) = self.parent_to_change(from)?;
        let (target, to) = self.make_parent(to, durability)?;
        source.rename(from, &target, to)?;
        if durability == Durability::Synced { target.sync() } else { Ok(()) }
    }

    /// Hard-links a file to the free name `to` and makes it read-only. Not supported everywhere.
    pub fn link(&self, from: &str, to: &str) -> io::Result<()> {
        let (source, from) = self.parent(from)?;
        let (target, to) = self.make_parent(to, Durability::Unsynced)?;
        source.link(from, &target, to)
    }

    /// Makes the name of the root durable.
    pub fn sync_root(&self) -> io::Result<()> {
        let parent = self.root.parent().filter(|parent| !parent.as_os_str().is_empty());
        match At::root(parent.unwrap_or(Path::new("."))) {
            // A process that cannot read the parent did not create the root in it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            parent => parent?.sync(),
        }
    }

    /// Makes a file's name durable: syncs the files in the root and every directory on its path.
    pub fn sync_name(&self, name: &str) -> io::Result<()> {
        let parts = parts(name)?;
        let (_, above) = parts.split_last().ok_or_else(|| invalid(name))?;
        let mut at = At::root(&self.root)?;
        for entry in at.list()?.into_iter().filter(|entry| entry.kind == EntryKind::File) {
            if_there(at.open(&entry.name, Flags::Read).and_then(|file| file.sync_all()))?;
        }
        at.sync()?;
        for part in above {
            at = at.enter(part)?;
            at.sync()?;
        }
        Ok(())
    }

    /// Creates a directory and its parents.
    pub fn make_dir(&self, name: &str, durability: Durability) -> io::Result<()> {
        self.check_writable(name)?;
        self.walk(&parts(name)?, Some(durability)).map(drop)
    }

    /// Removes one file or link. Links are not followed.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        let (parent, last) = self.parent_to_change(name)?;
        parent.remove_file(last)
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: &str) -> io::Result<()> {
        let (parent, last) = self.parent_to_change(name)?;
        parent.remove_dir(last)
    }

    /// Removes a file, or a directory and its contents. Succeeds if nothing exists at this name.
    pub fn remove_all(&self, name: &str) -> io::Result<()> {
        self.check_writable(name)?;
        if_there(self.parent(name).and_then(|(parent, last)| remove_all(&parent, last))).map(drop)
    }

    /// The entry at this name, or `None`.
    pub fn entry(&self, name: &str) -> io::Result<Option<Entry>> {
        if_there(self.parent(name).and_then(|(parent, last)| parent.entry(last)))
    }

    /// Whether this name is a regular file.
    pub fn is_file(&self, name: &str) -> bool {
        matches!(self.entry(name), Ok(Some(Entry { kind: EntryKind::File, .. })))
    }

    /// The entries of a directory (`""` is the root) by name; empty if absent. Only UTF-8 names are listed.
    pub fn list(&self, name: &str) -> io::Result<Vec<Entry>> {
        let mut entries =
            if_there(self.walk(&parts(name)?, None).and_then(|at| at.list()))?.unwrap_or_default();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The regular files below a directory, with their paths from the root, sorted; empty if it is absent.
    pub fn files_below(&self, name: &str) -> io::Result<Vec<(String, Entry)>> {
        let mut files = self.leaves_below(name)?;
        files.retain(|(_, entry)| entry.kind == EntryKind::File);
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(files)
    }

    /// The first entry below a directory (`""` is the root) that is neither a regular file nor a directory.
    pub fn first_special(&self, name: &str) -> io::Result<Option<String>> {
        let mut leaves = self.leaves_below(name)?.into_iter();
        Ok(leaves.find(|(_, entry)| entry.kind != EntryKind::File).map(|(name, _)| name))
    }

    /// Everything below a directory that is not a directory, and the directories that are too deep to enter.
    fn leaves_below(&self, name: &str) -> io::Result<Vec<(String, Entry)>> {
        let mut leaves = Vec::new();
        let mut folders = vec![(name.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for entry in self.list(&folder)? {
                let name = join(&folder, &entry.name);
                if entry.kind == EntryKind::Directory && depth < DEPTH_MAX {
                    folders.push((name, depth + 1));
                } else {
                    leaves.push((name, entry));
                }
            }
        }
        Ok(leaves)
    }

    /// A directory's path, for a library; created if necessary. Fails if it is or contains a link.
    pub fn plain_dir(&self, name: &str) -> io::Result<PathBuf> {
        if self.is_read_only() {
            drop(self.walk(&parts(name)?, None)?);
        } else {
            self.make_dir(name, Durability::Unsynced)?;
        }
        match self.first_special(name)? {
            None => Ok(self.root.join(name)),
            Some(special) => Err(not_plain(&special)),
        }
    }

    fn check_writable(&self, name: &str) -> io::Result<()> {
        if self.is_read_only() {
            let message = format!("`{name}` is in a directory that was opened read-only");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Ok(())
    }

    fn parent<'n>(&self, name: &'n str) -> io::Result<(At, &'n str)> {
        let parts = parts(name)?;
        let (last, above) = parts.split_last().ok_or_else(|| invalid(name))?;
        Ok((self.walk(above, None)?, last))
    }

    fn parent_to_change<'n>(&self, name: &'n str) -> io::Result<(At, &'n str)> {
        self.check_writable(name)?;
        self.parent(name)
    }

    fn make_parent<'n>(&self, name: &'n str, durability: Durability) -> io::Result<(At, &'n str)> {
        self.check_writable(name)?;
        let parts = parts(name)?;
        let (last, above) = parts.split_last().ok_or_else(|| invalid(name))?;
        Ok((self.walk(above, Some(durability))?, last))
    }

    /// Opens one directory after another. Creates missing ones if `make` says how durable they must be.
    fn walk(&self, parts: &[&str], make: Option<Durability>) -> io::Result<At> {
        let mut at = match At::root(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && make.is_some() => {
                system::make_root(&self.root, make == Some(Durability::Synced))?;
                At::root(&self.root)?
            }
            opened => opened?,
        };
        for part in parts {
            at = match at.enter(part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && make.is_some() => {
                    at.make_dir(part)?;
                    if make == Some(Durability::Synced) {
                        at.sync()?;
                    }
                    at.enter(part)?
                }
                entered => entered?,
            };
        }
        Ok(at)
    }
}

/// Whether a file or directory is owned by the user running this process. Links are not followed.
pub fn is_own(path: &Path) -> io::Result<bool> {
    Ok(system::other_owner(path)?.is_none())
}

/// Whether a file or directory is owned by that user or by root, who could do anything anyway.
pub fn is_own_or_roots(path: &Path) -> io::Result<bool> {
    Ok(system::other_owner(path)?.is_none_or(|owner| owner == 0))
}

/// Opens a regular file of any owner. One that would block, such as `/proc/kmsg`, fails when it is read.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    system::open_to_read(path)
}

/// Opens a regular file, but not by a link: to the caller, anything else does not exist. A pipe that replaced a file
/// would block forever.
pub fn open_regular(path: &Path) -> io::Result<File> {
    system::open_regular(path)
}

fn remove_all(parent: &At, name: &str) -> io::Result<()> {
    if parent.entry(name)?.kind != EntryKind::Directory {
        return parent.remove_file(name);
    }
    let directory = parent.enter(name)?;
    for entry in directory.list()? {
        remove_all(&directory, &entry.name)?;
    }
    parent.remove_dir(name)
}

/// The components of a name. Only plain ones are allowed.
fn parts(name: &str) -> io::Result<Vec<&str>> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let is_plain =
        |part: &&str| !part.is_empty() && *part != "." && *part != ".." && !part.contains(['\\', '\0']);
    let parts: Vec<&str> = name.split('/').collect();
    if parts.iter().all(is_plain) { Ok(parts) } else { Err(invalid(name)) }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn invalid(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is not a valid name in a directory"))
}

/// Links, pipes and devices are not ours: we never create one.
fn not_plain(name: &str) -> io::Error {
    let message = format!("`{name}` is a symbolic link or a special file; remove it");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The result, or `None` if the file or directory does not exist.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(there) => Ok(Some(there)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(all(test, unix))]
mod tests;
