//! Iterates over matches, continuing after an empty match as Python 3.7 does.

use std::ops::Range;

use super::PyPattern;
use super::engine::How;
use super::search::Hunt;
use crate::text::{LazyText, TextBatch, TextError};

/// A position to continue from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MatchCursor {
    /// The offset in the document where the next match may begin.
    at: u64,
    /// Whether there was an empty match at that position.
    is_behind_empty: bool,
    /// For splitting: where the text before the next match begins.
    pub(super) part_start: u64,
    pub(in crate::text) n_matches: u64,
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

    /// One item for each match, up to a number of them and about a number of bytes.
    pub(super) fn collect<T>(
        &mut self,
        wants_groups: bool,
        matches_max: u64,
        bytes_max: u64,
        item_of: impl Fn(&mut Hunt<'_>) -> Result<(T, u64), TextError>,
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
        self.hunt.text.reader.require_small(bytes, LazyText::SLICE_BYTES_MAX)?;
        self.hunt.between(range)
    }
}

pub(in crate::text) const ITEM_BYTES: u64 = 24;
