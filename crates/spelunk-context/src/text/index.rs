//! Converts between character and byte offsets, with a mark every 64 KiB: 16 bytes of index each, 256 kB for a
//! gigabyte. Built only as far as needed, on several threads if that is far. A block with as many characters as bytes,
//! as in ASCII, is not read again to find an offset in it.

use std::ops::Range;

use crate::reader::{in_shares, threads_for};
use crate::secrets::{count_chars, incomplete_bytes};
use crate::{ReadError, Reader};

const BLOCK_BYTES: u64 = 64 * 1024;
const BLOCKS_PER_READ: u64 = 16;

/// How much is indexed at once if the end is not known: enough to be worth threads.
const STEP_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct CharIndex {
    /// In order and without gaps. Each is a character boundary.
    marks: Vec<Mark>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) byte: u64,
    pub(super) char: u64,
}

impl CharIndex {
    pub(super) fn chars(&mut self, reader: &Reader) -> Result<u64, ReadError> {
        self.extend_to(reader.bytes(), reader)?;
        Ok(self.end().char)
    }

    /// The offset of a character; the end of the text if there is no such character.
    pub(super) fn at_char(&mut self, char: u64, reader: &Reader) -> Result<Mark, ReadError> {
        while self.end().char < char && self.end().byte < reader.bytes() {
            // A character has at least one byte.
            let least = char - self.end().char;
            let goal = (self.end().byte + least.clamp(BLOCK_BYTES, STEP_BYTES)).min(reader.bytes());
            self.extend_to(goal, reader)?;
        }
        let (from, to) = self.around(|mark| mark.char <= char);
        if char >= to.char {
            return Ok(to);
        }
        if to.byte - from.byte == to.char - from.char {
            return Ok(Mark { byte: from.byte + (char - from.char), char });
        }
        let mut block = Vec::new();
        reader.read(from.byte..to.byte, &mut block)?;
        let bytes = bytes_of(&block, char - from.char);
        Ok(Mark { byte: from.byte + bytes as u64, char })
    }

    /// The mark of a byte offset that is a character boundary.
    pub(super) fn at_byte(&mut self, byte: u64, reader: &Reader) -> Result<Mark, ReadError> {
        self.extend_to(byte, reader)?;
        let (from, to) = self.around(|mark| mark.byte <= byte);
        if byte >= to.byte {
            return Ok(to);
        }
        if to.byte - from.byte == to.char - from.char {
            return Ok(Mark { byte, char: from.char + (byte - from.byte) });
        }
        let mut block = Vec::new();
        reader.read(from.byte..byte, &mut block)?;
        Ok(Mark { byte, char: from.char + count_chars(&block) })
    }

    fn end(&self) -> Mark {
        self.marks.last().copied().unwrap_or_default()
    }

    /// The last mark before a position, and the one after it; the last mark twice at the end.
    fn around(&self, is_before: impl Fn(&Mark) -> bool) -> (Mark, Mark) {
        let n_before = self.marks.partition_point(is_before);
        let mark = |idx: usize| self.marks.get(idx).copied();
        let from = n_before.checked_sub(1).and_then(mark).unwrap_or_default();
        (from, mark(n_before).unwrap_or_else(|| self.end()))
    }

    fn extend_to(&mut self, byte: u64, reader: &Reader) -> Result<(), ReadError> {
        let byte = byte.min(reader.bytes());
        // A mark is up to three bytes before the end of its block, so the missing part may be in the next block.
        while self.end().byte < byte {
            let first = self.end().byte.div_ceil(BLOCK_BYTES);
            let last = byte.div_ceil(BLOCK_BYTES).max(first + 1);
            let marks = count_blocks(first..last, reader)?;
            let mut chars = self.end().char;
            if self.marks.is_empty() {
                self.marks.push(Mark::default());
            }
            for mark in marks {
                chars += mark.char;
                self.marks.push(Mark { byte: mark.byte, char: chars });
            }
        }
        Ok(())
    }
}

/// The ends of some blocks, each with only its own characters. Block `n` ends at the last character boundary not after
/// `(n + 1) * BLOCK_BYTES`.
fn count_blocks(blocks: Range<u64>, reader: &Reader) -> Result<Vec<Mark>, ReadError> {
    let threads = threads_for((blocks.end - blocks.start) * BLOCK_BYTES);
    in_shares(blocks, threads, &|share| count_share(share, reader))
}

fn count_share(blocks: Range<u64>, reader: &Reader) -> Result<Vec<Mark>, ReadError> {
    let (mut marks, mut buffer) = (Vec::new(), Vec::new());
    let mut at = blocks.start;
    while at < blocks.end {
        let until = (at + BLOCKS_PER_READ).min(blocks.end);
        // The three bytes before tell whether the first block begins inside a character.
        let from = (at * BLOCK_BYTES).saturating_sub(3);
        let to = (until * BLOCK_BYTES).min(reader.bytes());
        reader.read(from..to, &mut buffer)?;
        let place = |offset: u64| usize::try_from(offset - from).unwrap_or(usize::MAX);
        let mut start = place(at * BLOCK_BYTES);
        start -= incomplete_bytes(&buffer[..start]);
        for block in at..until {
            let mut end = place(((block + 1) * BLOCK_BYTES).min(reader.bytes()));
            if from + (end as u64) < reader.bytes() {
                end -= incomplete_bytes(&buffer[..end]);
            }
            marks.push(Mark { byte: from + end as u64, char: count_chars(&buffer[start..end]) });
            start = end;
        }
        at = until;
    }
    Ok(marks)
}

fn bytes_of(bytes: &[u8], chars: u64) -> usize {
    let (mut left, mut at) = (usize::try_from(chars).unwrap_or(usize::MAX), 0);
    for chunk in bytes.utf8_chunks() {
        let mut places = chunk.valid().char_indices().map(|(idx, _)| idx).chain([chunk.valid().len()]);
        if let Some(idx) = places.nth(left) {
            return at + idx;
        }
        left -= chunk.valid().chars().count();
        at += chunk.valid().len() + chunk.invalid().len();
        left -= usize::from(!chunk.invalid().is_empty());
    }
    bytes.len()
}
