//! All text that leaves a reader passes through here. Bytes are decoded, invalid UTF-8 becomes U+FFFD, and secrets
//! become marks. A secret is recognised together with the text around the range, so cutting through it does not leak a
//! part of it. Marks stay within a line, so line numbers are preserved.

use std::ops::Range;

use super::{ReadError, Reader};
use crate::secrets::{REDACT_REACH_BYTES, SecretSpan, find_secrets};

impl Reader {
    /// The text of a range that begins and ends on character boundaries.
    pub(super) fn leave(&self, range: Range<u64>) -> Result<String, ReadError> {
        self.leave_mapped(range).map(|left| left.text)
    }

    /// The same, with a map from the original text to the redacted text.
    pub(crate) fn leave_mapped(&self, range: Range<u64>) -> Result<Left, ReadError> {
        if range.is_empty() {
            return Ok(Left::default());
        }
        let margin = if self.redact { REDACT_REACH_BYTES as u64 } else { 0 };
        let window = range.start.saturating_sub(margin)..range.end.saturating_add(margin).min(self.bytes);
        let mut bytes = Vec::new();
        self.read(window.clone(), &mut bytes)?;
        let at = |offset: u64| usize::try_from(offset - window.start).unwrap_or(usize::MAX);
        let (start, end) = (at(range.start), at(range.end));
        let plain = String::from_utf8_lossy(&bytes[start..end]).into_owned();
        let n_bytes = plain.len();
        if !self.redact {
            return Ok(Left { pieces: vec![Piece::kept(0..plain.len(), 0)], text: plain.clone(), plain });
        }
        let before = String::from_utf8_lossy(&bytes[..start]);
        let around = format!("{before}{plain}{}", String::from_utf8_lossy(&bytes[end..]));
        let shift = before.len();
        // A range may be long: free each copy as soon as possible.
        drop(before);
        drop(bytes);
        let secrets = find_secrets(&around);
        drop(around);
        let inside = secrets.into_iter().filter_map(|SecretSpan { bytes, rule }| {
            let start = bytes.start.max(shift) - shift;
            let end = bytes.end.min(shift + n_bytes).saturating_sub(shift);
            (start < end).then_some((start..end, rule))
        });
        Ok(Left::masked(plain, inside))
    }
}

/// Redacted text with its original, and the mapping between the two.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The redacted text.
    pub(crate) text: String,
    /// The original text. Searched, never shown.
    pub(crate) plain: String,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    plain: Range<usize>,
    shown: Range<usize>,
    is_masked: bool,
}

impl Piece {
    fn kept(plain: Range<usize>, shown_start: usize) -> Self {
        Self { shown: shown_start..shown_start + plain.len(), plain, is_masked: false }
    }
}

impl Left {
    fn masked(plain: String, secrets: impl Iterator<Item = (Range<usize>, &'static str)>) -> Self {
        let n_bytes = plain.len();
        let mut left = Self { plain, ..Self::default() };
        let mut at = 0;
        for (secret, rule) in secrets {
            left.keep(at..secret.start);
            let shown_start = left.text.len();
            left.text.push_str("[secret:");
            left.text.push_str(rule);
            left.text.push(']');
            at = secret.end;
            left.pieces.push(Piece { plain: secret, shown: shown_start..left.text.len(), is_masked: true });
        }
        left.keep(at..n_bytes);
        left
    }

    fn keep(&mut self, plain: Range<usize>) {
        if let Some(text) = self.plain.get(plain.clone()).filter(|text| !text.is_empty()) {
            self.pieces.push(Piece::kept(plain, self.text.len()));
            self.text.push_str(text);
        }
    }

    /// The redacted parts of a range of the original text, relative to the range.
    pub(crate) fn secrets_in(&self, plain: &Range<usize>) -> Vec<Range<usize>> {
        let masked = self.pieces.iter().filter(|piece| piece.is_masked);
        let inside = masked.filter_map(|piece| {
            let (start, end) = (piece.plain.start.max(plain.start), piece.plain.end.min(plain.end));
            (start < end).then(|| start - plain.start..end - plain.start)
        });
        inside.collect()
    }

    /// Maps a range of the original text to the redacted text. A mark is covered whole or not at all.
    pub(crate) fn shown(&self, plain: &Range<usize>) -> Range<usize> {
        let (mut start, mut end) = (None, 0);
        for piece in &self.pieces {
            let from = plain.start.max(piece.plain.start);
            let to = plain.end.min(piece.plain.end);
            let touches = from < to || (plain.is_empty() && from == to && start.is_none());
            if !touches {
                continue;
            }
            let (from, to) = if piece.is_masked {
                (piece.shown.start, piece.shown.end)
            } else {
                (piece.shown.start + from - piece.plain.start, piece.shown.start + to - piece.plain.start)
            };
            start = start.or(Some(from));
            end = to;
        }
        start.map_or(0..0, |start| start..end)
    }
}

#[cfg(test)]
mod tests;
