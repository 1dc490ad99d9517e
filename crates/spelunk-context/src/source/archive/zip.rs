//! Zip. The central directory is trusted for names and kinds; without it, entries are read from the front.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use zip::ZipArchive;
use zip::read::{ZipFile, read_zipfile_from_stream};
use zip::result::ZipError;

use super::entry_name::lossy;
use super::{Stop, Torn, Unpacking};
use crate::SkipReason;

pub(super) fn unpack(path: &Path, unpacking: &mut Unpacking<'_>) -> Result<(), Stop> {
    let mut input = BufReader::new(spelunk_fs::open_to_read(path).map_err(Stop::Damaged)?);
    if announced_entries(&mut input).map_err(Stop::Damaged)? > unpacking.limits.entries_max {
        return Err(Stop::TooLarge);
    }
    let archive_bytes = input.seek(SeekFrom::End(0)).map_err(Stop::Damaged)?;
    input.rewind().map_err(Stop::Damaged)?;
    match ZipArchive::new(input) {
        Ok(archive) => from_directory(archive, archive_bytes, unpacking),
        Err(error) => {
            let input = BufReader::new(spelunk_fs::open_to_read(path).map_err(Stop::Damaged)?);
            from_front(input, archive_bytes, unpacking)?;
            Err(Stop::Damaged(error.into()))
        }
    }
}

fn from_directory(
    mut archive: ZipArchive<BufReader<File>>,
    archive_bytes: u64,
    unpacking: &mut Unpacking<'_>,
) -> Result<(), Stop> {
    for idx in 0..archive.len() {
        // Without a decoder, so that an entry that cannot be decoded still has a name.
        let (raw_name, is_directory, reason) = match archive.by_index_raw(idx) {
            Ok(entry) => (name_of(&entry), entry.is_dir(), reason_against(&entry)),
            Err(_) => {
                unpacking.n_seen += 1;
                unpacking.skip(SkipReason::Damaged, &format!("entry {idx}"));
                continue;
            }
        };
        if is_directory {
            continue;
        }
        let Some(relative) = unpacking.admit(&raw_name)? else { continue };
        if let Some(reason) = reason {
            unpacking.skip(reason, &relative);
            continue;
        }
        match archive.by_index(idx) {
            Ok(mut entry) => {
                let packed = packed_bytes(&entry, archive_bytes);
                unpacking.keep(relative, &mut entry, &|| packed, Torn::Drop)?;
            }
            Err(error) => unpacking.skip(reason_for(&error), &relative),
        }
    }
    Ok(())
}

/// Reads entries from the front until something is not an entry.
fn from_front(
    mut input: BufReader<File>,
    archive_bytes: u64,
    unpacking: &mut Unpacking<'_>,
) -> Result<(), Stop> {
    while let Ok(Some(mut entry)) = read_zipfile_from_stream(&mut input) {
        if entry.is_dir() {
            continue;
        }
        let Some(relative) = unpacking.admit(&name_of(&entry))? else { continue };
        match reason_against(&entry) {
            Some(reason) => unpacking.skip(reason, &relative),
            None => {
                let packed = packed_bytes(&entry, archive_bytes);
                unpacking.keep(relative, &mut entry, &|| packed, Torn::Drop)?;
            }
        }
    }
    Ok(())
}

/// The packed size of an entry. It is declared by the archive and may exceed what is there.
fn packed_bytes<R: Read>(entry: &ZipFile<'_, R>, archive_bytes: u64) -> u64 {
    entry.compressed_size().min(archive_bytes)
}

/// Why not to read an entry, whatever its bytes are.
fn reason_against<R: Read>(entry: &ZipFile<'_, R>) -> Option<SkipReason> {
    const KIND: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    if entry.is_symlink() {
        Some(SkipReason::Symlink)
    } else if entry.unix_mode().is_some_and(|mode| mode & KIND != 0 && mode & KIND != REGULAR) {
        Some(SkipReason::Special)
    } else {
        entry.encrypted().then_some(SkipReason::Encrypted)
    }
}

/// UTF-8 if the bytes are valid, marked as such or not; otherwise the encoding that the archive declares.
fn name_of<R: Read>(entry: &ZipFile<'_, R>) -> String {
    let raw = entry.name_raw();
    match std::str::from_utf8(raw) {
        Ok(name) => name.to_owned(),
        Err(_) => entry.name().map_or_else(|_| lossy(raw), std::borrow::Cow::into_owned),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum of another crate, which may grow")]
fn reason_for(error: &ZipError) -> SkipReason {
    match error {
        ZipError::CompressionMethodNotSupported(_) | ZipError::UnsupportedArchive(_) => SkipReason::Encoding,
        ZipError::InvalidPassword => SkipReason::Encrypted,
        _ => SkipReason::Damaged,
    }
}

/// The most entries that any end record claims: checked first, because the directory is read into memory.
fn announced_entries(input: &mut BufReader<File>) -> io::Result<u64> {
    const TAIL_BYTES: u64 = 66 * 1024;
    let length = input.seek(SeekFrom::End(0))?;
    input.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    input.take(TAIL_BYTES).read_to_end(&mut tail)?;
    let mut n_entries = 0;
    for at in memchr::memmem::find_iter(&tail, b"PK\x05\x06") {
        if let Some(&[low, high]) = tail.get(at + 10..at + 12) {
            n_entries = n_entries.max(u64::from(u16::from_le_bytes([low, high])));
        }
    }
    for at in memchr::memmem::find_iter(&tail, b"PK\x06\x06") {
        if let Some(count) = tail.get(at + 32..at + 40).and_then(|count| count.try_into().ok()) {
            n_entries = n_entries.max(u64::from_le_bytes(count));
        }
    }
    Ok(n_entries)
}
