//! Finds line ends before and after an offset, and the nearest character boundary, by reading a little.

use std::ops::Range;

use super::{ReadError, Reader};

const STEP_BYTES: u64 = 16 * 1024;

impl Reader {
    /// The offset of the last line end before `at`, searching back at most `bytes_max`.
    pub(crate) fn line_end_before(&self, at: u64, bytes_max: u64) -> Result<Option<u64>, ReadError> {
        let lowest = at.saturating_sub(bytes_max);
        let (mut end, mut buffer) = (at, Vec::new());
        while end > lowest {
            let start = end.saturating_sub(STEP_BYTES).max(lowest);
            self.read(start..end, &mut buffer)?;
            if let Some(idx) = memchr::memrchr(b'\n', &buffer) {
                return Ok(Some(start + idx as u64));
            }
            end = start;
        }
        Ok(None)
    }

    /// The offset of the first line end at or after `at`, searching at most `bytes_max`.
    pub(crate) fn line_end_from(&self, at: u64, bytes_max: u64) -> Result<Option<u64>, ReadError> {
        let highest = at.saturating_add(bytes_max).min(self.bytes);
        let (mut start, mut buffer) = (at, Vec::new());
        while start < highest {
            let end = (start + STEP_BYTES).min(highest);
            self.read(start..end, &mut buffer)?;
            if let Some(idx) = memchr::memchr(b'\n', &buffer) {
                return Ok(Some(start + idx as u64));
            }
            start = end;
        }
        Ok(None)
    }

    /// The range without the characters that it cuts through.
    pub(crate) fn cut_to_chars(&self, range: Range<u64>) -> Result<Range<u64>, ReadError> {
        let start = self.char_around(range.start)?.end;
        let end = self.char_around(range.end)?.start;
        Ok(if start < end { start..end } else { start..start })
    }

    /// The character that contains an offset; an empty range if the offset is a character boundary.
    fn char_around(&self, at: u64) -> Result<Range<u64>, ReadError> {
        const CHAR_BYTES_MAX: u64 = 4;
        let from = at.saturating_sub(CHAR_BYTES_MAX - 1);
        let mut around = Vec::new();
        self.read(from..(at + CHAR_BYTES_MAX - 1).min(self.bytes), &mut around)?;
        let middle = usize::try_from(at - from).unwrap_or(0);
        for start in 0..middle {
            let Some(n_bytes) = around.get(start).and_then(|&lead| char_bytes(lead)) else { continue };
            let end = start + n_bytes;
            if end > middle && around.get(start..end).is_some_and(|bytes| str::from_utf8(bytes).is_ok()) {
                return Ok(from + start as u64..from + end as u64);
            }
        }
        Ok(at..at)
    }
}

/// The length of the character that begins with this byte, if it begins a multi-byte character.
fn char_bytes(lead: u8) -> Option<usize> {
    match lead {
        0xC2..=0xDF => Some(2),
        0xE0..=0xEF => Some(3),
        0xF0..=0xF4 => Some(4),
        0..0xC2 | 0xF5.. => None,
    }
}
