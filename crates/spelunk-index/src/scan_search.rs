//! Searches by reading the text: by words only, when there is no index, for example while the embedding model is
//! unreachable. Every document is read once; filters and phrases work as in an index.

use spelunk_context::{Detector, DocEntry, SourceError, View};

use crate::catalogue::DocumentRecord;
use crate::choose::RankOptions;
use crate::index::notice::Notice;
use crate::index::search::SearchResults;
use crate::query::{Mode, Parsed, Query};
use crate::rank::rank;

const BYTES_MAX: u64 = 1_000_000;

/// How many passages are considered per requested one, since some may be filtered out.
const SPARE: u64 = 5;

/// The best passages by words alone. `because` says why, and is the first notice.
pub fn search_by_reading(
    view: &View,
    query: &Query,
    detector: &Detector,
    because: Notice,
) -> Result<SearchResults, SourceError> {
    let record =
        |document: &DocEntry| DocumentRecord::of(0, document, 0, Some(&detector.detect(&document.name, "")));
    let parsed = Parsed::of(query, &|kind| view.documents().any(|document| record(document).is_kind(kind)));
    let is_filtered = !parsed.filters.is_empty();
    let view =
        view.narrow(|document| !is_filtered || parsed.filters.wants(&document.name, &record(document)));
    let mut found = SearchResults {
        mode: Mode::Words,
        documents: view.documents().len() as u64,
        notices: vec![because],
        ..SearchResults::default()
    };
    if parsed.is_cut {
        found.notices.push(Notice::QueryCut);
    }
    if parsed.terms.is_empty() {
        found.notices.push(Notice::NothingAsked);
        return Ok(found);
    }
    let hits_max = query.hits_max.clamp(1, Query::HITS_MAX);
    let ranking =
        rank(&view, &parsed.asked, &RankOptions::new(hits_max as u64 * SPARE, BYTES_MAX), &mut |_| {})?;
    let passages = ranking.passages.into_iter();
    found.hits = passages.filter(|passage| parsed.allows(&passage.text)).take(hits_max).collect();
    Ok(found)
}

#[cfg(test)]
mod tests;
