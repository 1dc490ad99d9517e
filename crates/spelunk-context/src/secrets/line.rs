//! Finds secrets in raw bytes, for a search that must not see them: the same ones that a reader replaces. Every rule
//! except that for keys examines only one line. Bytes that are not UTF-8 are treated as the U+FFFD that a reader shows.

use std::ops::Range;

use super::find::{Find, finds_in, spans_of};
use super::mapped_text::MappedText;

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
    let decoded = str::from_utf8(bytes).is_err().then(|| MappedText::new(bytes.to_vec(), 0, true));
    let text = decoded.as_ref().map_or(bytes, |decoded| decoded.text.as_bytes());
    let mut finds = finds_in(text, 0, text.len());
    finds.retain(keep);
    let raw = |at: usize| match &decoded {
        Some(decoded) => usize::try_from(decoded.document_at(at)).unwrap_or(usize::MAX),
        None => at,
    };
    spans_of(text, finds).into_iter().map(|span| raw(span.bytes.start)..raw(span.bytes.end)).collect()
}

#[cfg(test)]
mod tests;
