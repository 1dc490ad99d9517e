//! The registry file: where the contexts of a store outlive their process. Written whole, to a temporary file that then
//! takes the name; a lock file keeps processes from writing over each other. Inline texts lie beside it, each under its
//! digest. Directories are 0700 and files 0600, because metadata and texts are the user's.
#![expect(clippy::disallowed_methods, reason = "this is where the registry touches the file system")]

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::is_absence;
use crate::store::StoreError;
use crate::store::revision::Stamp;

/// The registry of one storage root.
#[derive(Debug)]
pub(crate) struct RegistryFile {
    root: PathBuf,
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
    pub(crate) fn new(root: PathBuf, lock_wait_max: Duration) -> Self {
        Self { root, lock_wait_max }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(NAME)
    }

    pub(crate) fn inline_path(&self, digest: &str) -> PathBuf {
        self.root.join("inline").join(digest)
    }

    /// The file as it is now; `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<(Vec<u8>, Stamp)>, StoreError> {
        let path = self.path();
        let file = match File::open(&path) {
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
        self.path().metadata().ok().map(|metadata| Stamp::of(&metadata))
    }

    /// Whether a writer died, or is at work right now.
    pub(crate) fn has_leftovers(&self) -> bool {
        let Ok(entries) = std::fs::read_dir(&self.root) else { return false };
        entries.flatten().any(|entry| is_staged(&entry.file_name().to_string_lossy()))
    }

    /// Waits until no other process writes, but not for ever: a process that hangs is named.
    pub(crate) fn lock(&self) -> Result<RegistryLock<'_>, StoreError> {
        make_directory(&self.root).map_err(|error| self.unusable(error))?;
        let mut options = OpenOptions::new();
        let mut lock = private(options.read(true).write(true).create(true).truncate(false))
            .open(self.root.join("registry.lock"))
            .map_err(|error| self.unusable(error))?;
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
        self.replace(&self.file.path(), STAGED_PREFIX, bytes).map_err(|error| self.file.unusable(error))?;
        Ok(self.file.stamp())
    }

    /// Keeps an inline text. The same text is kept once.
    pub(crate) fn put_inline(&self, digest: &str, text: &str) -> Result<(), StoreError> {
        let path = self.file.inline_path(digest);
        let is_there = path.metadata().is_ok_and(|metadata| metadata.len() == text.len() as u64);
        if is_there {
            return Ok(());
        }
        make_directory(&self.file.root.join("inline"))
            .and_then(|()| self.replace(&path, STAGED_INLINE_PREFIX, text.as_bytes()))
            .map_err(|error| self.file.unusable(error))
    }

    /// Nobody refers to it any more. What cannot be removed costs room and nothing else.
    pub(crate) fn remove_inline(&self, digest: &str) {
        drop(std::fs::remove_file(self.file.inline_path(digest)));
    }

    /// Gives the file as it is a second name, `registry.json.damaged-N`, before anything is written over it.
    pub(crate) fn set_aside(&self) -> io::Result<PathBuf> {
        const N_TRIED_MAX: u32 = 10_000;
        let from = self.file.path();
        for number in 1..=N_TRIED_MAX {
            let to = self.file.root.join(format!("{NAME}.damaged-{number}"));
            match OpenOptions::new().write(true).create_new(true).open(&to) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // A copy keeps the mode, and unlike a link works on every file system.
            std::fs::copy(&from, &to)?;
            sync_directory(&self.file.root)?;
            return Ok(to);
        }
        Err(io::Error::other("there are too many damaged registries already"))
    }

    /// Removes what writers that died left behind. Nobody else writes now, so every temporary file is such a thing.
    pub(crate) fn remove_leftovers(&self) -> usize {
        let Ok(entries) = std::fs::read_dir(&self.file.root) else { return 0 };
        let mut n_removed = 0;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if is_staged(&name) {
                n_removed += usize::from(std::fs::remove_file(entry.path()).is_ok());
            }
        }
        n_removed
    }

    /// The lock is held: one name for the temporary file would do, but a name of our own is easier to explain.
    fn replace(&self, path: &Path, staged_prefix: &str, bytes: &[u8]) -> io::Result<()> {
        let staged = self.file.root.join(format!("{staged_prefix}{}", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = private(options.write(true).create(true).truncate(true)).open(&staged)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        drop(file);
        if let Err(error) = written.and_then(|()| std::fs::rename(&staged, path)) {
            // The staged file is worthless; the first error is the one to tell.
            drop(std::fs::remove_file(&staged));
            return Err(error);
        }
        path.parent().map_or(Ok(()), sync_directory)
    }
}

fn is_staged(name: &str) -> bool {
    name.starts_with(STAGED_PREFIX) || name.starts_with(STAGED_INLINE_PREFIX)
}

fn private(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes the directory and those above it. One that exists is left as it is.
fn make_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// A new name is durable once its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        File::open(path)?.sync_all()?;
    }
    Ok(())
}
