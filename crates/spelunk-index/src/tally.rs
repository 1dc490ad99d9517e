//! The tally of a document: which of its passages contain words of the question, and how many. The text is not kept, so
//! a gigabyte leaves only a few dozen bytes per matching passage.

use std::num::NonZeroUsize;

use crate::passage::{PassageRange, fingerprint, pieces};
use crate::question::{Hit, Question, WORDS_MAX};

/// Longer texts are tallied in segments of about this length, whatever the number of threads.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Passages, matching or not. A text without a match is not cut.
    pub(crate) n_passages: u64,
    n_lines: u64,
    pub(crate) bytes: u64,
    pub(crate) words_in_name: WordSet,
    pub(crate) matches: Vec<Match>,
    /// For every match, one count per word that it contains, in word order.
    counts: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) piece: PassageRange,
    pub(crate) words: WordSet,
    /// The words that follow the previous word as in the question.
    pub(crate) pairs: WordSet,
    /// Equal for passages that differ only in whitespace.
    pub(crate) fingerprint: u64,
    counts_at: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WordSet(u64);

impl WordSet {
    pub(crate) fn insert(&mut self, word_idx: usize) {
        debug_assert!(word_idx < WORDS_MAX);
        self.0 |= 1 << word_idx;
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let idx = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (idx < u64::BITS).then_some(idx as usize)
        })
    }
}

impl Tally {
    /// Scans a text, a long one on several threads.
    pub(crate) fn of(
        question: &Question,
        name: &str,
        text: &str,
        passage_lines: u64,
        threads: NonZeroUsize,
    ) -> Self {
        let is_named = question.is_in(name);
        if !is_named && question.next_place(text, 0).is_none() {
            return Self::default();
        }
        let segments = segments(text, SEGMENT_BYTES);
        let tally_share = |share: &[&str]| {
            let mut tally = Self::default();
            for segment in share {
                tally.append(Self::of_segment(question, segment, passage_lines));
            }
            tally
        };
        let n_each = segments.len().div_ceil(threads.get()).max(1);
        let mut tally = if segments.len() <= n_each {
            tally_share(&segments)
        } else {
            std::thread::scope(|scope| {
                let shares: Vec<_> =
                    segments.chunks(n_each).map(|share| scope.spawn(move || tally_share(share))).collect();
                let mut tally = Self::default();
                for share in shares {
                    tally.append(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                }
                tally
            })
        };
        question.find(name, |hit| tally.words_in_name.insert(hit.word_idx));
        if let Some(first) = pieces(segments.first().unwrap_or(&""), passage_lines).next() {
            tally.add_start(text, first);
        }
        tally.matches.shrink_to_fit();
        tally.counts.shrink_to_fit();
        tally
    }

    fn of_segment(question: &Question, text: &str, passage_lines: u64) -> Self {
        let mut tally = Self { bytes: text.len() as u64, ..Self::default() };
        let mut place = question.next_place(text, 0);
        for piece in pieces(text, passage_lines) {
            tally.n_passages += 1;
            tally.n_lines = piece.line_end;
            let end = piece.span.end;
            if place.is_some_and(|place| place < end) {
                tally.add(question, text, piece);
                place = question.next_place(text, end);
            }
        }
        tally
    }

    /// If a document's name matches, its beginning counts as a match, whatever it contains.
    fn add_start(&mut self, text: &str, first: PassageRange) {
        let is_there = self.matches.first().is_some_and(|found| found.piece == first);
        if !is_there && !self.words_in_name.is_empty() {
            let fingerprint = fingerprint(text.get(first.span.clone()).unwrap_or_default());
            let none = WordSet::default();
            self.matches
                .insert(0, Match { piece: first, words: none, pairs: none, fingerprint, counts_at: 0 });
        }
    }

    fn append(&mut self, segment: Self) {
        let offset = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let counts_before = self.counts.len();
        self.counts.extend(segment.counts);
        for mut found in segment.matches {
            found.piece.line_start += self.n_lines;
            found.piece.line_end += self.n_lines;
            found.piece.span = found.piece.span.start + offset..found.piece.span.end + offset;
            found.counts_at += counts_before;
            self.matches.push(found);
        }
        self.n_passages += segment.n_passages;
        self.n_lines += segment.n_lines;
        self.bytes += segment.bytes;
    }

    /// The words that a match contains, with their counts.
    pub(crate) fn counts(&self, found: &Match) -> impl Iterator<Item = (usize, u8)> {
        let counts = self.counts.get(found.counts_at..).unwrap_or_default();
        found.words.iter().zip(counts.iter().copied())
    }

    fn add(&mut self, question: &Question, text: &str, piece: PassageRange) {
        let text = text.get(piece.span.clone()).unwrap_or_default();
        let mut counts = [0_u8; WORDS_MAX];
        let (mut words, mut pairs) = (WordSet::default(), WordSet::default());
        let mut before: Option<Hit> = None;
        question.find(text, |hit| {
            words.insert(hit.word_idx);
            counts[hit.word_idx] = counts[hit.word_idx].saturating_add(1);
            if before.as_ref().is_some_and(|before| question.is_pair(before, &hit)) {
                pairs.insert(hit.word_idx);
            }
            before = Some(hit);
        });
        if words.is_empty() {
            return;
        }
        let counts_at = self.counts.len();
        self.counts.extend(words.iter().map(|word_idx| counts[word_idx]));
        self.matches.push(Match { piece, words, pairs, fingerprint: fingerprint(text), counts_at });
    }
}

/// Splits the text into segments; all but the last end with a line.
fn segments(text: &str, bytes_wanted: usize) -> Vec<&str> {
    let mut segments = Vec::new();
    let mut rest = text;
    while rest.len() > bytes_wanted {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(bytes_wanted));
        let Some(n_more) = tail.find('\n') else { break };
        let (segment, behind) = rest.split_at(head.len() + n_more + 1);
        segments.push(segment);
        rest = behind;
    }
    segments.push(rest);
    segments
}

#[cfg(test)]
mod tests;
