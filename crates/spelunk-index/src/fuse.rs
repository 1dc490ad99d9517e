//! Fusing two rankings into one by reciprocal ranks: what stands high in either comes first, and what stands high in both
//! comes before it. Scores of different kinds are never added. Equal scores share a rank, so the outcome does not depend
//! on the order in which equals arrive.

use std::collections::HashMap;
use std::hash::Hash;

/// How much the first places count more than the next.
const RANK_OFFSET: f32 = 60.0;

/// A ranking with how much it counts.
pub(crate) struct Ranking<'a, K> {
    /// The best first.
    pub(crate) scored: &'a [(f32, K)],
    pub(crate) weight: f32,
}

/// Every key of any ranking with its fused score, in no order.
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
