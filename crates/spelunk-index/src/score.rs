//! The score of a passage: BM25 over its words, plus bonuses for words that are adjacent as in the question, for words
//! in the document's name, and for containing more distinct words. Rare words weigh more than common ones.

use crate::tally::{Match, Tally};

/// How soon repetitions of a word stop counting.
const K1: f32 = 1.2;

/// How much a longer passage is penalised.
const B: f32 = 0.75;

/// What two adjacent words add, as a share of their weight.
pub(crate) const PAIR_SHARE: f32 = 0.5;

/// What a word in the document's name adds, as a share of its weight.
const NAME_SHARE: f32 = 0.6;

#[derive(Debug)]
pub(crate) struct Scorer {
    weights: Vec<f32>,
    weights_sum: f32,
    bytes_mean: f32,
}

impl Scorer {
    /// The weights in `bytes_total` bytes of text, whose number of passages is estimated.
    pub(crate) fn of<'a>(n_words: usize, bytes_total: u64, tallies: impl Iterator<Item = &'a Tally>) -> Self {
        let (mut n_cut, mut bytes) = (0, 0);
        let mut passages_with = vec![0_u64; n_words];
        for tally in tallies {
            n_cut += tally.n_passages;
            bytes += tally.bytes;
            for word_idx in tally.matches.iter().flat_map(|found| found.words.iter()) {
                passages_with[word_idx] += 1;
            }
        }
        let n_estimated = u128::from(bytes_total) * u128::from(n_cut) / u128::from(bytes).max(1);
        let n_passages = u64::try_from(n_estimated).unwrap_or(u64::MAX).max(n_cut);
        let weights: Vec<f32> = passages_with.iter().map(|&n_with| weight(n_passages, n_with)).collect();
        let weights_sum = weights.iter().sum();
        Self { weights, weights_sum, bytes_mean: ratio(bytes, n_cut.max(1)).max(1.0) }
    }

    pub(crate) fn score(&self, tally: &Tally, found: &Match) -> f32 {
        let length = ratio(found.piece.span.len() as u64, 1) / self.bytes_mean;
        let held_back = K1 * (1.0 - B + B * length);
        let mut score = 0.0;
        for (word_idx, count) in tally.counts(found) {
            let count = f32::from(count);
            score += self.weights[word_idx] * count * (K1 + 1.0) / (count + held_back);
        }
        for word_idx in found.pairs.iter() {
            score += PAIR_SHARE * (self.weights[word_idx - 1] + self.weights[word_idx]);
        }
        for word_idx in tally.words_in_name.iter() {
            score += NAME_SHARE * self.weights[word_idx];
        }
        let covered: f32 =
            found.words.or(tally.words_in_name).iter().map(|word_idx| self.weights[word_idx]).sum();
        score * (1.0 + covered / self.weights_sum)
    }
}

/// The inverse document frequency, counted over passages. Always above zero.
pub(crate) fn weight(n_passages: u64, n_with: u64) -> f32 {
    let with = ratio(n_with, 1) + 0.5;
    let without = ratio(n_passages.saturating_sub(n_with), 1) + 0.5;
    (1.0 + without / with).ln()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a score needs no seventh digit"
)]
fn ratio(part: u64, whole: u64) -> f32 {
    (part as f64 / whole as f64) as f32
}

#[cfg(test)]
mod tests;
