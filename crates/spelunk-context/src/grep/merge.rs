//! Merges tallies in unit order. Decides which matches are shown and when enough were found.

use std::collections::BTreeMap;

use super::scan::{MatchedLine, Tally};
use super::{Extent, GrepQuery};
use crate::ReadError;

#[derive(Debug, Default)]
pub(super) struct SearchResult {
    pub(super) documents: Vec<DocumentResult>,
    pub(super) n_matches: u64,
    pub(super) stopped_early: bool,
    pub(super) bytes_scanned: u64,
}

#[derive(Debug, Default)]
pub(super) struct DocumentResult {
    pub(super) target_idx: usize,
    pub(super) n_matches: u64,
    pub(super) places: Vec<MatchedLine>,
    pub(super) error: Option<ReadError>,
}

pub(super) struct Merge<'a> {
    query: &'a GrepQuery,
    pub(super) found: SearchResult,
    n_places: u64,
    next_idx: usize,
    /// Tallies that arrived early: about as many as there are threads.
    early: BTreeMap<usize, (usize, Result<Tally, ReadError>)>,
    current: Current,
}

#[derive(Default)]
struct Current {
    target_idx: usize,
    n_line_ends: u64,
    has_failed: bool,
}

impl<'a> Merge<'a> {
    pub(super) fn new(query: &'a GrepQuery) -> Self {
        let (found, current) = (SearchResult::default(), Current::default());
        Self { query, found, n_places: 0, next_idx: 0, early: BTreeMap::new(), current }
    }

    pub(super) fn takes_more_places(&self) -> bool {
        self.n_places < self.query.matches_max
    }

    pub(super) fn is_over(&self) -> bool {
        self.found.stopped_early
    }

    pub(super) fn put(&mut self, unit_idx: usize, target_idx: usize, outcome: Result<Tally, ReadError>) {
        if let Ok(tally) = &outcome {
            self.found.bytes_scanned += tally.bytes_read;
        }
        self.early.insert(unit_idx, (target_idx, outcome));
        while !self.is_over()
            && let Some((target_idx, outcome)) = self.early.remove(&self.next_idx)
        {
            self.next_idx += 1;
            if self.current.target_idx != target_idx {
                self.current = Current { target_idx, ..Current::default() };
            }
            match outcome {
                Ok(tally) if !self.current.has_failed => self.add(tally),
                Err(error) if !self.current.has_failed => self.fail(error),
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn add(&mut self, tally: Tally) {
        let lines_before = self.current.n_line_ends;
        self.current.n_line_ends += tally.n_line_ends;
        if tally.n_matches == 0 {
            return;
        }
        let n_free = usize::try_from(self.query.matches_max - self.n_places).unwrap_or(usize::MAX);
        let n_kept = n_free.min(tally.places.len());
        self.n_places += n_kept as u64;
        self.found.n_matches += tally.n_matches;
        let n_allowed = match self.query.extent {
            Extent::Whole => u64::MAX,
            Extent::FirstMatches => self.query.matches_max + 1,
        };
        let n_excess = self.found.n_matches.saturating_sub(n_allowed);
        self.found.n_matches -= n_excess;
        self.found.stopped_early = self.found.n_matches == n_allowed;
        let document = self.document();
        document.n_matches += tally.n_matches - n_excess;
        let places = tally.places.into_iter().take(n_kept);
        document
            .places
            .extend(places.map(|place| MatchedLine { line: lines_before + place.line + 1, ..place }));
    }

    /// Discards the matches of a document that failed: a partial result would look complete.
    fn fail(&mut self, error: ReadError) {
        self.current.has_failed = true;
        let document = self.document();
        document.error = Some(error);
        document.places.clear();
        let n_matches = std::mem::take(&mut document.n_matches);
        self.found.n_matches -= n_matches;
    }

    /// The report of the current document, created with its first match.
    fn document(&mut self) -> &mut DocumentResult {
        let target_idx = self.current.target_idx;
        let documents = &mut self.found.documents;
        if documents.last().is_none_or(|last| last.target_idx != target_idx) {
            documents.push(DocumentResult { target_idx, ..DocumentResult::default() });
        }
        documents.last_mut().expect("one was just pushed")
    }
}

impl Tally {
    pub(super) fn append(&mut self, part: Self) {
        let lines_before = self.n_line_ends;
        let places = part.places.into_iter();
        self.places.extend(places.map(|place| MatchedLine { line: lines_before + place.line, ..place }));
        self.n_matches += part.n_matches;
        self.n_line_ends += part.n_line_ends;
        self.bytes_read += part.bytes_read;
    }
}
