//! Fuses two rankings by reciprocal rank: results that rank high in both come first, then those
//! that rank high in either. Scores are never added, and equal scores share a rank, so the order of
//! ties does not matter. A query that quotes the text is found by its words, a paraphrase by its
//! meaning: the share of the query that the best passages contain tells them apart.

use std::collections::HashMap;
use std::hash::Hash;

/// The reciprocal rank constant: a higher value favours the first ranks less.
const RANK_OFFSET: f32 = 60.0;

/// A query with at least the first share quotes; one with at most the second paraphrases. These values and the weights
/// did best in `benches/retrieval.rs`.
const QUOTED_MIN: f32 = 0.9;
const OTHER_MAX: f32 = 0.5;

/// The weight of words for a query that quotes, and for one that does not; meaning has weight 1.
const WORDS_IF_QUOTED: f32 = 12.0;
const WORDS_IF_OTHER: f32 = 0.5;

/// The weight of words for a query of which this share occurs in one of the best passages.
pub(crate) fn words_weight(covered: f32) -> f32 {
    let share = ((covered - OTHER_MAX) / (QUOTED_MIN - OTHER_MAX)).clamp(0.0, 1.0);
    WORDS_IF_OTHER + share * (WORDS_IF_QUOTED - WORDS_IF_OTHER)
}

pub(crate) struct Ranking<'a, K> {
    /// The best first.
    pub(crate) scored: &'a [(f32, K)],
    pub(crate) weight: f32,
}

/// Every key of any ranking with its fused score, unordered.
pub(crate) fn fuse<K: Copy + Eq + Hash>(rankings: &[Ranking<'_, K>]) -> HashMap<K, f32> {
    let mut fused: HashMap<K, f32> = HashMap::new();
    for ranking in rankings {
        let (mut rank, mut last) = (0.0_f32, None);
        for (n_before, (score, key)) in (0_u16..).zip(ranking.scored) {
            if last != Some(*score) {
                rank = f32::from(n_before) + 1.0;
                last = Some(*score);
            }
            *fused.entry(*key).or_default() += ranking.weight / (RANK_OFFSET + rank);
        }
    }
    fused
}

#[cfg(test)]
mod tests;
