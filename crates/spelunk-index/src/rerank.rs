//! Refines the ranking of the inverted index: of the best candidates, those that contain more distinct words, and
//! contain them adjacent as in the query, move up. The index alone would let one frequent word outweigh all others.

use tantivy::query::{EnableScoring, PhraseQuery, Query as _};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentOrdinal, TERMINATED, Term};

use crate::query::{Parsed, QueryTerm};
use crate::score::{PAIR_SHARE, weight};
use crate::words::Form;

/// How far apart in the query two words may be, with stop words between them.
const PAIR_GAP_MAX: usize = 2;

/// How many candidates determine the kind of a query.
const LOOKED_AT: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Reranked {
    /// The best first.
    pub(crate) scored: Vec<(f32, DocAddress)>,
    /// The share of the query that one of the best candidates contains, by the weight of its words: 1 if all.
    pub(crate) covered: f32,
}

pub(crate) fn refine(
    parsed: &Parsed,
    searcher: &Searcher,
    field: Field,
    ranked: Vec<(f32, DocAddress)>,
) -> tantivy::Result<Reranked> {
    let words: Vec<&QueryTerm> = parsed.terms.iter().filter(|term| term.form == Form::Plain).collect();
    let frequencies = words.iter().map(|word| searcher.doc_freq(&Term::from_field_text(field, &word.text)));
    let frequencies = frequencies.collect::<tantivy::Result<Vec<u64>>>()?;
    let weights: Vec<f32> =
        frequencies.into_iter().map(|n_with| weight(searcher.num_docs(), n_with)).collect();
    let total: f32 = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let mut candidates: Vec<Candidate> =
        ranked.into_iter().map(|(score, at)| Candidate { at, score, covered: 0.0, paired: 0.0 }).collect();
    candidates.sort_by_key(|candidate| candidate.at);
    for of_segment in candidates.chunk_by_mut(|a, b| a.at.segment_ord == b.at.segment_ord) {
        let segment = Segment { searcher, ord: of_segment[0].at.segment_ord, field };
        for (word, weight) in words.iter().zip(&weights) {
            segment.each_with(&word.text, of_segment, |candidate| candidate.covered += weight)?;
        }
        for (pair, weights) in words.windows(2).zip(weights.windows(2)) {
            let (before, after) = (pair[0], pair[1]);
            let gap = after.position.saturating_sub(before.position);
            if (1..=PAIR_GAP_MAX).contains(&gap) {
                let together = PAIR_SHARE * (weights[0] + weights[1]);
                segment.each_with_pair(before, after, gap, of_segment, |candidate| {
                    candidate.paired += together;
                })?;
            }
        }
    }
    let mut scored: Vec<(f32, DocAddress, f32)> = candidates
        .iter()
        .map(|candidate| {
            let share = candidate.covered / total;
            ((candidate.score + candidate.paired) * (1.0 + share), candidate.at, share)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let covered = scored.iter().take(LOOKED_AT).map(|(_, _, share)| *share).fold(0.0, f32::max);
    Ok(Reranked { scored: scored.into_iter().map(|(score, at, _)| (score, at)).collect(), covered })
}

struct Candidate {
    at: DocAddress,
    score: f32,
    covered: f32,
    paired: f32,
}

struct Segment<'a> {
    searcher: &'a Searcher,
    ord: SegmentOrdinal,
    field: Field,
}

impl Segment<'_> {
    /// Calls back for each candidate, in order, that contains a word.
    fn each_with(
        &self,
        word: &str,
        candidates: &mut [Candidate],
        on_match: impl FnMut(&mut Candidate),
    ) -> tantivy::Result<()> {
        let index = self.searcher.segment_reader(self.ord).inverted_index(self.field)?;
        let term = Term::from_field_text(self.field, word);
        if let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? {
            visit(&mut postings, candidates, on_match);
        }
        Ok(())
    }

    /// Like `each_with`, for two words at this distance.
    fn each_with_pair(
        &self,
        before: &QueryTerm,
        after: &QueryTerm,
        gap: usize,
        candidates: &mut [Candidate],
        on_match: impl FnMut(&mut Candidate),
    ) -> tantivy::Result<()> {
        let term = |word: &QueryTerm| Term::from_field_text(self.field, &word.text);
        let phrase = PhraseQuery::new_with_offset(vec![(0, term(before)), (gap, term(after))]);
        let weight = phrase.weight(EnableScoring::disabled_from_searcher(self.searcher))?;
        let mut scorer = weight.scorer(self.searcher.segment_reader(self.ord), 1.0)?;
        visit(&mut *scorer, candidates, on_match);
        Ok(())
    }
}

fn visit<S: DocSet + ?Sized>(
    found: &mut S,
    candidates: &mut [Candidate],
    mut on_match: impl FnMut(&mut Candidate),
) {
    for candidate in candidates {
        let wanted: DocId = candidate.at.doc_id;
        let mut at = found.doc();
        if at < wanted {
            at = found.seek(wanted);
        }
        if at == TERMINATED {
            return;
        }
        if at == wanted {
            on_match(candidate);
        }
    }
}

#[cfg(test)]
mod tests;
