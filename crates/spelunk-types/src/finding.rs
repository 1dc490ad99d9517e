//! Findings: what analysts report about the text they were given, and how severe it is. A report is the answer of an
//! analyst's frame. It is stored as JSON, so these types are formats.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Found;

/// What an analysis focuses on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Focus {
    /// Whatever the question asks.
    #[default]
    General,
    /// What an attacker could use.
    Security,
    /// How the parts fit together.
    Architecture,
    /// What makes it slow.
    Performance,
    /// What the data says.
    Data,
}

names! { "focus", Focus {
    General = "general",
    Security = "security",
    Architecture = "architecture",
    Performance = "performance",
    Data = "data",
} }

/// How severe a finding is; the most severe is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Style.
    Low,
    /// Costs someone time.
    Medium,
    /// A bug, a vulnerability or data loss.
    High,
}

names! { "severity", Severity {
    High = "high",
    Medium = "medium",
    Low = "low",
} }

/// Where a finding is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The document, as the corpus names it.
    pub file: String,
    /// The first line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    /// The column of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// `function:name`, `class:Name`, `module`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// `$.orders[*].id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_path: Option<String>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line_start.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// One thing an analyst found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its type, one of the analyst's own: `vulnerability`, `outlier`.
    #[serde(rename = "type")]
    pub kind: String,
    /// In one sentence.
    pub summary: String,
    /// The words of the source that show it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The result of checking the evidence against the source; `None` if there is no evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Found>,
    /// How severe it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// How sure the analyst is, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Where it is.
    pub location: Location,
    /// How often each value occurs, counted exactly.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub distribution: BTreeMap<String, u64>,
    /// The number of values counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The value that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A part of a document that was read as one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The document, as the corpus names it.
    pub file: String,
    /// Its first line, from 1.
    pub line_start: u64,
    /// Its last line.
    pub line_end: u64,
}

/// What an analyst reports about one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalystReport {
    /// The analyst: `code`, `data`, `json`, `general`.
    pub analyst: String,
    /// The type of content: `source_code`, `log`.
    pub content_type: String,
    /// The parts that were read.
    pub units: Vec<Unit>,
    /// Whether they are relevant to the question.
    pub relevant: bool,
    /// In one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What the part contributes to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The number of occurrences in the part, if the question asks for a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Findings that were rejected, such as those about files that were not given.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub rejected: u64,
}
