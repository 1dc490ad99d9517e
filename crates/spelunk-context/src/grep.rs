//! Grep: the lines that match a pattern, in one document or over a view. Text is read in pieces and never held; the
//! first matches are shown, and all are counted unless the caller wants only the first. Where a reader redacts secrets,
//! the search does not see them: neither a secret nor the mark that replaces it can be found. Over a view, a document
//! that cannot be read is listed in the report and does not stop the search.

mod merge;
mod pattern;
mod scan;
mod secret_mask;
mod show;
mod units;

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use spelunk_types::Limits;

use self::merge::{DocumentResult, SearchResult};
use self::pattern::Pattern;
use self::units::{Sizes, Target};
use crate::{DocEntry, ReadError, Reader, View};

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

    /// Compiles the query, or refuses an invalid one. It costs as much as searching a hundred kilobytes.
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
    /// Shows at most this many matches in the next document.
    pub fn show_at_most(&mut self, matches_max: u64) {
        self.query.matches_max = matches_max;
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

    /// Like [`Self::grep`], with a compiled query, for one of many documents.
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
        let matches = self.show_all(pattern, &document.places, query.context_lines)?;
        Ok(GrepReport {
            truncated: document.n_matches > matches.len() as u64,
            matches,
            n_matches: document.n_matches,
            stopped_early: found.stopped_early,
            bytes_scanned: found.bytes_scanned,
        })
    }
}

/// The result of a search in a view.
#[derive(Debug, Default)]
pub struct ViewGrepReport {
    /// The documents with matches, in view order. Only the first ones include their matches.
    pub documents: Vec<DocumentMatches>,
    /// Matching lines over all documents: all of them, or one more than are shown if the search stopped early.
    pub n_matches: u64,
    /// Whether more lines match than are shown.
    pub truncated: bool,
    /// Whether the search stopped before the end of the last document.
    pub stopped_early: bool,
    /// How much was read.
    pub bytes_scanned: u64,
    /// Documents that could not be read.
    pub unreadable: Vec<(String, ReadError)>,
}

/// One document with matches.
#[derive(Debug, PartialEq, Eq)]
pub struct DocumentMatches {
    /// Its name.
    pub document: String,
    /// Its first matches; fewer than `n_matches`, or none, if earlier documents filled the report.
    pub matches: Vec<GrepMatch>,
    /// The number of its matching lines.
    pub n_matches: u64,
}

/// Searches every document of a view. `matches_max` applies to all of them together, in order.
pub fn grep_view(view: &View, query: &GrepQuery, cancel: &AtomicBool) -> Result<ViewGrepReport, ReadError> {
    let CompiledQuery { query, pattern } = query.compile()?;
    let documents: Vec<&DocEntry> = view.documents().collect();
    let targets: Vec<_> = documents.iter().map(|document| Target::Closed { view, document }).collect();
    let SearchResult { documents: found, n_matches, stopped_early, bytes_scanned } =
        units::search(&targets, &pattern, &query, cancel, Sizes::DEFAULT)?;
    let mut report = ViewGrepReport { n_matches, stopped_early, bytes_scanned, ..ViewGrepReport::default() };
    for document in found {
        let name = documents[document.target_idx].name.clone();
        match shown(view, documents[document.target_idx], document, &pattern, &query) {
            Ok((matches, n_matches)) => {
                report.documents.push(DocumentMatches { document: name, matches, n_matches });
            }
            Err(error) => report.unreadable.push((name, error)),
        }
    }
    let n_shown: usize = report.documents.iter().map(|document| document.matches.len()).sum();
    report.truncated = n_matches > n_shown as u64;
    Ok(report)
}

fn shown(
    view: &View,
    document: &DocEntry,
    found: DocumentResult,
    pattern: &Pattern,
    query: &GrepQuery,
) -> Result<(Vec<GrepMatch>, u64), ReadError> {
    if let Some(error) = found.error {
        return Err(error);
    }
    if found.places.is_empty() {
        return Ok((Vec::new(), found.n_matches));
    }
    let reader = Reader::of_document(view, document)?;
    Ok((reader.show_all(pattern, &found.places, query.context_lines)?, found.n_matches))
}

#[cfg(test)]
mod tests;
