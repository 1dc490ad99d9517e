//! Finds secrets in raw bytes, for a search that must not see them: the same ones that a reader replaces. Every rule
//! except that for keys examines only one line. Bytes that are not UTF-8 are treated as the U+FFFD that a reader shows.

use std::borrow::Cow;
use std::ops::Range;

use super::find::{Find, finds_in, spans_of};

/// The beginning of every key. Without it in reach, no line is part of a key.
pub(crate) const KEY_HEAD: &[u8] = b"-----BEGIN ";

/// The secrets in a line without its end, except keys: see [`key_bodies`].
pub(crate) fn secrets_in_line(line: &[u8]) -> Vec<Range<usize>> {
    find(line, |find| !find.is_key())
}

/// The lines of keys in a text, which must extend `REDACT_REACH_BYTES` beyond the range of interest on both sides.
pub(crate) fn key_bodies(text: &[u8]) -> Vec<Range<usize>> {
    find(text, Find::is_key)
}

pub(crate) fn secrets_in(text: &[u8]) -> Vec<Range<usize>> {
    find(text, |_| true)
}

fn find(bytes: &[u8], keep: impl Fn(&Find) -> bool) -> Vec<Range<usize>> {
    let lossy = Lossy::of(bytes);
    let mut finds = finds_in(&lossy.text, 0, lossy.text.len());
    finds.retain(keep);
    let spans = spans_of(&lossy.text, finds).into_iter();
    spans.map(|span| lossy.raw(span.bytes.start)..lossy.raw(span.bytes.end)).collect()
}

/// Bytes decoded as text, with a mapping from offsets in the text to offsets in the bytes.
struct Lossy<'a> {
    text: Cow<'a, [u8]>,
    replaced: Vec<(usize, usize)>,
}

impl<'a> Lossy<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        if str::from_utf8(bytes).is_ok() {
            return Self { text: Cow::Borrowed(bytes), replaced: Vec::new() };
        }
        let (mut text, mut replaced, mut raw_end) = (Vec::with_capacity(bytes.len()), Vec::new(), 0);
        for chunk in bytes.utf8_chunks() {
            text.extend_from_slice(chunk.valid().as_bytes());
            raw_end += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                text.extend_from_slice("\u{fffd}".as_bytes());
                raw_end += chunk.invalid().len();
                replaced.push((text.len(), raw_end));
            }
        }
        Self { text: Cow::Owned(text), replaced }
    }

    fn raw(&self, at: usize) -> usize {
        let n_before = self.replaced.partition_point(|&(text_end, _)| text_end <= at);
        let (text_end, raw_end) = match n_before.checked_sub(1) {
            Some(idx) => self.replaced[idx],
            None => (0, 0),
        };
        raw_end + (at - text_end)
    }
}

#[cfg(test)]
mod tests;
