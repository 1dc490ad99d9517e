//! The functions of `re` over a text: one match, or one after the other as Python 3.7 goes on behind an empty one.

use std::ops::Range;

use super::PyPattern;
use super::engine::How;
use super::expand::Replacement;
use super::search::Hunt;
use crate::text::{LazyText, TextError};

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PyMatch {
    /// By number; 0 is the whole match. `None` where a group took no part in it.
    pub groups: Vec<Option<Group>>,
}

/// What a group matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where, in characters of the text.
    pub chars: Range<u64>,
    /// The text there.
    pub text: String,
}

/// What `re.findall` gives for one match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The match, or its one group.
    Text(String),
    /// Its groups, empty where one took no part.
    Groups(Vec<String>),
}

/// What `re.findall` gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindAll {
    /// In the order of the text.
    pub items: Vec<Found>,
    /// Where the next match would be looked for, if these are not all.
    pub next: Option<MatchCursor>,
}

/// Some matches, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matches {
    /// In the order of the text.
    pub items: Vec<PyMatch>,
    /// Nothing at the end.
    pub next: Option<MatchCursor>,
}

/// Part of what `re.split` gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splits {
    /// Text between matches, and groups of the matches.
    pub items: Vec<SplitPart>,
    /// Nothing at the end.
    pub next: Option<MatchCursor>,
}

/// Text between matches or a group of one; `None` for a group that took no part.
pub type SplitPart = Option<String>;

/// A place to go on from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MatchCursor {
    /// Where the next match may begin, in bytes of the document.
    at: u64,
    /// Whether an empty match was there.
    is_behind_empty: bool,
    /// For splitting: where the text before the next match begins.
    part_start: u64,
    /// How many matches there were.
    n_matches: u64,
}

impl MatchCursor {
    pub(in crate::text) fn from_byte(at: u64) -> Self {
        Self { at, part_start: at, ..Self::default() }
    }

    pub(in crate::text) fn n_matches(&self) -> u64 {
        self.n_matches
    }
}

impl LazyText {
    /// `re.search`
    pub fn re_search(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.one(pattern, How::Search)
    }

    /// `re.match`
    pub fn re_match(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.one(pattern, How::Match)
    }

    /// `re.fullmatch`
    pub fn re_fullmatch(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.one(pattern, How::FullMatch)
    }

    /// `re.findall`, up to so many matches and bytes of text; `next` says where to go on if there is more.
    pub fn re_findall(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<FindAll, TextError> {
        let mut walk = Walk::new(self, pattern, from, false)?;
        let (mut items, mut bytes) = (Vec::new(), 0);
        let wants_groups = pattern.n_groups() > 0;
        while (items.len() as u64) < matches_max && bytes < bytes_max {
            if walk.next(wants_groups)?.is_none() {
                self.require_fresh()?;
                return Ok(FindAll { items, next: None });
            }
            let text = |idx: usize| walk.hunt.group(idx).unwrap_or_default().to_owned();
            let item = match pattern.n_groups() {
                n_groups @ (0 | 1) => Found::Text(text(n_groups)),
                n_groups => Found::Groups((1..=n_groups).map(text).collect()),
            };
            bytes += item.bytes();
            items.push(item);
        }
        self.require_fresh()?;
        Ok(FindAll { items, next: Some(walk.cursor) })
    }

    /// `re.finditer`, in batches of so many matches and bytes of text.
    pub fn re_finditer(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<Matches, TextError> {
        let mut walk = Walk::new(self, pattern, from, false)?;
        let (mut items, mut bytes) = (Vec::new(), 0);
        while (items.len() as u64) < matches_max && bytes < bytes_max {
            if walk.next(true)?.is_none() {
                self.require_fresh()?;
                return Ok(Matches { items, next: None });
            }
            let item = walk.hunt.py_match()?;
            bytes += item.groups.iter().flatten().map(|group| group.text.len() as u64).sum::<u64>();
            items.push(item);
        }
        self.require_fresh()?;
        Ok(Matches { items, next: Some(walk.cursor) })
    }

    /// How many matches `re.finditer` would give.
    pub fn re_count(&self, pattern: &PyPattern) -> Result<u64, TextError> {
        let mut walk = Walk::new(self, pattern, MatchCursor::default(), false)?;
        while walk.next(false)?.is_some() {}
        self.require_fresh()?;
        Ok(walk.cursor.n_matches)
    }

    /// `re.split`, in batches of about `bytes_max` bytes of text. `splits_max` as Python's `maxsplit`, 0 for all.
    pub fn re_split(
        &self,
        pattern: &PyPattern,
        splits_max: u64,
        from: MatchCursor,
        bytes_max: u64,
    ) -> Result<Splits, TextError> {
        let mut walk = Walk::new(self, pattern, from, true)?;
        let (mut items, mut bytes) = (Vec::new(), 0);
        loop {
            if bytes >= bytes_max {
                self.require_fresh()?;
                return Ok(Splits { items, next: Some(walk.cursor) });
            }
            let is_over = splits_max > 0 && walk.cursor.n_matches >= splits_max;
            let found = if is_over { None } else { walk.next(true)? };
            let part_end = found.as_ref().map_or(self.bytes(), |found| found.start);
            let part = walk.part(walk.cursor.part_start..part_end)?;
            bytes += part.len() as u64 + PART_BYTES;
            items.push(Some(part));
            let Some(found) = found else {
                self.require_fresh()?;
                return Ok(Splits { items, next: None });
            };
            for idx in 1..=pattern.n_groups() {
                let group = walk.hunt.group(idx).map(str::to_owned);
                bytes += group.as_ref().map_or(0, String::len) as u64 + PART_BYTES;
                items.push(group);
            }
            walk.cursor.part_start = found.end;
        }
    }

    /// `re.subn`: the text with up to `count` matches replaced, 0 for all, and how many there were. Refused where the
    /// result has more than `bytes_max` bytes.
    pub fn re_sub(
        &self,
        pattern: &PyPattern,
        replacement: &Replacement,
        count: u64,
        bytes_max: u64,
    ) -> Result<(String, u64), TextError> {
        let mut walk = Walk::new(self, pattern, MatchCursor::default(), true)?;
        let mut out = String::new();
        loop {
            let is_over = count > 0 && walk.cursor.n_matches >= count;
            let found = if is_over { None } else { walk.next(replacement.has_groups())? };
            let part_end = found.as_ref().map_or(self.bytes(), |found| found.start);
            if part_end.saturating_sub(walk.cursor.part_start) > bytes_max {
                return Err(TextError::ResultTooLarge { bytes_max });
            }
            out.push_str(&walk.part(walk.cursor.part_start..part_end)?);
            if let Some(found) = &found {
                replacement.expand(|idx| walk.hunt.group(idx), &mut out);
                walk.cursor.part_start = found.end;
            }
            if out.len() as u64 > bytes_max {
                return Err(TextError::ResultTooLarge { bytes_max });
            }
            if found.is_none() {
                self.require_fresh()?;
                return Ok((out, walk.cursor.n_matches));
            }
        }
    }

    fn one(&self, pattern: &PyPattern, how: How) -> Result<Option<PyMatch>, TextError> {
        let mut hunt = Hunt::new(self, pattern, false)?;
        let found = match hunt.find(0, how, true)? {
            Some(_) => Some(hunt.py_match()?),
            None => None,
        };
        self.require_fresh()?;
        Ok(found)
    }
}

/// What an item costs beside its text.
const PART_BYTES: u64 = 24;

impl Found {
    fn bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64 + PART_BYTES,
            Self::Groups(texts) => {
                texts.iter().map(|text| text.len() as u64 + PART_BYTES).sum::<u64>() + PART_BYTES
            }
        }
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

/// One match after the other.
pub(in crate::text) struct Walk<'t> {
    pub(in crate::text) hunt: Hunt<'t>,
    pub(in crate::text) cursor: MatchCursor,
}

impl<'t> Walk<'t> {
    pub(in crate::text) fn new(
        text: &'t LazyText,
        pattern: &'t PyPattern,
        from: MatchCursor,
        gives_parts: bool,
    ) -> Result<Self, TextError> {
        Ok(Self { hunt: Hunt::new(text, pattern, gives_parts)?, cursor: from })
    }

    /// The next match, as a range of the document.
    pub(in crate::text) fn next(&mut self, wants_groups: bool) -> Result<Option<Range<u64>>, TextError> {
        let cursor = self.cursor;
        let mut found = None;
        if cursor.is_behind_empty {
            // At the same place only a longer match is another one.
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
