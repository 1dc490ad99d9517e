//! Grep over the documents of a view, several at once, reported in name order. A document that cannot be read is listed
//! in the report and does not stop the search.

use std::sync::atomic::AtomicBool;

use super::merge::{DocumentResult, SearchResult};
use super::units::{self, Sizes, Target};
use super::{CompiledQuery, GrepMatch, GrepQuery, Pattern};
use crate::{DocEntry, ReadError, Reader, View};

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

/// The matches of one document that are in the report, read again from the document.
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
    let mut matches = Vec::new();
    if !found.places.is_empty() {
        let reader = Reader::of_document(view, document)?;
        for place in &found.places {
            matches.push(reader.show(pattern, place, query.context_lines)?);
        }
        reader.require_fresh()?;
    }
    Ok((matches, found.n_matches))
}
