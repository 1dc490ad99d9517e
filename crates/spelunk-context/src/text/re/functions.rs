//! The functions of `re` over a text.

use std::ops::Range;

use super::PyPattern;
use super::engine::How;
use super::expand::Replacement;
use super::walk::{MatchCursor, Walk};
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

impl LazyText {
    /// `re.search`
    pub fn re_search(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.walk(pattern, MatchCursor::default(), false, |walk| walk.one(How::Search))
    }

    /// `re.match`
    pub fn re_match(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.walk(pattern, MatchCursor::default(), false, |walk| walk.one(How::Match))
    }

    /// `re.fullmatch`
    pub fn re_fullmatch(&self, pattern: &PyPattern) -> Result<Option<PyMatch>, TextError> {
        self.walk(pattern, MatchCursor::default(), false, |walk| walk.one(How::FullMatch))
    }

    /// `re.findall`, up to so many matches and about so many bytes of text; `next` says where to go on if there is more.
    pub fn re_findall(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<FindAll, TextError> {
        self.walk(pattern, from, false, |walk| walk.find_all(matches_max, bytes_max))
    }

    /// `re.finditer`, in batches of so many matches and about so many bytes of text.
    pub fn re_finditer(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<Matches, TextError> {
        self.walk(pattern, from, false, |walk| walk.find_iter(matches_max, bytes_max))
    }

    /// How many matches `re.finditer` would give.
    pub fn re_count(&self, pattern: &PyPattern) -> Result<u64, TextError> {
        self.walk(pattern, MatchCursor::default(), false, |walk| {
            while walk.next(false)?.is_some() {}
            Ok(walk.cursor.n_matches())
        })
    }

    /// `re.split`, in batches of about `bytes_max` bytes of text. `splits_max` as Python's `maxsplit`, 0 for all.
    pub fn re_split(
        &self,
        pattern: &PyPattern,
        splits_max: u64,
        from: MatchCursor,
        bytes_max: u64,
    ) -> Result<Splits, TextError> {
        self.walk(pattern, from, true, |walk| walk.split(splits_max, bytes_max))
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
        self.walk(pattern, MatchCursor::default(), true, |walk| {
            walk.substitute(replacement, count, bytes_max)
        })
    }

    /// Goes over the matches from a place on. What comes out is given only if the file is still the one that was opened.
    pub(in crate::text) fn walk<R>(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        gives_parts: bool,
        go: impl FnOnce(&mut Walk<'_>) -> Result<R, TextError>,
    ) -> Result<R, TextError> {
        let outcome = std::thread::scope(|scope| {
            let spawn = Box::new(move |job| {
                scope.spawn(job);
            });
            go(&mut Walk::new(self, pattern, from, gives_parts, spawn)?)
        });
        // A file that changed is the reason for whatever else went wrong.
        self.require_fresh()?;
        outcome
    }
}
