//! Archives: entries are streamed to scratch files and become documents named `archive.zip/inner/path`. An archive is
//! hostile input: names must stay inside it, limits apply to the bytes actually unpacked and not to header fields,
//! links and devices are skipped, and a nested archive is not opened. Everything skipped is counted.

mod entry_name;
mod gzip;
mod tar;
mod zip;

use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

pub(crate) use entry_name::safe_name;

use super::Filter;
use crate::decode::{self, HEAD_BYTES};
use crate::extract::ExtractKind;
use crate::scratch::Scratch;
use crate::unpack_limits::UnpackLimits;
use crate::{ScanReport, SkipReason, SourceError, name};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Zip,
    Tar,
    TarGz,
    /// One file, whose stored name is not trusted.
    Gz,
}

impl Format {
    pub(crate) fn of(name: &str) -> Option<Self> {
        const ENDS: [(&str, Format); 5] = [
            (".zip", Format::Zip),
            (".tar", Format::Tar),
            (".tar.gz", Format::TarGz),
            (".tgz", Format::TarGz),
            (".gz", Format::Gz),
        ];
        let name = name.to_ascii_lowercase();
        ENDS.iter().find(|(end, _)| name.ends_with(end)).map(|&(_, format)| format)
    }
}

#[derive(Debug)]
pub(crate) struct Unpacked {
    pub(crate) path: PathBuf,
    pub(crate) relative: String,
    pub(crate) bytes: u64,
}

/// Unpacks the archive at `path`. `Err` only if no entry could be recognised.
pub(crate) fn unpack(path: &Path, format: Format, unpacking: &mut Unpacking<'_>) -> Result<(), SourceError> {
    let outcome = match format {
        Format::Zip => zip::unpack(path, unpacking),
        Format::Tar => tar::unpack(path, unpacking),
        Format::TarGz => gzip::unpack_tar(path, unpacking),
        Format::Gz => gzip::unpack_one(path, unpacking),
    };
    let archive = unpacking.archive.to_owned();
    match outcome {
        Ok(()) => Ok(()),
        Err(Stop::TooLarge) => {
            unpacking.report.skip(SkipReason::TooLarge, &archive);
            Ok(())
        }
        Err(Stop::Damaged(_)) if unpacking.n_seen > 0 => {
            unpacking.report.skip(SkipReason::Damaged, &archive);
            Ok(())
        }
        Err(Stop::Damaged(source)) => Err(SourceError::Archive { name: archive, source }),
        Err(Stop::Scratch(source)) => Err(SourceError::Scratch { source }),
    }
}

#[derive(Debug)]
pub(crate) enum Stop {
    /// A limit on the archive as a whole.
    TooLarge,
    Damaged(io::Error),
    /// Writing to our own disk failed.
    Scratch(io::Error),
}

impl Stop {
    fn of(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::FileTooLarge {
            Self::TooLarge
        } else if error.kind() == io::ErrorKind::Other {
            // The library quotes the header, which may contain anything.
            Self::Damaged(io::Error::other("a header in it is broken"))
        } else {
            Self::Damaged(error)
        }
    }
}

pub(crate) struct Unpacking<'a> {
    pub(crate) archive: &'a str,
    pub(crate) filter: &'a Filter<'a>,
    /// Whether a glob includes the archive, and thus all its entries.
    pub(crate) is_included: bool,
    pub(crate) scratch: &'a Scratch,
    pub(crate) limits: UnpackLimits,
    pub(crate) report: &'a mut ScanReport,
    pub(crate) found: &'a mut dyn FnMut(Unpacked),
    /// Entries recognised so far, whether taken or not.
    pub(crate) n_seen: u64,
    pub(crate) bytes: u64,
}

impl Unpacking<'_> {
    /// Counts an entry and checks its name. `None` means it is skipped and reported.
    fn admit(&mut self, raw_name: &str) -> Result<Option<String>, Stop> {
        self.n_seen += 1;
        if self.n_seen > self.limits.entries_max {
            return Err(Stop::TooLarge);
        }
        let Some(relative) = safe_name(raw_name) else {
            self.skip(SkipReason::UnsafeName, &name::printable_text(raw_name));
            return Ok(None);
        };
        let reason = match Format::of(&relative) {
            Some(_) => Some(SkipReason::NestedArchive),
            None => self.filter.against_entry(&relative, self.is_included),
        };
        match reason {
            Some(reason) => {
                self.skip(reason, &relative);
                Ok(None)
            }
            None => Ok(Some(relative)),
        }
    }

    fn skip(&mut self, reason: SkipReason, relative: &str) {
        let relative = name::shortened(relative, NAME_CHARS_SHOWN_MAX);
        self.report.skip(reason, &format!("{}/{relative}", self.archive));
    }

    /// Streams an entry to a scratch file. `packed` returns its packed bytes so far; `torn` is for
    /// a cut entry.
    fn keep(
        &mut self,
        relative: String,
        input: &mut dyn Read,
        packed: &dyn Fn() -> u64,
        torn: Torn,
    ) -> Result<(), Stop> {
        let mut head = Vec::new();
        let error = fill(input, HEAD_BYTES, &mut head);
        if error.is_none()
            && let Some(reason) = reason_against_head(&relative, &head, self.filter)
        {
            self.skip(reason, &relative);
            return Ok(());
        }
        let (mut file, path) = self.scratch.create().map_err(Stop::Scratch)?;
        let copied = self.copy(&mut file, &head, error, input, packed);
        let is_kept = match &copied {
            Ok(Some((bytes, error))) => error.is_none() || (torn == Torn::Keep && *bytes > 0),
            Ok(None) | Err(_) => false,
        };
        if !is_kept {
            Scratch::discard(&path);
        }
        match copied? {
            None => self.skip(SkipReason::TooLarge, &relative),
            Some((_, Some(error))) if torn == Torn::Stop => return Err(Stop::of(error)),
            Some((bytes, error)) => {
                if error.is_some() {
                    self.skip(SkipReason::Damaged, &relative);
                }
                if is_kept {
                    (self.found)(Unpacked { path, relative, bytes });
                }
            }
        }
        Ok(())
    }

    /// Copies an entry, and returns its length and the error that ended it early; `None` for a bomb.
    fn copy(
        &mut self,
        file: &mut std::fs::File,
        head: &[u8],
        mut error: Option<io::Error>,
        input: &mut dyn Read,
        packed: &dyn Fn() -> u64,
    ) -> Result<Option<(u64, Option<io::Error>)>, Stop> {
        let mut bytes = 0;
        let mut buffer = head.to_vec();
        loop {
            let n = buffer.len() as u64;
            bytes += n;
            self.bytes += n;
            if self.bytes > self.limits.bytes_max || !self.scratch.reserve(n) {
                return Err(Stop::TooLarge);
            }
            if self.limits.is_bomb(bytes, packed()) {
                return Ok(None);
            }
            file.write_all(&buffer).map_err(Stop::Scratch)?;
            if error.is_some() {
                return Ok(Some((bytes, error)));
            }
            buffer.clear();
            error = fill(input, BUFFER_BYTES, &mut buffer);
            if buffer.is_empty() && error.is_none() {
                return Ok(Some((bytes, None)));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Torn {
    Keep,
    Drop,
    /// Nothing after it is readable either.
    Stop,
}

const BUFFER_BYTES: usize = 64 * 1024;
const NAME_CHARS_SHOWN_MAX: usize = 200;

/// An entry that is not text need not be unpacked at all.
fn reason_against_head(relative: &str, head: &[u8], filter: &Filter<'_>) -> Option<SkipReason> {
    if head.is_empty() {
        Some(SkipReason::Empty)
    } else if ExtractKind::of(relative, filter.options).is_some() {
        None
    } else {
        decode::sniff(head).err().map(SkipReason::from)
    }
}

/// Appends up to `bytes_max` bytes. What was read before an error is kept.
fn fill(input: &mut dyn Read, bytes_max: usize, buffer: &mut Vec<u8>) -> Option<io::Error> {
    input.take(bytes_max as u64).read_to_end(buffer).err()
}

#[cfg(test)]
pub(crate) mod tests;
