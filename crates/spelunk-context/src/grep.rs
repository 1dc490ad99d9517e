//! Grep: the lines that match a pattern, in one document or over a view. Text is read in pieces and never held; the
//! first matches are shown, and all are counted unless the caller wants only the first. Where a reader redacts secrets,
//! the search does not see them: neither a secret nor the mark that replaces it can be found.

mod memory;
mod merge;
mod pattern;
mod scan;
mod secret_mask;
mod show;
mod units;
mod view;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;

use spelunk_types::Limits;

use self::pattern::{Choice, Pattern};
use self::units::{Sizes, Target};
pub use self::view::{DocumentMatches, ViewGrepReport, grep_view};
use crate::{ReadError, Reader};

/// What to search for, and how much of it to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression, or plain text if `literal` is set. Matched within one line.
    pub pattern: String,
    /// Whether case matters.
    pub case_sensitive: bool,
    /// Whether every character of the pattern is literal.
    pub literal: bool,
    /// Lines shown before and after each match.
    pub context_lines: u64,
    /// Matches shown; 0 only counts.
    pub matches_max: u64,
    /// The maximum length of the pattern.
    pub pattern_bytes_max: u64,
    /// When to stop.
    pub extent: Extent,
}

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// To the end: every match is counted.
    Whole,
    /// Until it is known that there are more matches than are shown.
    FirstMatches,
}

impl GrepQuery {
    /// The maximum number of lines shown around a match.
    pub const CONTEXT_LINES_MAX: u64 = 100;

    /// The maximum number of matches shown.
    pub const MATCHES_MAX: u64 = 10_000;

    /// A case-insensitive regular expression, two lines of context, all matches counted.
    pub fn new(pattern: impl Into<String>) -> Self {
        let limits = Limits::default();
        Self {
            pattern: pattern.into(),
            case_sensitive: false,
            literal: false,
            context_lines: 2,
            matches_max: limits.grep_matches_max,
            pattern_bytes_max: limits.pattern_bytes_max,
            extent: Extent::Whole,
        }
    }

    /// Compiles the query, or refuses an invalid one. Compiling takes as long as searching a hundred kilobytes, so it
    /// is done once for many documents.
    pub fn compile(&self) -> Result<CompiledQuery, ReadError> {
        ReadError::check("lines of context", self.context_lines, 0, Self::CONTEXT_LINES_MAX)?;
        ReadError::check("matches", self.matches_max, 0, Self::MATCHES_MAX)?;
        Ok(CompiledQuery { pattern: Pattern::compile(self)?, query: self.clone() })
    }
}

/// A query ready to search any number of documents.
#[derive(Debug, Clone)]
pub struct CompiledQuery {
    query: GrepQuery,
    pattern: Pattern,
}

impl CompiledQuery {
    /// The number of matching lines in a plain text in memory. Shows nothing and starts no threads: the fast path for
    /// many small texts.
    pub fn count_in(&self, text: &[u8]) -> u64 {
        let mut n_matches = 0;
        let all = self.pattern.each_line(text, Choice::Matching, |_| {
            n_matches += 1;
            ControlFlow::Continue(())
        });
        debug_assert!(all.is_continue(), "nobody stopped it");
        n_matches
    }
}

/// The result of a search in one document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrepReport {
    /// The first matches, in text order.
    pub matches: Vec<GrepMatch>,
    /// The number of matching lines: all of them, or one more than are shown if the search stopped early.
    pub n_matches: u64,
    /// Whether more lines match than are shown.
    pub truncated: bool,
    /// Whether the search stopped before the end of the text, so that `n_matches` is a lower bound.
    pub stopped_early: bool,
    /// How much was read. Threads may have read beyond the point where a search stopped.
    pub bytes_scanned: u64,
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    /// The line number, from 1.
    pub line: u64,
    /// Its text with its indentation; `…` where a long line is truncated around its first match.
    pub text: String,
    /// Byte ranges in `text` that match the pattern.
    pub ranges: Vec<Range<usize>>,
    /// The lines before it, truncated at their ends.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
}

impl Reader {
    /// Searches the document, on several threads if it is long. Linear in its size for any pattern.
    pub fn grep(&self, query: &GrepQuery, cancel: &AtomicBool) -> Result<GrepReport, ReadError> {
        self.grep_compiled(&query.compile()?, cancel)
    }

    /// The same with a compiled query, for one of many documents.
    pub fn grep_compiled(&self, query: &CompiledQuery, cancel: &AtomicBool) -> Result<GrepReport, ReadError> {
        self.grep_with(query, cancel, Sizes::DEFAULT)
    }

    fn grep_with(
        &self,
        query: &CompiledQuery,
        cancel: &AtomicBool,
        sizes: Sizes,
    ) -> Result<GrepReport, ReadError> {
        let CompiledQuery { query, pattern } = query;
        self.require_fresh()?;
        let targets = [Target::Open(self)];
        let mut found = units::search(&targets, pattern, query, cancel, sizes)?;
        let Some(document) = found.documents.pop() else {
            return Ok(GrepReport { bytes_scanned: found.bytes_scanned, ..GrepReport::default() });
        };
        if let Some(error) = document.error {
            return Err(error);
        }
        let mut matches = Vec::new();
        for place in &document.places {
            matches.push(self.show(pattern, place, query.context_lines)?);
        }
        self.require_fresh()?;
        Ok(GrepReport {
            truncated: document.n_matches > matches.len() as u64,
            matches,
            n_matches: document.n_matches,
            stopped_early: found.stopped_early,
            bytes_scanned: found.bytes_scanned,
        })
    }
}

#[cfg(test)]
mod tests;
