//! Chooses how a run begins, from the size of its text, and tells questions that count from others.

use spelunk_context::{Outline, estimate_tokens};
use spelunk_types::{Limits, Strategy};

use crate::ModelCapacity;

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// One fact somewhere in the text.
    Needle,
    /// A number or a list over everything.
    Aggregation,
    /// A comparison of two things.
    Comparison,
    /// A summary of the whole.
    Summary,
    /// A judgement: a review, an audit.
    Analysis,
    /// None of these clearly.
    Open,
}

impl QuestionKind {
    /// Classifies a question by its words.
    pub fn of(question: &str) -> Self {
        let text = question.to_lowercase();
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let padded = format!(" {} ", words.join(" "));
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| padded.contains(&format!(" {phrase} ")));
        if has(COMPARISON) {
            Self::Comparison
        } else if has(AGGREGATION) {
            Self::Aggregation
        } else if has(ANALYSIS) {
            Self::Analysis
        } else if has(SUMMARY) {
            Self::Summary
        } else if question.contains(['"', '`', '“']) || has(NEEDLE) {
            Self::Needle
        } else {
            Self::Open
        }
    }

    /// Its name, with an article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Needle => "a question for one fact",
            Self::Aggregation => "a question over everything",
            Self::Comparison => "a comparison",
            Self::Summary => "a summary",
            Self::Analysis => "an analysis",
            Self::Open => "an open question",
        }
    }
}

const COMPARISON: &[&str] = &[
    "compare",
    "comparison",
    "difference between",
    "differences between",
    "versus",
    "vs",
    "differ",
    "contrast",
];
const AGGREGATION: &[&str] = &[
    "how many",
    "how often",
    "how much",
    "count",
    // With the article: the "phone number of" somebody is one fact.
    "the number of",
    "total number of",
    "total",
    "sum of",
    "average",
    "median",
    "distribution",
    "histogram",
    "most common",
    "most frequent",
    "least common",
    "top 3",
    "top 5",
    "top 10",
    "top ten",
    "percentage",
    "percent",
    "share of",
    "per day",
    "per hour",
    "per month",
    "frequency",
    "list all",
    "list every",
    "all the",
    "every",
    "group by",
    "rank",
];
const ANALYSIS: &[&str] = &[
    "review",
    "audit",
    "analyse",
    "analyze",
    "analysis",
    "assess",
    "evaluate",
    "critique",
    "inspect",
    "vulnerabilities",
    "vulnerability",
    "security problems",
    "security issues",
    "security holes",
    "bugs",
    "problems",
    "issues",
    "risks",
    "weaknesses",
    "smells",
    "improve",
    "improvements",
    "recommendations",
    "refactor",
    "bottlenecks",
    "dead code",
];
const SUMMARY: &[&str] = &[
    "summarise",
    "summarize",
    "summary",
    "overview",
    "main points",
    "key points",
    "themes",
    "topics",
    "tl dr",
    "tldr",
    "what is this",
    "what does this project",
    "what is this project",
    "explain this codebase",
    "describe the architecture",
    "architecture of",
];
const NEEDLE: &[&str] = &[
    "who",
    "when",
    "where",
    "which file",
    "which line",
    "what is the",
    "what was the",
    "what are the",
    "find the",
    "locate",
    "what port",
    "which version",
    "what version",
    "what value",
    "is there a",
    "does it mention",
];

/// The strategy to begin with. `is_typed`: the answer must match a schema.
pub fn first_strategy(outline: &Outline, limits: &Limits, reader: ModelCapacity, is_typed: bool) -> Strategy {
    if outline.documents == 0 {
        Strategy::Direct
    } else if is_typed {
        Strategy::Repl
    } else if estimate_tokens(outline.bytes) <= reader.span(limits.direct_tokens_max) {
        Strategy::Direct
    } else {
        Strategy::Auto
    }
}

#[cfg(test)]
mod tests;
