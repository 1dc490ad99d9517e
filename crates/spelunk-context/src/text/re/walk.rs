//! Iterates over matches, continuing after an empty match as Python 3.7 does, and builds results from them.

use std::ops::Range;

use super::engine::How;
use super::functions::{FindAllItem, Group, PyMatch, SplitPart};
use super::search::Hunt;
use super::{PyPattern, Replacement};
use crate::text::{LazyText, TextBatch, TextError};

/// A position to continue from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MatchCursor {
    /// The offset in the document where the next match may begin.
    at: u64,
    /// Whether there was an empty match at that position.
    is_behind_empty: bool,
    /// For splitting: where the text before the next match begins.
    part_start: u64,
    /// The number of matches so far.
    n_matches: u64,
}

impl MatchCursor {
    /// The cursor as plain numbers, for storage outside this program.
    pub fn to_parts(self) -> [u64; 4] {
        [self.at, u64::from(self.is_behind_empty), self.part_start, self.n_matches]
    }

    /// A cursor from such numbers. Wrong ones give wrong matches and nothing worse.
    pub fn from_parts([at, is_behind_empty, part_start, n_matches]: [u64; 4]) -> Self {
        Self { at, is_behind_empty: is_behind_empty != 0, part_start, n_matches }
    }

    pub(in crate::text) fn from_byte(at: u64) -> Self {
        Self { at, part_start: at, ..Self::default() }
    }

    pub(in crate::text) fn n_matches(&self) -> u64 {
        self.n_matches
    }
}

pub(in crate::text) struct Walk<'t> {
    pub(in crate::text) hunt: Hunt<'t>,
    pub(in crate::text) cursor: MatchCursor,
}

impl<'t> Walk<'t> {
    /// `gives_parts` if the text between matches is returned too.
    pub(super) fn new(
        text: &'t LazyText,
        pattern: &'t PyPattern,
        from: MatchCursor,
        gives_parts: bool,
    ) -> Result<Self, TextError> {
        Ok(Self { hunt: Hunt::new(text, pattern, gives_parts)?, cursor: from })
    }

    pub(super) fn one(&mut self, how: How) -> Result<Option<PyMatch>, TextError> {
        match self.hunt.find(0, how, true)? {
            Some(_) => self.hunt.py_match().map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn find_all(
        &mut self,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<FindAllItem>, TextError> {
        let n_groups = self.hunt.pattern.n_groups();
        self.collect(n_groups > 0, matches_max, bytes_max, |hunt| {
            let text = |idx: usize| hunt.group(idx).unwrap_or_default().to_owned();
            let found = match n_groups {
                0 | 1 => FindAllItem::Text(text(n_groups)),
                _ => FindAllItem::Groups((1..=n_groups).map(text).collect()),
            };
            let bytes = bytes_of(&found);
            Ok((found, bytes))
        })
    }

    pub(super) fn find_iter(
        &mut self,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<PyMatch>, TextError> {
        self.collect(true, matches_max, bytes_max, |hunt| {
            let found = hunt.py_match()?;
            let groups = found.groups.iter().flatten();
            let bytes = groups.map(|group| group.text.len() as u64 + ITEM_BYTES).sum();
            Ok((found, bytes))
        })
    }

    /// One item for each match, up to a number of them and about a number of bytes.
    fn collect<T>(
        &mut self,
        wants_groups: bool,
        matches_max: u64,
        bytes_max: u64,
        item_of: impl Fn(&mut Hunt<'t>) -> Result<(T, u64), TextError>,
    ) -> Result<TextBatch<T>, TextError> {
        let (mut items, mut bytes) = (Vec::new(), 0);
        while (items.len() as u64) < matches_max && bytes < bytes_max {
            if self.next(wants_groups)?.is_none() {
                return Ok(TextBatch { items, next: None });
            }
            let (item, item_bytes) = item_of(&mut self.hunt)?;
            bytes += item_bytes;
            items.push(item);
        }
        Ok(TextBatch { items, next: Some(self.cursor) })
    }

    pub(super) fn split(
        &mut self,
        splits_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<SplitPart>, TextError> {
        let (mut items, mut bytes) = (Vec::new(), 0);
        while bytes < bytes_max {
            let is_over = splits_max > 0 && self.cursor.n_matches >= splits_max;
            let found = if is_over { None } else { self.next(true)? };
            let part_end = found.as_ref().map_or(self.hunt.text.bytes(), |found| found.start);
            let part = self.part(self.cursor.part_start..part_end)?;
            bytes += part.len() as u64 + ITEM_BYTES;
            items.push(Some(part));
            let Some(found) = found else { return Ok(TextBatch { items, next: None }) };
            for idx in 1..=self.hunt.pattern.n_groups() {
                let group = self.hunt.group(idx).map(str::to_owned);
                bytes += group.as_ref().map_or(0, String::len) as u64 + ITEM_BYTES;
                items.push(group);
            }
            self.cursor.part_start = found.end;
        }
        Ok(TextBatch { items, next: Some(self.cursor) })
    }

    pub(super) fn substitute(
        &mut self,
        replacement: &Replacement,
        count: u64,
        bytes_max: u64,
    ) -> Result<(String, u64), TextError> {
        let mut out = String::new();
        loop {
            let is_over = count > 0 && self.cursor.n_matches >= count;
            let found = if is_over { None } else { self.next(replacement.has_groups())? };
            let part_end = found.as_ref().map_or(self.hunt.text.bytes(), |found| found.start);
            let part = self.cursor.part_start..part_end;
            if part_end.saturating_sub(part.start) > bytes_max {
                return Err(TextError::ResultTooLarge { bytes_max });
            }
            out.push_str(&self.part(part)?);
            if let Some(found) = &found {
                replacement.expand(|idx| self.hunt.group(idx), &mut out);
                self.cursor.part_start = found.end;
            }
            if out.len() as u64 > bytes_max {
                return Err(TextError::ResultTooLarge { bytes_max });
            }
            if found.is_none() {
                return Ok((out, self.cursor.n_matches));
            }
        }
    }

    /// The next match, as a range of the document.
    pub(in crate::text) fn next(&mut self, wants_groups: bool) -> Result<Option<Range<u64>>, TextError> {
        let cursor = self.cursor;
        let mut found = None;
        if cursor.is_behind_empty {
            // At the same position, only a longer match counts as another one.
            if self.hunt.pattern.traits.may_prefer_empty {
                found = self.hunt.find(cursor.at, How::Longer, wants_groups)?;
            }
            if found.is_none() {
                let Some(at) = self.hunt.behind_char(cursor.at)? else { return Ok(None) };
                found = self.hunt.find(at, How::Search, wants_groups)?;
            }
        } else {
            found = self.hunt.find(cursor.at, How::Search, wants_groups)?;
        }
        if let Some(found) = &found {
            self.cursor.at = found.end;
            self.cursor.is_behind_empty = found.start == found.end;
            self.cursor.n_matches += 1;
        }
        Ok(found)
    }

    /// The text between two matches, which is before the last match found.
    pub(in crate::text) fn part(&self, range: Range<u64>) -> Result<String, TextError> {
        let bytes = range.end.saturating_sub(range.start);
        self.hunt.text.require_small(bytes, LazyText::SLICE_BYTES_MAX)?;
        self.hunt.between(range)
    }
}

impl Hunt<'_> {
    fn py_match(&mut self) -> Result<PyMatch, TextError> {
        let mut groups = Vec::new();
        for idx in 0..=self.pattern.n_groups() {
            let chars = self.group_chars(idx)?;
            let text = self.group(idx).map(str::to_owned);
            groups.push(chars.zip(text).map(|(chars, text)| Group { chars, text }));
        }
        Ok(PyMatch { groups })
    }
}

/// The cost of an item in addition to its text.
pub(in crate::text) const ITEM_BYTES: u64 = 24;

fn bytes_of(found: &FindAllItem) -> u64 {
    match found {
        FindAllItem::Text(text) => text.len() as u64 + ITEM_BYTES,
        FindAllItem::Groups(texts) => {
            texts.iter().map(|text| text.len() as u64 + ITEM_BYTES).sum::<u64>() + ITEM_BYTES
        }
    }
}
