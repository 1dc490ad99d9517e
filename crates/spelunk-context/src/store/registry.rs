//! The registry file: where the contexts of a store outlive their process. Written whole, to a temporary file that then
//! takes the name; a lock file keeps processes from writing over each other. Inline texts lie beside it, each under its
//! digest. No link in the directory is followed (`spelunk-fs`).

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use spelunk_fs::{Durability, Entry, EntryKind, PrivateDir};

use crate::error::is_absence;
use crate::store::StoreError;
use crate::store::revision::Stamp;

/// The registry of one storage root.
#[derive(Debug)]
pub(crate) struct RegistryFile {
    dir: PrivateDir,
    /// How long to wait for another process.
    lock_wait_max: Duration,
}

/// The right to write, held by this process alone. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct RegistryLock<'a> {
    file: &'a RegistryFile,
    _lock: File,
}

/// A registry that is larger than this is not one that we wrote.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// A write takes milliseconds, so this is soon enough.
const LOCK_POLL: Duration = Duration::from_millis(5);
/// As long as a number of a process may be.
const PID_BYTES_MAX: u64 = 20;
const NAME: &str = "registry.json";
const STAGED_PREFIX: &str = "registry.json.tmp-";
const STAGED_INLINE_PREFIX: &str = "inline.tmp-";

impl RegistryFile {
    pub(crate) fn new(dir: PrivateDir, lock_wait_max: Duration) -> Self {
        Self { dir, lock_wait_max }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.root()
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.dir.is_read_only()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root().join(NAME)
    }

    /// Where an inline text is, if it is a file of ours and no link.
    pub(crate) fn inline_path(&self, digest: &str) -> Option<PathBuf> {
        let name = inline_name(digest);
        self.dir.is_file(&name).then(|| self.root().join(name))
    }

    /// The file as it is now; `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<(Vec<u8>, Stamp)>, StoreError> {
        let path = self.path();
        let file = match self.dir.open(NAME) {
            Ok(file) => file,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(self.unusable(error)),
        };
        let stamp = Stamp::of(&file.metadata().map_err(|error| self.unusable(error))?);
        let too_large = |size_bytes| StoreError::RegistryTooLarge { path, size_bytes, bytes_max: BYTES_MAX };
        if stamp.size_bytes > BYTES_MAX {
            return Err(too_large(stamp.size_bytes));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size_bytes).unwrap_or(0));
        file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(|error| self.unusable(error))?;
        Ok(Some((bytes, stamp)))
    }

    /// What the file is like, without reading it.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let file = self.dir.open(NAME).ok()?;
        file.metadata().ok().map(|metadata| Stamp::of(&metadata))
    }

    /// Whether a writer died, or is at work right now.
    pub(crate) fn has_leftovers(&self) -> bool {
        self.dir.list("").is_ok_and(|entries| entries.iter().any(is_staged))
    }

    /// Waits until no other process writes, but not for ever: a process that hangs is named.
    pub(crate) fn lock(&self) -> Result<RegistryLock<'_>, StoreError> {
        let mut lock = self.dir.open_or_create("registry.lock").map_err(|error| self.unusable(error))?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if began.elapsed() >= self.lock_wait_max => {
                    let mut pid = String::new();
                    drop((&lock).take(PID_BYTES_MAX).read_to_string(&mut pid));
                    let (path, pid) = (self.path(), pid.trim().parse().ok());
                    let waited_ms = u64::try_from(self.lock_wait_max.as_millis()).unwrap_or(u64::MAX);
                    return Err(StoreError::RegistryLocked { path, pid, waited_ms });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
                Err(TryLockError::Error(error)) => return Err(self.unusable(error)),
            }
        }
        // The pid only serves the message of a process that waits in vain.
        drop(lock.set_len(0).and_then(|()| write!(lock, "{}", std::process::id())));
        Ok(RegistryLock { file: self, _lock: lock })
    }

    fn unusable(&self, source: io::Error) -> StoreError {
        StoreError::Registry { path: self.path(), source }
    }
}

impl RegistryLock<'_> {
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Writes the registry so that it is either the old one or the new one, whenever the power goes.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Option<Stamp>, StoreError> {
        self.replace(NAME, STAGED_PREFIX, bytes).map_err(|error| self.file.unusable(error))?;
        Ok(self.file.stamp())
    }

    /// Keeps an inline text. The same text is kept once.
    pub(crate) fn put_inline(&self, digest: &str, text: &str) -> Result<(), StoreError> {
        let name = inline_name(digest);
        let is_whole = |entry: &Entry| entry.kind == EntryKind::File && entry.len == text.len() as u64;
        if self.file.dir.entry(&name).is_ok_and(|entry| entry.as_ref().is_some_and(is_whole)) {
            return Ok(());
        }
        self.replace(&name, STAGED_INLINE_PREFIX, text.as_bytes()).map_err(|error| self.file.unusable(error))
    }

    /// Nobody refers to it any more. What cannot be removed costs room and nothing else.
    pub(crate) fn remove_inline(&self, digest: &str) {
        drop(self.file.dir.remove_file(&inline_name(digest)));
    }

    /// Gives the file as it is a second name, `registry.json.damaged-N`, before anything is written over it.
    pub(crate) fn set_aside(&self) -> io::Result<PathBuf> {
        const N_TRIED_MAX: u32 = 10_000;
        let mut bytes = Vec::new();
        self.file.dir.open(NAME)?.take(BYTES_MAX).read_to_end(&mut bytes)?;
        for number in 1..=N_TRIED_MAX {
            let to = format!("{NAME}.damaged-{number}");
            match self.file.dir.create_new(&to, Durability::Synced) {
                Ok(mut file) => {
                    file.write_all(&bytes).and_then(|()| file.sync_all())?;
                    return Ok(self.file.root().join(to));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many damaged registries already"))
    }

    /// Removes what writers that died left behind. Nobody else writes now, so every temporary file is such a thing.
    pub(crate) fn remove_leftovers(&self) -> usize {
        let entries = self.file.dir.list("").unwrap_or_default();
        entries
            .iter()
            .filter(|entry| is_staged(entry) && self.file.dir.remove_file(&entry.name).is_ok())
            .count()
    }

    fn replace(&self, name: &str, staged_prefix: &str, bytes: &[u8]) -> io::Result<()> {
        let dir = &self.file.dir;
        let (mut file, staged) = dir.stage("", staged_prefix)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        drop(file);
        written.and_then(|()| dir.rename(&staged, name, Durability::Synced)).inspect_err(|_| {
            // The staged file is worthless; the first error is the one to tell.
            drop(dir.remove_file(&staged));
        })
    }
}

fn inline_name(digest: &str) -> String {
    format!("inline/{digest}")
}

/// A file that a writer which died left behind.
fn is_staged(entry: &Entry) -> bool {
    entry.kind == EntryKind::File
        && [STAGED_PREFIX, STAGED_INLINE_PREFIX].iter().any(|prefix| entry.name.starts_with(prefix))
}
