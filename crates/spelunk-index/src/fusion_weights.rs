//! FusionWeights: how much words and how much meaning count for one query. Somebody who quotes the text is served by its words,
//! and meaning would only blur them; somebody who asks in words of their own is served by meaning. Which of the two it is
//! shows in how much of the query the best passages hold. The figures are those that did best in `benches/retrieval.rs`.

/// The share of a query above which it quotes, and below which it asks in other words.
const QUOTED_MIN: f32 = 0.9;
const OTHER_MAX: f32 = 0.5;

/// What words count for a query that quotes, and for one that does not; meaning counts 1.
const WORDS_IF_QUOTED: f32 = 12.0;
const WORDS_IF_OTHER: f32 = 0.5;

/// The weights of the two rankings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FusionWeights {
    pub(crate) words: f32,
    pub(crate) meaning: f32,
}

/// The weights for a query of which so large a share is in one of the best passages.
pub(crate) fn leaning(covered: f32) -> FusionWeights {
    let share = ((covered - OTHER_MAX) / (QUOTED_MIN - OTHER_MAX)).clamp(0.0, 1.0);
    FusionWeights { words: WORDS_IF_OTHER + share * (WORDS_IF_QUOTED - WORDS_IF_OTHER), meaning: 1.0 }
}

#[cfg(test)]
mod tests;
