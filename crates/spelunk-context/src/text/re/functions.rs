//! The functions of `re` over a text.

use std::ops::Range;

use super::engine::How;
use super::walk::{MatchCursor, Walk};
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

    /// `re.findall`, up to a number of matches and about a number of bytes; `next` is where to continue.
    pub fn re_findall(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<FindAllItem>, TextError> {
        self.walk(pattern, from, false, |walk| walk.find_all(matches_max, bytes_max))
    }

    /// `re.finditer`, in batches limited by a number of matches and about a number of bytes.
    pub fn re_finditer(
        &self,
        pattern: &PyPattern,
        from: MatchCursor,
        matches_max: u64,
        bytes_max: u64,
    ) -> Result<TextBatch<PyMatch>, TextError> {
        self.walk(pattern, from, false, |walk| walk.find_iter(matches_max, bytes_max))
    }

    /// `re.split`, in batches of about `bytes_max` bytes of text. `splits_max` is Python's `maxsplit`, 0 for no limit.
    pub fn re_split(
        &self,
        pattern: &PyPattern,
        splits_max: u64,
        from: MatchCursor,
        bytes_max: u64,
    ) -> Result<TextBatch<SplitPart>, TextError> {
        self.walk(pattern, from, true, |walk| walk.split(splits_max, bytes_max))
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
            walk.substitute(replacement, count, bytes_max)
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
        self.require_fresh()?;
        outcome
    }
}
