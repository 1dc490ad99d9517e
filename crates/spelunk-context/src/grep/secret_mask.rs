//! Masked text: what a search sees of a line that contains secrets. Each secret is replaced by a single byte that is
//! not valid text, so whether and where a pattern matches does not depend on the secret, not even on its length, and no
//! sequence of patterns can reveal it. The mark that a reader shows in its place cannot be found either.

use std::ops::Range;

use super::pattern::Pattern;
use crate::secrets::{KEY_HEAD, REDACT_REACH_BYTES, key_bodies, secrets_in, secrets_in_line};
use crate::{ReadError, Reader};

/// Not valid in UTF-8, so neither `.` nor `[^a]` matches it. A match of the byte itself does not count.
const MASK_BYTE: u8 = 0xFF;

pub(super) struct MaskedText {
    bytes: Vec<u8>,
    /// The position of each mask byte, and the range of the line that it hides.
    masks: Vec<(usize, Range<usize>)>,
}

impl MaskedText {
    /// `secrets` are ranges of the line, sorted and not adjacent.
    pub(super) fn new(line: &[u8], secrets: &[Range<usize>]) -> Self {
        let (mut bytes, mut masks, mut done) = (Vec::with_capacity(line.len()), Vec::new(), 0);
        for secret in secrets {
            bytes.extend_from_slice(&line[done..secret.start]);
            masks.push((bytes.len(), secret.clone()));
            bytes.push(MASK_BYTE);
            done = secret.end;
        }
        bytes.extend_from_slice(&line[done..]);
        Self { bytes, masks }
    }

    pub(super) fn first(&self, pattern: &Pattern, from: usize) -> Option<Range<usize>> {
        let mut first = None;
        pattern.each_match(&self.bytes, self.masked_offset(from), |found| {
            first = self.visible(&found);
            first.is_none()
        });
        first
    }

    /// The first `ranges_max` matches that are not empty, as ranges of the line.
    pub(super) fn ranges(&self, pattern: &Pattern, ranges_max: usize) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        pattern.each_match(&self.bytes, 0, |found| {
            ranges.extend(self.visible(&found).filter(|found| !found.is_empty()));
            ranges.len() < ranges_max
        });
        ranges
    }

    /// A match as a range of the line; `None` if it contains a mask byte.
    fn visible(&self, found: &Range<usize>) -> Option<Range<usize>> {
        let n_before = self.masks.partition_point(|(at, _)| *at < found.start);
        let has_mask = self.masks.get(n_before).is_some_and(|(at, _)| *at < found.end);
        let moved = match n_before.checked_sub(1) {
            Some(idx) => self.masks[idx].1.end - (self.masks[idx].0 + 1),
            None => 0,
        };
        (!has_mask).then(|| found.start + moved..found.end + moved)
    }

    fn masked_offset(&self, at: usize) -> usize {
        let n_before = self.masks.partition_point(|(_, secret)| secret.end <= at);
        let plain = match n_before.checked_sub(1) {
            Some(idx) => self.masks[idx].0 + 1 + (at - self.masks[idx].1.end),
            None => at,
        };
        // Inside a secret there is only its mask byte.
        self.masks.get(n_before).map_or(plain, |(mask, _)| plain.min(*mask))
    }
}

/// How far ahead to search for key headers: if every line matches, a search per line would cost more.
const AHEAD_BYTES: usize = 4096;

/// The secrets of one buffer of a document, searched for where a line matches.
#[derive(Default)]
pub(super) struct Secrets {
    /// Lines of keys in or around the buffer, as offsets in the document; determined once a key header was seen.
    keys: Option<Vec<Range<u64>>>,
    seen_to: usize,
    has_seen_before: bool,
}

impl Secrets {
    /// The secret ranges of a line of `buffer`, which begins at `buffer_start`. Lines must come in order.
    pub(super) fn of_line(
        &mut self,
        reader: &Reader,
        buffer: &[u8],
        buffer_start: u64,
        line: Range<usize>,
    ) -> Result<Vec<Range<usize>>, ReadError> {
        let mut secrets = secrets_in_line(&buffer[line.clone()]);
        if self.keys.is_none() && self.sees_head(reader, buffer, buffer_start, line.clone())? {
            self.keys = Some(keys_around(reader, buffer_start..buffer_start + buffer.len() as u64)?);
        }
        let Some(keys) = &self.keys else { return Ok(secrets) };
        let (start, end) = (buffer_start + line.start as u64, buffer_start + line.end as u64);
        let first = keys.partition_point(|key| key.end <= start);
        let touching = keys[first..].iter().take_while(|key| key.start < end);
        let at = |offset: u64| usize::try_from(offset - start).unwrap_or(usize::MAX);
        secrets.extend(touching.map(|key| at(key.start.max(start))..at(key.end.min(end))));
        Ok(united(secrets))
    }

    /// Whether a key may begin in the line or close enough before it. No text is examined twice.
    fn sees_head(
        &mut self,
        reader: &Reader,
        buffer: &[u8],
        buffer_start: u64,
        line: Range<usize>,
    ) -> Result<bool, ReadError> {
        let misses_before = !self.has_seen_before && line.start < REDACT_REACH_BYTES;
        if line.end <= self.seen_to && !misses_before {
            return Ok(false);
        }
        let is_in = |text: &[u8]| memchr::memmem::find(text, KEY_HEAD).is_some();
        if misses_before {
            self.has_seen_before = true;
            let end = (buffer_start + KEY_HEAD.len() as u64).min(reader.bytes());
            let mut before = Vec::new();
            reader.read(buffer_start.saturating_sub(REACH)..end, &mut before)?;
            if is_in(&before) {
                return Ok(true);
            }
        }
        let from = line.start.saturating_sub(REDACT_REACH_BYTES).max(self.seen_to);
        let end = (line.end + AHEAD_BYTES).min(buffer.len());
        // A header may cross the end of the searched text.
        self.seen_to = end.saturating_sub(KEY_HEAD.len()).max(line.end);
        Ok(is_in(&buffer[from..end]))
    }
}

/// The secrets of a piece of a line that is too long to hold, as ranges of the piece.
pub(super) fn secrets_of_piece(reader: &Reader, piece: Range<u64>) -> Result<Vec<Range<usize>>, ReadError> {
    let (text, start) = with_reach(reader, piece.clone())?;
    let at = |offset: u64| usize::try_from(offset - start).unwrap_or(usize::MAX);
    let (from, to) = (at(piece.start), at(piece.end));
    let inside = secrets_in(&text).into_iter().filter_map(|secret| {
        let (start, end) = (secret.start.max(from), secret.end.min(to));
        (start < end).then(|| start - from..end - from)
    });
    Ok(united(inside.collect()))
}

/// The lines of keys in and around a range, as offsets in the document.
fn keys_around(reader: &Reader, range: Range<u64>) -> Result<Vec<Range<u64>>, ReadError> {
    let (text, start) = with_reach(reader, range)?;
    let keys = key_bodies(&text).into_iter();
    Ok(keys.map(|key| start + key.start as u64..start + key.end as u64).collect())
}

const REACH: u64 = REDACT_REACH_BYTES as u64;

/// A range with enough text around it to decide what is secret in it, and the offset where that text begins.
fn with_reach(reader: &Reader, range: Range<u64>) -> Result<(Vec<u8>, u64), ReadError> {
    let start = range.start.saturating_sub(REACH);
    let mut text = Vec::new();
    reader.read(start..range.end.saturating_add(REACH).min(reader.bytes()), &mut text)?;
    Ok((text, start))
}

/// Sorts ranges and merges those that overlap or touch: the border between two secrets must not be visible.
fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => apart.push(range),
        }
    }
    apart
}

#[cfg(test)]
mod tests;
