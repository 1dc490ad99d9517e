//! Tar, read from front to back. Long names are stored in entries of their own (GNU `L`, POSIX `x`), which are read
//! here instead of in the library, because their length is an unchecked number in a header.

use std::io::{self, BufReader, Read};
use std::path::Path;

use tar::{Archive, Entry, EntryType};

use super::entry_name::lossy;
use super::{Stop, Torn, Unpacking};
use crate::SkipReason;

/// A longer name or attribute list is treated as damage.
const LONG_NAME_BYTES_MAX: u64 = 64 * 1024;

/// Headers read per entry that may be taken, including long names and directories.
const HEADERS_PER_ENTRY_MAX: u64 = 4;

pub(super) fn unpack(path: &Path, unpacking: &mut Unpacking<'_>) -> Result<(), Stop> {
    unpack_stream(BufReader::new(spelunk_fs::open_to_read(path).map_err(Stop::Damaged)?), unpacking)
}

pub(super) fn unpack_stream(input: impl Read, unpacking: &mut Unpacking<'_>) -> Result<(), Stop> {
    let mut archive = Archive::new(input);
    let entries = archive.entries().map_err(Stop::of)?.raw(true);
    let headers_max = unpacking.limits.entries_max.saturating_mul(HEADERS_PER_ENTRY_MAX);
    let (mut long_name, mut n_headers) = (None, 0);
    for entry in entries {
        let mut entry = entry.map_err(Stop::of)?;
        n_headers += 1;
        if n_headers > headers_max {
            return Err(Stop::TooLarge);
        }
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            long_name = read_short(&mut entry)?.split(|&byte| byte == 0).next().map(lossy);
        } else if kind.is_pax_local_extensions() {
            long_name = path_of(&read_short(&mut entry)?).or(long_name);
        } else if !kind.is_pax_global_extensions() && !kind.is_gnu_longlink() {
            let raw_name = long_name.take().unwrap_or_else(|| lossy(&entry.path_bytes()));
            // Before POSIX, a directory was a file whose name ends with a slash.
            if !kind.is_dir() && !raw_name.ends_with('/') {
                let left = entry.size();
                take(&raw_name, kind, &mut Checked { entry: &mut entry, left }, unpacking)?;
            }
        }
    }
    Ok(())
}

fn take(
    raw_name: &str,
    kind: EntryType,
    entry: &mut dyn Read,
    unpacking: &mut Unpacking<'_>,
) -> Result<(), Stop> {
    let Some(relative) = unpacking.admit(raw_name)? else { return Ok(()) };
    if kind.is_file() || kind.is_contiguous() {
        return unpacking.keep(relative, entry, &|| u64::MAX, Torn::Stop);
    }
    let is_link = kind.is_symlink() || kind.is_hard_link();
    unpacking.skip(if is_link { SkipReason::Symlink } else { SkipReason::Special }, &relative);
    Ok(())
}

fn read_short(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, Stop> {
    if entry.size() > LONG_NAME_BYTES_MAX {
        let error = io::Error::new(io::ErrorKind::InvalidData, "a name in it is too long");
        return Err(Stop::Damaged(error));
    }
    let mut bytes = Vec::new();
    entry.take(LONG_NAME_BYTES_MAX).read_to_end(&mut bytes).map_err(Stop::of)?;
    Ok(bytes)
}

/// The `path` of an attribute list: a sequence of `<length> <key>=<value>\n`.
fn path_of(mut records: &[u8]) -> Option<String> {
    let mut path = None;
    while let Some(space) = memchr::memchr(b' ', records) {
        let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
        let record = records.get(space + 1..length)?;
        if let Some(value) = record.strip_prefix(b"path=") {
            path = Some(lossy(value.strip_suffix(b"\n").unwrap_or(value)));
        }
        records = records.get(length..)?;
    }
    path
}

/// An entry that detects a missing end; the library takes the end of the archive for the end of the entry.
struct Checked<'a> {
    entry: &'a mut dyn Read,
    left: u64,
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.entry.read(buffer)?;
        self.left = self.left.saturating_sub(n as u64);
        if n == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(n)
    }
}
