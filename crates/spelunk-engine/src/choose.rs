//! Chooses a strategy from the size and type of the text and the kind of question. The rules are plain word matching:
//! deterministic, and applied before anything is spent.

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

/// Above this size, building an index takes longer than letting a model look for itself.
const SEARCHED_BYTES_MAX: u64 = 50_000_000;

/// Formats in which code counts better than a model.
const COUNTABLE: &[&str] =
    &["csv", "tsv", "json", "jsonl", "ndjson", "log", "xml", "parquet", "sql", "yaml", "yml"];

/// A strategy and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The strategy.
    pub strategy: Strategy,
    /// The reason, in a few words for people.
    pub why: String,
}

/// The strategy that fits. `is_typed`: the answer must match a schema.
pub fn choose(
    question: &str,
    outline: &Outline,
    limits: &Limits,
    reader: ModelCapacity,
    is_typed: bool,
) -> Choice {
    let (tokens, max) = (estimate_tokens(outline.bytes), reader.span(limits.direct_tokens_max));
    let chosen = |strategy, why: String| Choice { strategy, why };
    if is_typed {
        return chosen(Strategy::Repl, "the answer has a schema".to_owned());
    }
    if tokens <= max {
        return chosen(Strategy::Direct, "the text fits one call".to_owned());
    }
    let kind = QuestionKind::of(question);
    let name = kind.name();
    match kind {
        QuestionKind::Analysis | QuestionKind::Summary | QuestionKind::Comparison => {
            chosen(Strategy::Map, format!("{name} of more than one call can hold: every part is read"))
        }
        _ if is_countable(outline) && asks_for_extreme(question) => {
            chosen(Strategy::Repl, "the first or largest of something, in data that code can sort".to_owned())
        }
        QuestionKind::Aggregation if is_countable(outline) => {
            chosen(Strategy::Repl, format!("{name} in data that code can count"))
        }
        QuestionKind::Aggregation => chosen(Strategy::Map, format!("{name}: every part is read")),
        QuestionKind::Open if reader.is_small() && !is_countable(outline) => {
            chosen(Strategy::Search, format!("{name}, and a small model to read what is found"))
        }
        QuestionKind::Needle if outline.bytes <= SEARCHED_BYTES_MAX => {
            chosen(Strategy::Search, format!("{name}, over more than one call can hold"))
        }
        QuestionKind::Needle | QuestionKind::Open => {
            chosen(Strategy::Repl, format!("{name}, over more than one call can hold"))
        }
    }
}

/// Whether the question asks for the first, last, largest or smallest of something.
fn asks_for_extreme(question: &str) -> bool {
    let text = question.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).any(|word| EXTREMES.contains(&word))
}

const EXTREMES: &[&str] = &[
    "highest", "lowest", "largest", "smallest", "longest", "shortest", "maximum", "minimum", "earliest",
    "latest", "first", "last",
];

/// Whether most of the text is in countable formats.
fn is_countable(outline: &Outline) -> bool {
    let countable = outline.extensions.iter().filter(|share| COUNTABLE.contains(&share.extension.as_str()));
    countable.map(|share| share.bytes).sum::<u64>() * 2 >= outline.bytes
}

#[cfg(test)]
mod tests;
