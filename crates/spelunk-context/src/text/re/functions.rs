//! The functions of `re` over a text, and their results.

use std::ops::Range;

use super::engine::How;
use super::search::Hunt;
use super::walk::{ITEM_BYTES, MatchCursor, Walk};
use super::{PyPattern, Replacement};
use crate::text::{LazyText, TextBatch, TextError};

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PyMatch {
    /// By number; 0 is the whole match. `None` for a group that did not match.
    pub groups: Vec<Option<Group>>,
}

/// What a group matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its range in characters of the text.
    pub chars: Range<u64>,
    /// The text in that range.
    pub text: String,
}

/// The result of `re.findall` for one match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindAllItem {
    /// The match, or its only group.
    Text(String),
    /// Its groups; empty text for one that did not match.
    Groups(Vec<String>),
}

/// Text between matches, or a group of a match; `None` for a group that did not match.
pub type SplitPart = Option<String>;

impl LazyText {
    /// `re.search`
    pub fn re_search(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.re_one(pattern, How::Search)
    }

    /// `re.match`
    pub fn re_match(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.re_one(pattern, How::Match)
    }

    /// `re.fullmatch`
    pub fn re_fullmatch(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.re_one(pattern, How::FullMatch)
    }

    fn re_one(&self, pattern: &PyPattern, how: How) -> Result<Option<PyMatch>, TextError> {
        self.walk(pattern, MatchCursor::default(), false, |walk| match walk.hunt.find(0, how, true)? {
            Some(_) => py_match(&mut walk.hunt).map(Some),
            None => Ok(None),
        })
    }

    /// `re.findall`, up to a number of matches and about a number of bytes; `next` is where to continue.
    pub fn re_findall(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<FindAllItem>, TextError> {
        let n_groups = pattern.n_groups();
        let item_of = |hunt: &mut Hunt<'_>| {
            let text = |idx: usize| hunt.group(idx).unwrap_or_default().to_owned();
            let found = match n_groups {
                0 | 1 => FindAllItem::Text(text(n_groups)),
                _ => FindAllItem::Groups((1..=n_groups).map(text).collect()),
            };
            let bytes = bytes_of(&found);
            Ok((found, bytes))
        };
        self.walk(pattern, from, false, |walk| walk.collect(n_groups > 0, matches_max, bytes_max, item_of))
    }

    /// `re.finditer`, in batches limited by a number of matches and about a number of bytes.
    pub fn re_finditer(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<PyMatch>, TextError> {
        let item_of = |hunt: &mut Hunt<'_>| {
            let found = py_match(hunt)?;
            let groups = found.groups.iter().flatten();
            let bytes = groups.map(|group| group.text.len() as u64 + ITEM_BYTES).sum();
            Ok((found, bytes))
        };
        self.walk(pattern, from, false, |walk| walk.collect(true, matches_max, bytes_max, item_of))
    }

    /// `re.split`, in batches of about `bytes_max` bytes of text. `splits_max` is Python's `maxsplit`, 0 for no limit.
    pub fn re_split(
        &self,
        pattern: &PyPattern,
        splits_max: u64,
        from: MatchCursor,
        bytes_max: u64,
    ) -> Result<TextBatch<SplitPart>, TextError> {
        self.walk(pattern, from, true, |walk| {
            let (mut items, mut bytes) = (Vec::new(), 0);
            while bytes < bytes_max {
                let is_over = splits_max > 0 && walk.cursor.n_matches >= splits_max;
                let found = if is_over { None } else { walk.next(true)? };
                let part_end = found.as_ref().map_or(self.bytes(), |found| found.start);
                let part = walk.part(walk.cursor.part_start..part_end)?;
                bytes += part.len() as u64 + ITEM_BYTES;
                items.push(Some(part));
                let Some(found) = found else { return Ok(TextBatch { items, next: None }) };
                for idx in 1..=pattern.n_groups() {
                    let group = walk.hunt.group(idx).map(str::to_owned);
                    bytes += group.as_ref().map_or(0, String::len) as u64 + ITEM_BYTES;
                    items.push(group);
                }
                walk.cursor.part_start = found.end;
            }
            Ok(TextBatch { items, next: Some(walk.cursor) })
        })
    }

    /// `re.subn`: the text with up to `count` (0: all) matches replaced, and their number, within
    /// `bytes_max`.
    pub fn re_sub(
        &self,
        pattern: &PyPattern,
        replacement: &Replacement,
        count: u64,
        bytes_max: u64,
    ) -> Result<(String, u64), TextError> {
        self.walk(pattern, MatchCursor::default(), true, |walk| {
            let mut out = String::new();
            loop {
                let is_over = count > 0 && walk.cursor.n_matches >= count;
                let found = if is_over { None } else { walk.next(replacement.has_groups())? };
                let part_end = found.as_ref().map_or(self.bytes(), |found| found.start);
                let part = walk.cursor.part_start..part_end;
                if part_end.saturating_sub(part.start) > bytes_max {
                    return Err(TextError::ResultTooLarge { bytes_max });
                }
                out.push_str(&walk.part(part)?);
                if let Some(found) = &found {
                    replacement.expand(|idx| walk.hunt.group(idx), &mut out);
                    walk.cursor.part_start = found.end;
                }
                if out.len() as u64 > bytes_max {
                    return Err(TextError::ResultTooLarge { bytes_max });
                }
                if found.is_none() {
                    return Ok((out, walk.cursor.n_matches));
                }
            }
        })
    }

    /// Iterates over the matches from a position. Fails if the file is no longer the one that was opened.
    pub(in crate::text) fn walk<R>(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        gives_parts: bool,
        go: impl FnOnce(&mut Walk<'_>) -> Result<R, TextError>,
    ) -> Result<R, TextError> {
        let outcome = Walk::new(self, pattern, from, gives_parts).and_then(|mut walk| go(&mut walk));
        // If the file changed, that is the cause of any other error.
        self.fresh(())?;
        outcome
    }
}

fn py_match(hunt: &mut Hunt<'_>) -> Result<PyMatch, TextError> {
    let mut groups = Vec::new();
    for idx in 0..=hunt.pattern.n_groups() {
        let chars = hunt.group_chars(idx)?;
        let text = hunt.group(idx).map(str::to_owned);
        groups.push(chars.zip(text).map(|(chars, text)| Group { chars, text }));
    }
    Ok(PyMatch { groups })
}

fn bytes_of(found: &FindAllItem) -> u64 {
    match found {
        FindAllItem::Text(text) => text.len() as u64 + ITEM_BYTES,
        FindAllItem::Groups(texts) => {
            texts.iter().map(|text| text.len() as u64 + ITEM_BYTES).sum::<u64>() + ITEM_BYTES
        }
    }
}
