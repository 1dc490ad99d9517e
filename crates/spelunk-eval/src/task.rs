//! A task: a question about files whose right answer is known, because the files were made for it or the answer was
//! computed from them. It says how an answer is scored, so that any engine can be held to it.

use std::fmt;

/// What a task asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One or several facts in a lot of prose.
    Needle,
    /// A number or a category over all lines, each of which has to be understood.
    Labels,
    /// Pairs of users, over all their lines.
    Pairs,
    /// A fact that is three documents away from the question.
    Hops,
    /// Something about a real tree of source code.
    Code,
    /// What happened, from the logs of several services.
    Logs,
    /// A statistic of a table.
    Table,
    /// A fact that is not there.
    Absent,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Needle,
        Self::Labels,
        Self::Pairs,
        Self::Hops,
        Self::Code,
        Self::Logs,
        Self::Table,
        Self::Absent,
    ];

    /// The word in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Needle => "needle",
            Self::Labels => "labels",
            Self::Pairs => "pairs",
            Self::Hops => "hops",
            Self::Code => "code",
            Self::Logs => "logs",
            Self::Table => "table",
            Self::Absent => "absent",
        }
    }

    /// The kind of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it comes in; tasks that name none take turns.
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

    /// Whether nothing less than all of the text gives the answer.
    pub fn needs_all(self) -> bool {
        match self {
            Self::Labels | Self::Pairs | Self::Table => true,
            Self::Needle | Self::Hops | Self::Code | Self::Logs | Self::Absent => false,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an answer is held against the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scoring {
    /// The same words.
    Exact,
    /// A number: 0.75 to the power of how far it is off.
    Number,
    /// One of these, and no other.
    Choice {
        /// What could be said.
        among: Vec<String>,
    },
    /// The same items, in any order: the harmonic mean of what was found and what was right.
    Set,
    /// The same pairs of numbers, likewise.
    Pairs,
    /// The same paths, likewise; longer ones that end so are the same.
    Paths,
    /// That the text does not say it.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name, and that of the folder that holds its files.
    pub id: String,
    /// What it asks for.
    pub kind: Kind,
    /// In which form.
    pub variant: String,
    /// What it was made from.
    pub seed: u64,
    /// Its size: four bytes are one.
    pub tokens: u64,
    /// As it is asked.
    pub question: String,
    /// What is right: one item, or several where the answer is a set.
    pub answer: Vec<String>,
    /// How it is held against that.
    pub scoring: Scoring,
    /// What to answer from, relative to the file that lists the tasks.
    pub files: Vec<String>,
}

/// How a size is written: `8k`, `1M`, else the number.
pub fn size_name(tokens: u64) -> String {
    match tokens {
        1_000_000.. if tokens.is_multiple_of(1_000_000) => format!("{}M", tokens / 1_000_000),
        1000.. if tokens.is_multiple_of(1000) => format!("{}k", tokens / 1000),
        _ => tokens.to_string(),
    }
}
