//! All text that leaves a reader passes through here. Bytes are decoded, invalid UTF-8 becomes U+FFFD, and secrets
//! become marks. A secret is recognised together with the text around the range, so cutting through it does not leak a
//! part of it. Marks stay within a line, so line numbers are preserved.

use std::ops::Range;

use super::{ReadError, Reader};
use crate::secrets::{REDACT_REACH_BYTES, SecretSpan, find_secrets};

impl Reader {
    pub(super) fn redacted(&self, range: Range<u64>) -> Result<String, ReadError> {
        self.redacted_with_map(range).map(|redacted| redacted.text)
    }

    /// Like `redacted`, with a map from the original text to the redacted text.
    pub(crate) fn redacted_with_map(&self, range: Range<u64>) -> Result<RedactedText, ReadError> {
        if range.is_empty() {
            return Ok(RedactedText::default());
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
            return Ok(RedactedText { text: plain.clone(), plain, marks: Vec::new() });
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
        Ok(RedactedText::masked(plain, inside))
    }
}

#[derive(Debug, Default)]
pub(crate) struct RedactedText {
    pub(crate) text: String,
    /// The original text. Searched, never shown.
    pub(crate) plain: String,
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Mark {
    plain: Range<usize>,
    shown: Range<usize>,
}

impl RedactedText {
    fn masked(plain: String, secrets: impl Iterator<Item = (Range<usize>, &'static str)>) -> Self {
        let (mut text, mut marks, mut done) = (String::with_capacity(plain.len()), Vec::new(), 0);
        for (secret, rule) in secrets {
            text.push_str(plain.get(done..secret.start).unwrap_or_default());
            let shown_start = text.len();
            text.push_str(&format!("[secret:{rule}]"));
            done = secret.end;
            marks.push(Mark { plain: secret, shown: shown_start..text.len() });
        }
        text.push_str(plain.get(done..).unwrap_or_default());
        Self { text, plain, marks }
    }

    pub(crate) fn secrets_in(&self, plain: &Range<usize>) -> Vec<Range<usize>> {
        let inside = self.marks.iter().filter_map(|mark| {
            let (start, end) = (mark.plain.start.max(plain.start), mark.plain.end.min(plain.end));
            (start < end).then(|| start - plain.start..end - plain.start)
        });
        inside.collect()
    }

    /// Maps a range of the original text to the redacted text. A mark is covered whole or not at all.
    pub(crate) fn shown(&self, plain: &Range<usize>) -> Range<usize> {
        self.shown_at(plain.start, |mark| mark.start)..self.shown_at(plain.end, |mark| mark.end)
    }

    /// Maps an offset; `edge` decides for one inside a secret.
    fn shown_at(&self, at: usize, edge: impl Fn(&Range<usize>) -> usize) -> usize {
        let n_before = self.marks.partition_point(|mark| mark.plain.end <= at);
        if let Some(mark) = self.marks.get(n_before).filter(|mark| mark.plain.start < at) {
            return edge(&mark.shown);
        }
        let before = n_before.checked_sub(1).map(|idx| &self.marks[idx]);
        before.map_or(at, |mark| mark.shown.end + (at - mark.plain.end))
    }
}

#[cfg(test)]
mod tests;
