//! Search over all contexts, in registration order. A context that cannot be read is reported.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use spelunk_types::Explain as _;

use crate::store::reading::{OpenContext, Purpose};
use crate::store::{AccessCounts, ContextId, ContextKind, ContextStore, StoreError};
use crate::{GrepMatch, GrepQuery, ReadError};

/// A context with matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// Its id.
    pub id: ContextId,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ContextKind,
    /// The number of matching lines.
    pub n_matches: u64,
    /// The first of them, as many as the query shows.
    pub matches: Vec<GrepMatch>,
}

/// The extent of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchReport {
    /// Contexts that were searched.
    pub n_searched: u64,
    /// Contexts with matches.
    pub n_hits: u64,
    /// Matching lines over all contexts.
    pub n_matches: u64,
    /// The first contexts that could not be read, with the reason.
    pub unread: Vec<Unread>,
    /// The number of contexts that could not be read.
    pub n_unread: u64,
    /// Contexts not searched, because there were enough hits or the visitor stopped.
    pub n_left: u64,
}

/// A context that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its id.
    pub id: ContextId,
    /// The error code.
    pub code: spelunk_types::ErrorCode,
    /// The error, with its cause.
    pub reason: String,
}

const UNREAD_SHOWN_MAX: usize = 20;

impl ContextStore {
    /// Searches every context. `visit` receives the hits in registration order and may stop the search; it and the
    /// loaders may use the store, because no lock is held. At most `search_hits_max` contexts are returned.
    pub fn search_all(
        &self,
        query: &GrepQuery,
        cancel: &AtomicBool,
        visit: &mut dyn FnMut(SearchHit) -> ControlFlow<()>,
    ) -> Result<SearchReport, StoreError> {
        let query = query.compile().map_err(StoreError::Request)?;
        let entries: Vec<_> = self.state().catalogue.iter().cloned().collect();
        let mut report = SearchReport { n_left: entries.len() as u64, ..SearchReport::default() };
        for entry in entries {
            if cancel.load(Ordering::Relaxed) {
                return Err(StoreError::Request(ReadError::Cancelled));
            }
            if report.n_hits >= self.settings.search_hits_max {
                break;
            }
            report.n_left -= 1;
            let id = &entry.context.id;
            let grep = |opened: &OpenContext| opened.reader.grep_compiled(&query, cancel);
            let found = match self.retrying(&entry, Purpose::Sweep, grep) {
                Ok((found, opened)) => {
                    self.count(&entry, &opened, AccessCounts { greps: 1, ..AccessCounts::default() });
                    found
                }
                Err(StoreError::Request(error)) => return Err(StoreError::Request(error)),
                Err(error) => {
                    report.note_unread(id, &error);
                    continue;
                }
            };
            report.n_searched += 1;
            if found.n_matches == 0 {
                continue;
            }
            report.n_hits += 1;
            report.n_matches += found.n_matches;
            let hit = SearchHit {
                id: id.clone(),
                name: entry.context.name.clone(),
                kind: entry.context.kind.clone(),
                n_matches: found.n_matches,
                matches: found.matches,
            };
            if visit(hit).is_break() {
                break;
            }
        }
        Ok(report)
    }
}

impl SearchReport {
    fn note_unread(&mut self, id: &ContextId, error: &StoreError) {
        use std::error::Error as _;
        self.n_unread += 1;
        if self.unread.len() < UNREAD_SHOWN_MAX {
            let reason = match error.source() {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            };
            self.unread.push(Unread { id: id.clone(), code: error.code(), reason });
        }
    }
}
