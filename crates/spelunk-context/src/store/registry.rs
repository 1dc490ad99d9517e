//! The registry file, which stores the contexts on disk. It is written whole to a temporary file, then renamed; a lock
//! file keeps processes from overwriting each other. Inline texts are stored next to it, each under its digest, and the
//! access log. No link in the directory is followed (`spelunk-fs`).

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use spelunk_fs::{Durability, Entry, EntryKind, LockError, PrivateDir, lock_file};

use crate::error::is_absence;
use crate::store::revision::Stamp;
use crate::store::{AccessEntry, StoreError, wire};

#[derive(Debug)]
pub(crate) struct RegistryFile {
    pub(crate) dir: PrivateDir,
    pub(crate) lock_wait_max: Duration,
}

/// The exclusive right to write. Released on drop.
#[derive(Debug)]
pub(crate) struct RegistryLock<'a> {
    pub(crate) file: &'a RegistryFile,
    _lock: File,
}

/// A larger file is not a registry that we wrote.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
const NAME: &str = "registry.json";
const ACCESSES: &str = "accesses.jsonl";
/// A longer access log is not one that we wrote.
const ACCESSES_BYTES_MAX: u64 = 16 * 1024 * 1024;
const STAGED_PREFIX: &str = "registry.json.tmp-";
const STAGED_INLINE_PREFIX: &str = "inline.tmp-";

impl RegistryFile {
    pub(crate) fn root(&self) -> &Path {
        self.dir.root()
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.dir.is_read_only()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root().join(NAME)
    }

    /// The path of an inline text, if it is a regular file and not a link.
    pub(crate) fn inline_path(&self, digest: &str) -> Option<PathBuf> {
        let name = inline_name(digest);
        self.dir.is_file(&name).then(|| self.root().join(name))
    }

    pub(crate) fn read(&self) -> Result<Option<(Vec<u8>, Stamp)>, StoreError> {
        let file = match self.dir.open(NAME) {
            Ok(file) => file,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(self.unusable(error)),
        };
        let stamp = Stamp::of(&file.metadata().map_err(|error| self.unusable(error))?);
        if stamp.size_bytes > BYTES_MAX {
            let (path, size_bytes) = (self.path(), stamp.size_bytes);
            return Err(StoreError::RegistryTooLarge { path, size_bytes, bytes_max: BYTES_MAX });
        }
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(|error| self.unusable(error))?;
        Ok(Some((bytes, stamp)))
    }

    /// The access log. What cannot be read is left out: it is only history.
    pub(crate) fn accesses(&self) -> Vec<AccessEntry> {
        let mut bytes = Vec::new();
        if let Ok(file) = self.dir.open(ACCESSES) {
            drop(file.take(ACCESSES_BYTES_MAX).read_to_end(&mut bytes));
        }
        wire::parse_accesses(&bytes)
    }

    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let file = self.dir.open(NAME).ok()?;
        file.metadata().ok().map(|metadata| Stamp::of(&metadata))
    }

    pub(crate) fn has_leftovers(&self) -> bool {
        self.dir.list("").is_ok_and(|entries| entries.iter().any(is_staged))
    }

    /// Waits, up to a limit, until no other process writes. The error names a process that hangs.
    pub(crate) fn lock(&self) -> Result<RegistryLock<'_>, StoreError> {
        let lock = self.dir.open_or_create("registry.lock").map_err(|error| self.unusable(error))?;
        match lock_file(lock, self.lock_wait_max) {
            Ok(lock) => Ok(RegistryLock { file: self, _lock: lock }),
            Err(LockError::Held(pid)) => {
                let waited_ms = u64::try_from(self.lock_wait_max.as_millis()).unwrap_or(u64::MAX);
                Err(StoreError::RegistryLocked { path: self.path(), pid, waited_ms })
            }
            Err(LockError::Unusable(error)) => Err(self.unusable(error)),
        }
    }

    fn unusable(&self, source: io::Error) -> StoreError {
        StoreError::Registry { path: self.path(), source }
    }
}

impl RegistryLock<'_> {
    /// Writes the registry atomically: after a power failure it is either the old one or the new one.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Option<Stamp>, StoreError> {
        self.replace(NAME, STAGED_PREFIX, bytes).map_err(|error| self.file.unusable(error))?;
        Ok(self.file.stamp())
    }

    /// Adds to the access log. One that would become longer than `n_max` entries keeps the newest `n_kept`.
    pub(crate) fn add_accesses(
        &self,
        new: &[AccessEntry],
        n_max: u64,
        n_kept: u64,
    ) -> Result<(), StoreError> {
        if new.is_empty() {
            return Ok(());
        }
        let mut all = self.file.accesses();
        let written = if !all.is_empty() && (all.len() + new.len()) as u64 <= n_max {
            let file = self.file.dir.open_to_append(ACCESSES);
            file.and_then(|mut file| file.write_all(wire::access_lines(new).as_bytes()))
        } else {
            all.extend_from_slice(new);
            let n_gone = all.len().saturating_sub(usize::try_from(n_kept).unwrap_or(usize::MAX));
            self.replace(ACCESSES, STAGED_PREFIX, wire::access_lines(&all[n_gone..]).as_bytes())
        };
        written.map_err(|error| self.file.unusable(error))
    }

    /// Stores an inline text. Equal texts are stored once.
    pub(crate) fn put_inline(&self, digest: &str, text: &str) -> Result<(), StoreError> {
        let name = inline_name(digest);
        let is_whole = |entry: &Entry| entry.kind == EntryKind::File && entry.len == text.len() as u64;
        if self.file.dir.entry(&name).is_ok_and(|entry| entry.as_ref().is_some_and(is_whole)) {
            return Ok(());
        }
        self.replace(&name, STAGED_INLINE_PREFIX, text.as_bytes()).map_err(|error| self.file.unusable(error))
    }

    /// Removes an inline text that is no longer referenced. One that cannot be removed only wastes space.
    pub(crate) fn remove_inline(&self, digest: &str) {
        drop(self.file.dir.remove_file(&inline_name(digest)));
    }

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
        Err(io::Error::other("there are already too many damaged registries"))
    }

    /// Removes temporary files. The caller holds the lock, so all of them are from writers that died.
    pub(crate) fn remove_leftovers(&self) {
        for entry in self.file.dir.list("").unwrap_or_default().iter().filter(|entry| is_staged(entry)) {
            drop(self.file.dir.remove_file(&entry.name));
        }
    }

    fn replace(&self, name: &str, staged_prefix: &str, bytes: &[u8]) -> io::Result<()> {
        self.file.dir.replace(("", staged_prefix), name, bytes, Durability::Synced)
    }
}

fn inline_name(digest: &str) -> String {
    format!("inline/{digest}")
}

fn is_staged(entry: &Entry) -> bool {
    entry.kind == EntryKind::File
        && [STAGED_PREFIX, STAGED_INLINE_PREFIX].iter().any(|prefix| entry.name.starts_with(prefix))
}
