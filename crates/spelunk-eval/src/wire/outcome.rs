//! What an answer is worth to the person who asked: a wrong answer is worse than none, and worst
//! with a citation.

use serde::{Deserialize, Serialize};

/// The outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Fully right.
    Right,
    /// It says that the text does not contain the answer, although it does.
    HonestMiss,
    /// Nothing that could be an answer.
    NoAnswer,
    /// Wrong, and a citation seems to support it.
    WrongCited,
    /// Wrong, or not fully right. Also any outcome from a newer version.
    #[serde(other)]
    Wrong,
}

spelunk_types::named! { Outcome {
    Right = "right", HonestMiss = "honest miss", NoAnswer = "no answer", Wrong = "wrong",
    WrongCited = "wrong with a citation",
} }
