//! What an answer is worth to the person who asked (a wrong answer is worse than none, and worst with a citation), and
//! why it is not fully right.

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

/// The class of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The run failed: no model, no answer.
    Error,
    /// A limit ended the run.
    Budget,
    /// No answer could be extracted from the reply.
    Parsing,
    /// The text was not decomposed: no code ran, or no sub-model was called although lines have to be read.
    Decomposition,
    /// Parts of the text that the answer needs were not read.
    Coverage,
    /// The run was normal, but the answer is wrong. Also any class from a newer version.
    #[serde(rename = "wrong-answer", other)]
    Wrong,
}

spelunk_types::named! { Failure {
    Error = "error", Budget = "budget", Parsing = "parsing", Decomposition = "decomposition",
    Coverage = "coverage", Wrong = "wrong-answer",
} }
