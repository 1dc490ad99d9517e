//! A task: a question about files whose right answer is known, because the files were generated for it or the answer
//! was computed from them. It defines how an answer is scored, so that any engine can be measured with it.

/// The kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One or several facts in a lot of prose.
    Needle,
    /// A number or a category over all lines, each of which must be understood.
    Labels,
    /// Pairs of users, over all their lines.
    Pairs,
    /// A fact that is three documents away from the question.
    Hops,
    /// A question about a real source tree.
    Code,
    /// What happened, from the logs of several services.
    Logs,
    /// A statistic of a table.
    Table,
    /// A fact that is not there.
    Absent,
}

spelunk_types::named! { Kind {
    Needle = "needle", Labels = "labels", Pairs = "pairs", Hops = "hops", Code = "code", Logs = "logs",
    Table = "table", Absent = "absent",
} }

impl Kind {
    /// Its variants; tasks that name none alternate between them.
    pub fn variants(self) -> &'static [&'static str] {
        match self {
            Self::Needle => &["single", "multiple"],
            Self::Labels => &["count-read", "common-read", "count-easy", "common-easy"],
            Self::Pairs => &["read", "easy"],
            Self::Hops => &["three"],
            Self::Code => &["definition", "callers", "constant"],
            Self::Logs => &["first", "count", "trace"],
            Self::Table => &["sum", "top", "distinct"],
            Self::Absent => &["number", "person"],
        }
    }

    /// Whether the answer depends on all of the text.
    pub fn needs_all(self) -> bool {
        match self {
            Self::Labels | Self::Pairs | Self::Table => true,
            Self::Needle | Self::Hops | Self::Code | Self::Logs | Self::Absent => false,
        }
    }
}

/// How an answer is compared with the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Scoring {
    /// The same words.
    Exact,
    /// A number: 0.75 to the power of the distance if it is a count, otherwise all or nothing.
    Number,
    /// One of these, and no other.
    Choice { among: Vec<String> },
    /// The same items, in any order: the harmonic mean of precision and recall.
    Set,
    /// The same pairs of numbers, scored like a set.
    Pairs,
    /// The same paths, scored like a set; a longer path with the same end matches.
    Paths,
    /// That the text does not contain the answer.
    Absent,
}

impl Scoring {
    /// The word in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Number => "number",
            Self::Choice { .. } => "choice",
            Self::Set => "set",
            Self::Pairs => "pairs",
            Self::Paths => "paths",
            Self::Absent => "absent",
        }
    }
}

/// A question with a known answer.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "docs/evaluation.md describes a line of tasks")]
pub struct Task {
    /// Its name, and that of the folder with its files.
    pub id: String,
    pub kind: Kind,
    pub variant: String,
    pub seed: u64,
    /// Its size, at four bytes per token.
    pub tokens: u64,
    pub question: String,
    /// The right answer: one item, or several if it is a set.
    pub answer: Vec<String>,
    pub scoring: Scoring,
    /// Other right answers, if a single value is asked for.
    pub accept: Vec<String>,
    /// How far a number may be off; beyond that, it is wrong. 0 if it is a count.
    pub tolerance: f64,
    /// The question's language, such as `de`; empty if the file does not say.
    pub language: String,
    /// The files to answer from, relative to the file that lists the tasks.
    pub files: Vec<String>,
}

/// The short form of a size: `8k`, `1M`, otherwise the number.
pub fn size_name(tokens: u64) -> String {
    match tokens {
        1_000_000.. if tokens.is_multiple_of(1_000_000) => format!("{}M", tokens / 1_000_000),
        1000.. if tokens.is_multiple_of(1000) => format!("{}k", tokens / 1000),
        _ => tokens.to_string(),
    }
}
