//! Fuses two rankings by reciprocal rank: results ranked high in either come first, and those ranked high in both
//! before them. Scores of different kinds are never added. Equal scores share a rank, so the result does not depend on
//! the order of ties.

use std::collections::HashMap;
use std::hash::Hash;

/// The reciprocal rank constant: a higher value favours the first ranks less.
const RANK_OFFSET: f32 = 60.0;

/// A ranking with its weight.
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
