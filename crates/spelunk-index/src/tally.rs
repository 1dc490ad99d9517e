//! The tally of a document: which of its passages hold words of the question, and how many. Text is not kept, so a
//! gigabyte leaves only a few dozen bytes per matching passage behind.

use std::hash::{DefaultHasher, Hasher};

use crate::passage::{Piece, pieces};
use crate::question::{Hit, Question, WORDS_MAX};

/// What is known of one document.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Passages, matching or not.
    pub(crate) n_passages: u64,
    /// The length of the text.
    pub(crate) bytes: u64,
    /// The words of the question that the document's name holds.
    pub(crate) words_in_name: WordSet,
    pub(crate) matches: Vec<Match>,
    /// For every match, one count per word that it holds, in the order of the words.
    counts: Vec<u8>,
}

/// A passage worth looking at.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) piece: Piece,
    pub(crate) words: WordSet,
    /// The words that stand behind the one before them, as they do in the question.
    pub(crate) pairs: WordSet,
    /// The same for passages that differ in whitespace only.
    pub(crate) fingerprint: u64,
    counts_at: usize,
}

/// A set of words of the question, by their positions.
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

    /// Ascending.
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
    pub(crate) fn of(question: &Question, name: &str, text: &str, passage_lines: u64) -> Self {
        let mut tally = Self { bytes: text.len() as u64, ..Self::default() };
        question.find(name, |hit| tally.words_in_name.insert(hit.word_idx));
        for piece in pieces(text, passage_lines) {
            tally.n_passages += 1;
            // The start of a document whose name matches stands for the document.
            let is_named = tally.n_passages == 1 && !tally.words_in_name.is_empty();
            tally.add(question, text, piece, is_named);
        }
        tally.matches.shrink_to_fit();
        tally.counts.shrink_to_fit();
        tally
    }

    /// The words that a match holds, with how often.
    pub(crate) fn counts(&self, found: &Match) -> impl Iterator<Item = (usize, u8)> {
        let counts = self.counts.get(found.counts_at..).unwrap_or_default();
        found.words.iter().zip(counts.iter().copied())
    }

    fn add(&mut self, question: &Question, text: &str, piece: Piece, is_named: bool) {
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
        if words.is_empty() && !is_named {
            return;
        }
        let counts_at = self.counts.len();
        self.counts.extend(words.iter().map(|word_idx| counts[word_idx]));
        self.matches.push(Match { piece, words, pairs, fingerprint: fingerprint(text), counts_at });
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in text.split_ascii_whitespace() {
        hasher.write(word.as_bytes());
        hasher.write_u8(b' ');
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
