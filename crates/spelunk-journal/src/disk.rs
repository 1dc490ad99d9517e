//! The disk: seven operations are all that durable state needs, which keeps fault injection small. Names are relative
//! and use `/`; `FileDisk` keeps directories at 0700 and files at 0600, because journals hold prompts and documents.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the one place where durable bytes touch the file system"
)]

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
    root: PathBuf,
}

/// Counted for the whole process: several disks may be open on one directory.
static N_STAGED: AtomicU64 = AtomicU64::new(0);
/// Names that are tried. Processes of two containers may have the same number, and a killed one leaves its files.
const NAMES_MAX: u32 = 100_000;

/// A file that is written before it takes its place. Its name was nobody's: no two writers ever share one.
pub(crate) fn stage_in(folder: &Path, prefix: &str) -> io::Result<(File, PathBuf)> {
    for _ in 0..NAMES_MAX {
        let n_staged = N_STAGED.fetch_add(1, Ordering::Relaxed);
        let staged = folder.join(format!("{prefix}{}-{n_staged}", std::process::id()));
        // Nothing in there outlives its writer: the directory need not be durable.
        make_parent_unsynced(&staged)?;
        match private(OpenOptions::new().write(true).create_new(true)).open(&staged) {
            Ok(file) => return Ok((file, staged)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl FileDisk {
    /// The directory is made when first written to.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn path(&self, name: &str) -> PathBuf {
        debug_assert!(!name.split('/').any(|part| part.is_empty() || part == ".."), "{name}");
        self.root.join(name)
    }

    /// Writes the bytes under another name and gives them theirs when they are whole.
    fn stage(&self, path: &Path, bytes: &[u8], must_sync: bool) -> io::Result<()> {
        let (mut file, staged) = stage_in(&self.path("tmp"), "")?;
        let mut written = file.write_all(bytes);
        if must_sync {
            written = written.and_then(|()| file.sync_all());
        }
        drop(file);
        written.and_then(|()| std::fs::rename(&staged, path)).inspect_err(|_| {
            // The staged file is worthless; the first error is the one to tell.
            drop(std::fs::remove_file(&staged));
        })
    }
}

impl Disk for FileDisk {
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        make_parent(&path)?;
        self.stage(&path, bytes, true)?;
        sync_parent(&path)
    }

    fn create_unsynced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        make_parent_unsynced(&path)?;
        self.stage(&path, bytes, false)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        let mut file = match OpenOptions::new().append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_parent(&path)?;
                let file = private(OpenOptions::new().append(true).create(true)).open(&path)?;
                sync_parent(&path)?;
                file
            }
            Err(error) => return Err(error),
        };
        file.write_all(bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        OpenOptions::new().append(true).open(self.path(name))?.sync_data()
    }

    fn truncate(&self, name: &str, len: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(self.path(name))?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        if_there(std::fs::read(self.path(name)))
    }

    fn read_at(&self, name: &str, from: u64, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = if_there(File::open(self.path(name)))? else { return Ok(None) };
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

pub(crate) fn private(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes the directories above `path`, private to their owner.
pub(crate) fn make_parent_unsynced(path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    if parent.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(parent)
}

/// Makes the directories above `path`, each durable in its own parent.
pub(crate) fn make_parent(path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    if parent.is_dir() {
        return Ok(());
    }
    make_parent(parent)?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(parent) {
        Ok(()) => sync_parent(parent),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A new name is durable once its directory is.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(parent) = path.parent() {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}
