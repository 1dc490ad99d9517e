//! Lines as `str.splitlines` defines them, in batches, and line numbers from 1, each line ended by `\n`.

use super::{LazyText, TextBatch, TextError};

impl LazyText {
    /// `text.splitlines(keepends)` from an offset in bytes of the document: whole lines of about `bytes_max` bytes, but
    /// at least one. The offset is 0 or the `next` of an earlier call.
    pub fn lines(
        &self,
        from: u64,
        bytes_max: u64,
        keeps_ends: bool,
    ) -> Result<TextBatch<String, u64>, TextError> {
        let from = self.floor_char(from)?;
        let mut bytes = bytes_max.clamp(4, Self::SLICE_BYTES_MAX);
        loop {
            let end = self.floor_char(from.saturating_add(bytes).min(self.bytes()))?;
            let mut piece = self.piece(from..end, self.margin(), Vec::new())?;
            self.mask(&mut piece);
            let (first, last) = (piece.text_at(from), piece.text_at(end));
            let body = piece.text.get(first..last).unwrap_or_default();
            let is_end = end == self.bytes();
            let (items, n_done) = whole_lines(body, is_end, keeps_ends);
            if !items.is_empty() || is_end {
                let next = piece.document_at(first + n_done);
                return self.fresh(TextBatch { items, next: (next < self.bytes()).then_some(next) });
            }
            if bytes >= Self::SLICE_BYTES_MAX {
                self.reader.require_small(bytes + 1, Self::SLICE_BYTES_MAX)?;
            }
            bytes = bytes.saturating_mul(4).min(Self::SLICE_BYTES_MAX);
        }
    }

    /// The number of lines ended by `\n`.
    pub fn n_lines(&self) -> Result<u64, TextError> {
        Ok(self.reader.n_lines()?)
    }

    /// The number, from 1, of the line that contains a character.
    pub fn line_of_char(&self, char: u64) -> Result<u64, TextError> {
        let at = self.at_char(char)?.byte;
        let line = self.reader.index()?.line_at(at, &self.reader.read_range())?;
        self.fresh(line + 1)
    }

    /// The first character of a line, counted from 1; the end of the text for a line after the last.
    pub fn char_of_line(&self, line: u64) -> Result<u64, TextError> {
        let at = self.reader.index()?.start_of(line.saturating_sub(1), &self.reader.read_range())?;
        self.fresh(self.at_byte(at)?.char)
    }
}

/// The lines of a text, and their total length. If more text may follow, the incomplete last line is left out.
fn whole_lines(text: &str, is_end: bool, keeps_ends: bool) -> (Vec<String>, usize) {
    let (mut lines, mut start) = (Vec::new(), 0);
    while let Some((end, next)) = line_end(text, start) {
        // A carriage return at the end may be half of a line end.
        if next == text.len() && !is_end && text.ends_with('\r') {
            break;
        }
        let line = start..if keeps_ends { next } else { end };
        lines.push(text.get(line).unwrap_or_default().to_owned());
        start = next;
    }
    if is_end && start < text.len() {
        lines.push(text.get(start..).unwrap_or_default().to_owned());
        start = text.len();
    }
    (lines, start)
}

/// The end of the line that begins at `start`, without and with its line end.
fn line_end(text: &str, start: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        at += bytes
            .get(at..)?
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r' | 0x0B | 0x0C | 0x1C..=0x1E | 0xC2 | 0xE2))?;
        let n_bytes = match bytes.get(at..)? {
            [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
            [0xC2 | 0xE2, ..] => 0,
            _ => 1,
        };
        if n_bytes > 0 {
            return Some((at, at + n_bytes));
        }
        at += 1;
    }
}
