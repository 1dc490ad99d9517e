//! Searches by reading the text: by words only, when there is no index, for example while the embedding model is
//! unreachable. Every document is read once; filters and phrases work as in an index.

use std::collections::HashSet;

use spelunk_context::{Detector, DocEntry, SourceError, View};

use crate::catalogue::DocumentRecord;
use crate::choose::Passage;
use crate::choose::RankOptions;
use crate::highlight::mark;
use crate::index::notice::Notice;
use crate::index::search::{Found, Hit};
use crate::index::update::record_of;
use crate::query::{Mode, Parsed, Phrase, Query};
use crate::rank::rank;
use crate::terms::terms;
use crate::words::Form;

/// The maximum size of all passages together.
const BYTES_MAX: u64 = 1_000_000;

/// How many passages are considered per requested one, since some may be filtered out.
const SPARE: u64 = 5;

/// The best passages by words alone. `because` is the reason, and the first of the notices.
pub fn search_by_reading(
    view: &View,
    query: &Query,
    detector: &Detector,
    because: Notice,
) -> Result<Found, SourceError> {
    let told = |document: &DocEntry| record_of(0, document, 0, Some(&detector.detect(&document.name, "")));
    let is_kind = |record: &DocumentRecord, kind: &str| {
        record.language.as_deref() == Some(kind) || record.custom.as_deref() == Some(kind)
    };
    let parsed = Parsed::of(query, &|kind| view.documents().any(|document| is_kind(&told(document), kind)));
    let view = view.narrow(|document| parsed.filters.wants(&document.name, &told(document)));
    let mut found = Found {
        hits: Vec::new(),
        mode: Mode::Words,
        documents: view.documents().len() as u64,
        documents_missing: 0,
        notices: vec![because],
    };
    if parsed.is_cut {
        found.notices.push(Notice::QueryCut);
    }
    if parsed.terms.is_empty() {
        found.notices.push(Notice::NothingAsked);
        return Ok(found);
    }
    let hits_max = query.hits_max.clamp(1, Query::HITS_MAX);
    let is_wanted = |passage: &Passage| {
        parsed.phrases.iter().all(|phrase| holds(&passage.text, phrase))
            && !parsed.excluded.iter().any(|phrase| holds(&passage.text, phrase))
    };
    let ranking =
        rank(&view, &parsed.asked, &RankOptions::new(hits_max as u64 * SPARE, BYTES_MAX), &mut |_| {})?;
    let wanted = ranking.passages.into_iter().filter(is_wanted).take(hits_max);
    found.hits = wanted.map(|passage| hit_of(passage, &parsed.asked)).collect();
    Ok(found)
}

fn hit_of(passage: Passage, asked: &str) -> Hit {
    let mark = mark(&passage, asked);
    let Passage { document, doc_idx, line_start, line_end, span, text, score, matched, twins } = passage;
    let (scope, similarity) = (None, None);
    Hit {
        document,
        doc_idx,
        line_start,
        line_end,
        span,
        scope,
        text,
        score,
        similarity,
        matched,
        mark,
        twins,
    }
}

/// Whether the words of a phrase are consecutive in a text.
fn holds(text: &str, phrase: &Phrase) -> bool {
    let Some((first_at, first)) = phrase.first() else { return true };
    let (mut held, mut starts) = (HashSet::new(), Vec::new());
    terms(text, &mut |term| {
        if term.form == Form::Plain && phrase.iter().any(|(_, word)| word == term.text) {
            held.insert((term.position, term.text.to_owned()));
            if term.text == first {
                starts.push(term.position);
            }
        }
    });
    let is_at = |start: usize| {
        phrase.iter().all(|(at, word)| held.contains(&(start + (at - first_at), word.clone())))
    };
    starts.into_iter().any(is_at)
}

#[cfg(test)]
mod tests;
