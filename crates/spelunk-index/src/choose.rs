//! Selects the passages to show: the best ones that fit, each text once.

use std::collections::{BTreeMap, HashMap, HashSet};

use spelunk_context::{DocEntry, SourceError, View};

use crate::highlight::{Mark, mark_text};
use crate::index::search::Hit;
use crate::question::Question;
use crate::score::Scorer;
use crate::tally::{Match, Tally};

/// How much to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankOptions {
    /// The maximum number of passages.
    pub passages_max: u64,
    /// The approximate number of lines per passage.
    pub passage_lines: u64,
    /// The maximum size of all passages together.
    pub bytes_max: u64,
}

impl RankOptions {
    /// Passages of the default length.
    pub fn new(passages_max: u64, bytes_max: u64) -> Self {
        Self { passages_max, passage_lines: 12, bytes_max }
    }
}

struct Scored<'a> {
    score: f32,
    document: &'a DocEntry,
    tally: &'a Tally,
    found: &'a Match,
}

/// The best passages, ordered by score, then by document and line.
pub(crate) fn choose(
    view: &View,
    question: &Question,
    tallies: &[(&DocEntry, Tally)],
    options: &RankOptions,
) -> Result<Vec<Hit>, SourceError> {
    let weights = Scorer::of(question.n_words(), view.bytes(), tallies.iter().map(|(_, tally)| tally));
    let mut scored = Vec::new();
    for (document, tally) in tallies {
        for found in &tally.matches {
            scored.push(Scored { score: weights.score(tally, found), document, tally, found });
        }
    }
    scored.sort_unstable_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.document.name.cmp(&b.document.name))
            .then_with(|| a.found.piece.span.start.cmp(&b.found.piece.span.start))
    });
    let chosen = fitting(&scored, options);
    let mut n_alike: HashMap<u64, u64> = HashMap::new();
    for candidate in &scored {
        *n_alike.entry(candidate.found.fingerprint).or_default() += 1;
    }
    let twins = |scored: &Scored<'_>| n_alike[&scored.found.fingerprint] - 1;
    let mut passages: Vec<Hit> =
        chosen.iter().map(|scored| describe(question, scored, twins(scored))).collect();
    fill_in(view, question, &chosen, &mut passages)?;
    Ok(passages)
}

/// Takes what fits, best first. One that is too long is skipped, so that a shorter one may still fit.
fn fitting<'a>(scored: &'a [Scored<'a>], options: &RankOptions) -> Vec<&'a Scored<'a>> {
    let mut chosen = Vec::new();
    let mut bytes_left = options.bytes_max;
    let mut seen = HashSet::new();
    for candidate in scored {
        if chosen.len() as u64 >= options.passages_max {
            break;
        }
        let bytes = candidate.found.piece.span.len() as u64;
        if bytes <= bytes_left && seen.insert(candidate.found.fingerprint) {
            bytes_left -= bytes;
            chosen.push(candidate);
        }
    }
    chosen
}

fn describe(question: &Question, scored: &Scored<'_>, twins: u64) -> Hit {
    let Scored { score, document, tally, found } = scored;
    let words = found.words.or(tally.words_in_name);
    Hit {
        document: document.name.clone(),
        doc_idx: document.idx,
        line_start: found.piece.line_start,
        line_end: found.piece.line_end,
        span: found.piece.span.clone(),
        scope: None,
        text: String::new(),
        score: *score,
        similarity: None,
        mark: Mark::default(),
        matched: words.iter().map(|word_idx| question.shown(word_idx).to_owned()).collect(),
        twins,
    }
}

/// Reads each document with selected passages once more, for their text.
fn fill_in(
    view: &View,
    question: &Question,
    chosen: &[&Scored<'_>],
    passages: &mut [Hit],
) -> Result<(), SourceError> {
    let documents: BTreeMap<u32, &DocEntry> =
        chosen.iter().map(|scored| (scored.document.idx, scored.document)).collect();
    for (idx, document) in documents {
        let text = view.read_owned(document)?;
        for passage in passages.iter_mut().filter(|passage| passage.doc_idx == idx) {
            text.get(passage.span.clone()).unwrap_or_default().clone_into(&mut passage.text);
            passage.mark = mark_text(&passage.text, passage.line_start, question);
        }
    }
    Ok(())
}
