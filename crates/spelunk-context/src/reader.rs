//! A reader: random access to the text of one document without holding it. Offsets and sizes are bytes of
//! text after the byte order mark; UTF-16 is decoded into memory once. Lines end with `\n` or `\r\n`, and a
//! final line end begins no further line. Results are redacted unless that was disabled.

mod derived;
mod error;
mod line_index;
mod page;
mod peek;
mod raw;
mod redact;
mod seek;

use std::num::NonZeroUsize;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use self::derived::Derived;
pub use self::error::{PatternError, ReadError};
pub(crate) use self::line_index::in_shares;
use self::line_index::{BLOCK_BYTES, LineIndex};
pub use self::page::Page;
pub use self::peek::{More, Peek};
use self::raw::Raw;
use crate::decode::{self, HEAD_BYTES, Utf16Stream};
use crate::document::Origin;
use crate::{DocEntry, SourceError, View, name};

/// The text of one document. Send and Sync: several threads may read at once.
#[derive(Debug)]
pub struct Reader {
    name: String,
    raw: Raw,
    /// The size of the byte order mark, which is not part of the text.
    mark_bytes: u64,
    bytes: u64,
    redact: bool,
    index: Mutex<Option<Arc<LineIndex>>>,
}

impl Reader {
    /// The maximum text that one call returns.
    pub const READ_BYTES_MAX: u64 = 16 * 1024 * 1024;

    /// The largest UTF-16 file that is read; it is held in memory.
    pub const UTF16_BYTES_MAX: u64 = 64 * 1024 * 1024;

    /// Threads that count or search one document. More would only compete for memory bandwidth.
    pub(crate) const THREADS_MAX: usize = 4;

    /// Opens a file and checks its first bytes. An empty file is a text without lines; a missing one is an error.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::over_file(name::printable_text(&path.to_string_lossy()), Raw::open(path)?)
    }

    fn over_file(name: String, raw: Raw) -> Result<Self, ReadError> {
        let raw_bytes = raw.bytes();
        let mut head = vec![0; HEAD_BYTES];
        let n_read = raw.read_at(0, &mut head)?;
        head.truncate(n_read.min(usize::try_from(raw_bytes).unwrap_or(usize::MAX)));
        decode::sniff(&head).map_err(|why| SourceError::NotText { name: name.clone(), why })?;
        if Utf16Stream::of(&head).is_none() {
            return Ok(Self::over(name, raw, mark_bytes(&head)));
        }
        if raw_bytes > Self::UTF16_BYTES_MAX {
            return Err(ReadError::TooLarge { name, bytes: raw_bytes, bytes_max: Self::UTF16_BYTES_MAX });
        }
        let mut bytes = vec![0; usize::try_from(raw_bytes).unwrap_or(usize::MAX)];
        if raw.read_at(0, &mut bytes)? < bytes.len() {
            return Err(ReadError::Changed { name });
        }
        Ok(Self::over(name, raw.decoded(decode::decode(bytes)), 0))
    }

    /// Reads bytes in memory. They are assumed to be text: a caller that is not sure must sniff first.
    pub fn of_bytes(name: &str, bytes: Arc<[u8]>) -> Self {
        if Utf16Stream::of(&bytes).is_some() {
            let text = decode::decode(bytes.to_vec());
            return Self::over(name.to_owned(), Raw::Memory(text.into_bytes().into()), 0);
        }
        let mark_bytes = mark_bytes(&bytes);
        Self::over(name.to_owned(), Raw::Memory(bytes), mark_bytes)
    }

    /// Reads a document of a view, redacted like the view. A file is read up to its size at the scan, even if it has
    /// grown; a shorter one counts as changed, and so does a document of another view. The hash of a file with the same
    /// size is not checked, because that would read all of it.
    pub fn of_document(view: &View, document: &DocEntry) -> Result<Self, ReadError> {
        let changed = || ReadError::Changed { name: document.name.clone() };
        if view.find(&document.name).is_none() {
            return Err(changed());
        }
        let reader = match &document.origin {
            Origin::Text(bytes) => Self::of_bytes(&document.name, Arc::clone(bytes)),
            Origin::File(path) => match Raw::open_scanned(path, document) {
                Ok(Some(raw)) => Self::over_file(document.name.clone(), raw)?,
                Ok(None) | Err(ReadError::Source(SourceError::NotFound { .. })) => return Err(changed()),
                Err(error) => return Err(error),
            },
        };
        Ok(Self { redact: document.redacts, ..reader })
    }

    /// Sets whether secrets are redacted. On unless the user asked for this document unredacted.
    #[must_use]
    pub fn with_redaction(mut self, redact: bool) -> Self {
        self.redact = redact;
        self
    }

    /// Whether secrets are redacted from results and hidden from searches.
    pub fn redacts(&self) -> bool {
        self.redact
    }

    /// The name in errors and reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size of the text.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn held_bytes(&self) -> u64 {
        self.raw.held_bytes()
    }

    /// Whether the file was replaced, modified or removed since. A stale reader only returns `ReadError::Changed`.
    pub fn is_stale(&self) -> bool {
        self.raw.is_stale()
    }

    /// The number of lines. The first call reads the whole document; the index is kept.
    pub fn n_lines(&self) -> Result<u64, ReadError> {
        self.index().map(|index| index.n_lines)
    }

    /// Lines counted from 1, each without its end. The range may extend beyond the last line, but must begin before it.
    pub fn lines(&self, lines: RangeInclusive<u64>) -> Result<Vec<String>, ReadError> {
        let index = self.index()?;
        let (first, n_lines) = (*lines.start(), index.n_lines);
        let last = (*lines.end()).min(n_lines);
        if first == 0 || first > n_lines {
            return Err(ReadError::LineOutOfRange { name: self.name.clone(), line: first, n_lines });
        }
        if last < first {
            return Ok(Vec::new());
        }
        let read = self.read_range();
        let range = index.start_of(first - 1, &read)?..index.start_of(last, &read)?;
        self.require_small(range.end - range.start, Self::READ_BYTES_MAX)?;
        let text = self.fresh(self.redacted(range)?)?;
        Ok(split_lines(&text).map(str::to_owned).collect())
    }

    /// The text between two offsets, narrowed to whole characters and to the end of the document.
    pub fn slice(&self, range: Range<u64>) -> Result<String, ReadError> {
        let range = range.start.min(self.bytes)..range.end.min(self.bytes);
        self.require_small(range.end.saturating_sub(range.start), Self::READ_BYTES_MAX)?;
        self.fresh(self.redacted(self.cut_to_chars(range)?)?)
    }

    /// The whole text, if it is no larger than `bytes_max`.
    pub fn load(&self, bytes_max: u64) -> Result<String, ReadError> {
        self.require_small(self.bytes, bytes_max)?;
        self.fresh(self.redacted(0..self.bytes)?)
    }

    fn over(name: String, raw: Raw, mark_bytes: u64) -> Self {
        let bytes = raw.bytes() - mark_bytes;
        Self { name, raw, mark_bytes, bytes, redact: true, index: Mutex::new(None) }
    }

    pub(crate) fn require_small(&self, bytes: u64, bytes_max: u64) -> Result<(), ReadError> {
        if bytes <= bytes_max {
            return Ok(());
        }
        Err(ReadError::TooLarge { name: self.name.clone(), bytes, bytes_max })
    }

    /// Fails if the file is no longer the one that was opened. Checked before any text is returned.
    pub(crate) fn require_fresh(&self) -> Result<(), ReadError> {
        if self.is_stale() { Err(ReadError::Changed { name: self.name.clone() }) } else { Ok(()) }
    }

    /// A result that was read, unless the file changed meanwhile.
    pub(crate) fn fresh<T>(&self, read: T) -> Result<T, ReadError> {
        self.require_fresh().map(|()| read)
    }

    /// Reads a whole range of the text. A file that ends earlier than expected has changed.
    pub(crate) fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<(), ReadError> {
        let bytes = range.end.saturating_sub(range.start);
        buffer.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        if self.raw.read_at(self.mark_bytes + range.start, buffer)? == buffer.len() {
            Ok(())
        } else {
            Err(ReadError::Changed { name: self.name.clone() })
        }
    }

    pub(crate) fn read_range(&self) -> impl Fn(Range<u64>, &mut Vec<u8>) -> Result<(), ReadError> + Sync {
        |range, buffer| self.read(range, buffer)
    }

    pub(crate) fn index(&self) -> Result<Arc<LineIndex>, ReadError> {
        self.require_fresh()?;
        let mut slot = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = &*slot {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(LineIndex::build(self.bytes, threads_for(self.bytes), &self.read_range())?);
        self.require_fresh()?;
        *slot = Some(Arc::clone(&index));
        Ok(index)
    }

    /// The line index, if it is built and not being built right now.
    fn index_if_built(&self) -> Option<Arc<LineIndex>> {
        self.index.try_lock().ok()?.clone()
    }
}

pub(crate) fn threads_for(bytes: u64) -> NonZeroUsize {
    let n_cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let n_useful = usize::try_from(bytes / (8 * BLOCK_BYTES)).unwrap_or(usize::MAX);
    NonZeroUsize::new(n_cores.min(Reader::THREADS_MAX).min(n_useful)).unwrap_or(NonZeroUsize::MIN)
}

/// The lines of a text without their ends. A final newline begins no further line.
pub(crate) fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

fn mark_bytes(head: &[u8]) -> u64 {
    if head.starts_with(&[0xEF, 0xBB, 0xBF]) { 3 } else { 0 }
}

#[cfg(test)]
mod tests;
