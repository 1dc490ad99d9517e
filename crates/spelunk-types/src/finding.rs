//! Findings: what analysts report about the text they were given, and how severe it is. A report is the answer of an
//! analyst's frame. It is stored as JSON, so these types are formats.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Found;

names! { "focus",
/// What an analysis focuses on.
#[derive(Default, Hash)]
pub enum Focus {
    /// Whatever the question asks.
    #[default]
    General = "general",
    /// What an attacker could use.
    Security = "security",
    /// How the parts fit together.
    Architecture = "architecture",
    /// What makes it slow.
    Performance = "performance",
    /// What the data says.
    Data = "data",
}
}

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

/// What a part contains, whatever the question is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartMetadata {
    /// What it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_topics: Vec<String>,
    /// The functions, classes and modules that code defines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub structures: Vec<String>,
    /// What code imports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// The columns of a table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The number of rows without the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<u64>,
    /// The fields of JSON.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schema_fields: Vec<String>,
    /// The number of objects of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_count: Option<u64>,
}

impl PartMetadata {
    /// Adds the metadata of another part.
    pub fn add(&mut self, other: Self) {
        for (own, others) in [
            (&mut self.key_topics, other.key_topics),
            (&mut self.structures, other.structures),
            (&mut self.imports, other.imports),
            (&mut self.columns, other.columns),
            (&mut self.schema_fields, other.schema_fields),
        ] {
            let new: Vec<String> = others.into_iter().filter(|name| !own.contains(name)).collect();
            own.extend(new);
        }
        self.row_count = sum(self.row_count, other.row_count);
        self.object_count = sum(self.object_count, other.object_count);
    }
}

/// The sum of two counts, either of which may be missing.
pub fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// How sure analysts are, and of how many lines: the weight with which it is merged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// From 0 to 1.
    pub mean: f64,
    /// The lines that were read.
    pub lines: u64,
}

impl Confidence {
    /// The mean of all, weighted by lines.
    pub fn merged(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let weight = |lines: u64| f64::from(u32::try_from(lines).unwrap_or(u32::MAX).max(1));
        all.into_iter().reduce(|a, b| {
            let (of_a, of_b) = (weight(a.lines), weight(b.lines));
            let mean = (a.mean * of_a + b.mean * of_b) / (of_a + of_b);
            Self { mean, lines: a.lines.max(1).saturating_add(b.lines.max(1)) }
        })
    }
}

impl AnalystReport {
    /// The analyst's confidence in its whole part, or else the mean over its findings.
    pub fn confidence(&self) -> Option<Confidence> {
        let said = self.findings.iter().filter_map(|finding| finding.confidence);
        let of_findings = Confidence::merged(said.map(|mean| Confidence { mean, lines: 1 }));
        let mean = self.confidence.or(of_findings.map(|all| all.mean))?;
        let lines = self.units.iter().map(|unit| (unit.line_end + 1).saturating_sub(unit.line_start));
        Some(Confidence { mean, lines: lines.sum() })
    }
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
    /// How sure the analyst is of its answer, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What would make it surer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_by: Option<String>,
    /// What else it noted about the part.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub metadata: PartMetadata,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Findings that were rejected, such as those about files that were not given.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub rejected: u64,
}
