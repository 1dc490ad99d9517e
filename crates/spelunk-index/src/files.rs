//! The files of an index and of models: the only module of this crate that touches the file system. Directories have
//! mode 0700 and files 0600, because an index reveals the content of the documents.
#![expect(
    clippy::disallowed_methods,
    reason = "an index is derived and can be deleted: it needs no fault-injected disk"
)]

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use spelunk_fs::if_there;

/// Detects a changed file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) bytes: u64,
    pub(crate) changed_ns: u128,
}

/// The whole file, or `None` if it does not exist. A file longer than `bytes_max` is an error.
pub(crate) fn read_whole(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = if_there(File::open(path))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::other("the file is too long"));
    }
    Ok(Some(bytes))
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens for reading and writing, creating the file if necessary.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)
}

/// Replaces a file atomically.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = path.with_extension("staged");
    let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&staged)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&staged, path)?;
    sync_directory(path.parent().unwrap_or(path))
}

/// Rewrites a file without waiting for the disk; returns its stamp.
pub(crate) fn touch(path: &Path) -> io::Result<Stamp> {
    private(OpenOptions::new().write(true).create(true).truncate(true)).open(path)?.write_all(b"t")?;
    stamp(path)
}

/// Renames a file or directory. Succeeds if it does not exist.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    if_there(std::fs::rename(from, to)).map(drop)
}

pub(crate) fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = std::fs::metadata(path)?;
    let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(Stamp { bytes: metadata.len(), changed_ns: changed.map_or(0, |at| at.as_nanos()) })
}

/// BLAKE3 of a file, read in chunks.
pub(crate) fn digest(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}

pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes a directory and its contents. Succeeds if it does not exist.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    if_there(std::fs::remove_dir_all(path)).map(drop)
}

/// Removes a file. Succeeds if it does not exist.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if_there(std::fs::remove_file(path)).map(drop)
}

/// The names of the files in a directory, sorted; empty if it does not exist.
pub(crate) fn names(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in if_there(std::fs::read_dir(path))?.into_iter().flatten() {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Makes a file that a library created unreadable to other users.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Fills the buffer from an offset; false if the file ends before.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<bool> {
    #[cfg(unix)]
    let outcome = std::os::unix::fs::FileExt::read_exact_at(file, buffer, at);
    #[cfg(windows)]
    let outcome = read_exact_at(file, buffer, at);
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        outcome => outcome.map(|()| true),
    }
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let n_read = std::os::windows::fs::FileExt::seek_read(file, buffer, at)?;
        if n_read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[n_read..];
        at += n_read as u64;
    }
    Ok(())
}

fn private(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
