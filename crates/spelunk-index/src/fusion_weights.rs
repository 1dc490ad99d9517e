//! Fusion weights: how much words and meaning count for one query. If a query quotes the text, words find it, and
//! meaning would only blur the result; a paraphrase is found by meaning. The share of the query that the best passages
//! contain tells the two apart. The values are those that did best in `benches/retrieval.rs`.

/// A query with at least the first share quotes; one with at most the second paraphrases.
const QUOTED_MIN: f32 = 0.9;
const OTHER_MAX: f32 = 0.5;

/// The weight of words for a query that quotes, and for one that does not; meaning has weight 1.
const WORDS_IF_QUOTED: f32 = 12.0;
const WORDS_IF_OTHER: f32 = 0.5;

/// The weights of the two rankings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FusionWeights {
    pub(crate) words: f32,
    pub(crate) meaning: f32,
}

/// The weights for a query of which this share occurs in one of the best passages.
pub(crate) fn leaning(covered: f32) -> FusionWeights {
    let share = ((covered - OTHER_MAX) / (QUOTED_MIN - OTHER_MAX)).clamp(0.0, 1.0);
    FusionWeights { words: WORDS_IF_OTHER + share * (WORDS_IF_QUOTED - WORDS_IF_OTHER), meaning: 1.0 }
}

#[cfg(test)]
mod tests;
