//! The text of a document as Python sees a `str`, of any size and not held in memory: characters are counted, sliced,
//! searched and matched in the document. Each secret character is masked, so every operation is Python's operation on
//! the masked text: secrets can be neither read nor guessed, and offsets are those of the document.

mod error;
mod find;
mod index;
mod lines;
mod re;
mod records;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::error::TextError;
use self::index::{CharIndex, Mark};

use self::re::Sizes;
pub use self::re::{
    FindAllItem, Flags, Group, MatchCursor, PatternFault, PyMatch, PyPattern, Replacement, SplitPart,
};
pub use self::records::{JsonRecords, RecordShape};
use crate::secrets::{MappedText, REDACT_REACH_BYTES, may_begin_char};
use crate::{DocEntry, ReadError, Reader, View};

/// Some results over a text, and where to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextBatch<T, Next = MatchCursor> {
    /// In text order.
    pub items: Vec<T>,
    /// `None` at the end.
    pub next: Option<Next>,
}

/// The text of one document. Opening it reads its first bytes; everything else is read on demand. Bytes that are not
/// UTF-8 are read as U+FFFD; UTF-16 is decoded into memory once, up to [`Reader::UTF16_BYTES_MAX`]. Once the file
/// changes, every call returns `ReadError::Changed`. Send and Sync.
#[derive(Debug)]
pub struct LazyText {
    reader: Reader,
    index: Mutex<CharIndex>,
    sizes: Sizes,
}

impl LazyText {
    /// The largest slice returned at once, in bytes of the document.
    pub const SLICE_BYTES_MAX: u64 = 64 * 1024 * 1024;

    /// The text of a document of a view. Masked unless the corpus exempts the document from redaction.
    pub fn open(view: &View, document: &DocEntry) -> Result<Self, TextError> {
        Ok(Self::over(Reader::of_document(view, document)?))
    }

    /// Text in memory, masked like any other.
    pub fn of_string(name: &str, text: &str) -> Self {
        // A reader drops a byte order mark, which here is an ordinary character.
        let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        Self::over(Reader::of_bytes(name, [mark, text].concat().into_bytes().into()))
    }

    /// The text of any reader, masked if the reader redacts.
    pub fn over(reader: Reader) -> Self {
        Self { reader, index: Mutex::default(), sizes: Sizes::DEFAULT }
    }

    /// The name in errors and reports.
    pub fn name(&self) -> &str {
        self.reader.name()
    }

    /// The size of the document's text in bytes, before masking.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// `len(text)`. The first call reads the whole document.
    pub fn chars(&self) -> Result<u64, TextError> {
        let chars = self.index().chars(&self.reader)?;
        self.fresh(chars)
    }

    /// `text[start:end]`, with bounds counted from the beginning and clamped to the end.
    pub fn slice(&self, chars: Range<u64>) -> Result<String, TextError> {
        if chars.start >= chars.end {
            return Ok(String::new());
        }
        let start = self.at_char(chars.start)?.byte;
        let end = self.at_char(chars.end)?.byte;
        self.reader.require_small(end.saturating_sub(start), Self::SLICE_BYTES_MAX)?;
        self.fresh(self.masked(start..end)?)
    }

    /// The whole text, if the document has at most `bytes_max` bytes.
    pub fn to_string_bounded(&self, bytes_max: u64) -> Result<String, TextError> {
        self.reader.require_small(self.bytes(), bytes_max)?;
        self.fresh(self.masked(0..self.bytes())?)
    }

    /// The masked text between two offsets of the document that are character boundaries.
    fn masked(&self, range: Range<u64>) -> Result<String, TextError> {
        let mut piece = self.piece(range.start..range.end, self.margin(), Vec::new())?;
        self.mask(&mut piece);
        let (start, end) = (piece.text_at(range.start), piece.text_at(range.end));
        piece.text.truncate(end);
        if start > 0 {
            piece.text.drain(..start);
        }
        Ok(piece.text)
    }

    /// A range with at least `margin` bytes around it, not masked. Both begin on character boundaries.
    fn piece(&self, range: Range<u64>, margin: u64, mut buffer: Vec<u8>) -> Result<MappedText, TextError> {
        let start = self.floor_char(range.start.saturating_sub(margin))?;
        // With the maximum length of a character after it, the last character of the range is whole.
        let end = range.end.saturating_add(margin.max(4)).min(self.bytes());
        self.reader.read(start..end.max(start), &mut buffer)?;
        let piece = MappedText::new(buffer, start, end == self.bytes());
        if piece.end < range.end {
            return Err(ReadError::Changed { name: self.name().to_owned() }.into());
        }
        Ok(piece)
    }

    fn floor_char(&self, at: u64) -> Result<u64, TextError> {
        if at == 0 || at >= self.bytes() {
            return Ok(at.min(self.bytes()));
        }
        let mut around = Vec::new();
        let from = at.saturating_sub(3);
        self.reader.read(from..at + 1, &mut around)?;
        let n_before = usize::try_from(at - from).unwrap_or(0);
        let is_inside = |n: &usize| may_begin_char(&around[n_before - n..]);
        let n_inside = (1..=n_before).rev().find(is_inside).unwrap_or(0);
        Ok(at - n_inside as u64)
    }

    fn ends_with_newline(&self) -> Result<bool, TextError> {
        let mut last = Vec::new();
        self.reader.read(self.bytes().saturating_sub(1)..self.bytes(), &mut last)?;
        Ok(last == b"\n")
    }

    fn mask(&self, piece: &mut MappedText) {
        if self.reader.redacts() {
            piece.mask();
        }
    }

    /// How much text around a piece is needed to recognise the secrets in it.
    fn margin(&self) -> u64 {
        if self.reader.redacts() { REDACT_REACH_BYTES as u64 } else { 0 }
    }

    fn at_char(&self, char: u64) -> Result<Mark, TextError> {
        Ok(self.index().at_char(char, &self.reader)?)
    }

    fn at_byte(&self, byte: u64) -> Result<Mark, TextError> {
        Ok(self.index().at_byte(byte, &self.reader)?)
    }

    fn index(&self) -> MutexGuard<'_, CharIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh<T>(&self, read: T) -> Result<T, TextError> {
        Ok(self.reader.fresh(read)?)
    }
}

#[cfg(test)]
mod tests;
