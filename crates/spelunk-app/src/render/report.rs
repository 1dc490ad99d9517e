//! Reports: a run as Markdown, HTML, SARIF or JSON. Everything from documents and models is escaped for its format.

pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod sarif;

use std::collections::BTreeMap;

use spelunk_engine::RunReport;
use spelunk_types::{Location, RunOutcome, Severity};

pub(crate) const LINES_AROUND: u64 = 3;
pub(crate) const LINES_MARKED_MAX: u64 = 12;

/// Lines of a source, and which of them are relevant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) first: u64,
    pub(crate) lines: Vec<String>,
    /// The first and the last relevant line.
    pub(crate) marked: (u64, u64),
}

impl Excerpt {
    pub(crate) fn meant(&self) -> String {
        let numbered = (self.first..).zip(&self.lines);
        let meant = numbered.filter(|(line, _)| (self.marked.0..=self.marked.1).contains(line));
        meant.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, Default)]
pub struct Excerpts {
    pub(crate) by_place: BTreeMap<(String, u64), Excerpt>,
    /// Why some are missing, if any are.
    pub(crate) remark: Option<String>,
}

impl Excerpts {
    pub(crate) fn at(&self, file: &str, line: Option<u64>) -> Option<&Excerpt> {
        self.by_place.get(&(file.to_owned(), line?))
    }
}

/// A report, its source excerpts, and the prefix that makes document names relative to the current directory.
pub(crate) struct ReportData<'a> {
    pub(crate) report: &'a RunReport,
    pub(crate) excerpts: &'a Excerpts,
    pub(crate) base: &'a str,
}

pub(crate) fn severity_name(severity: Option<Severity>) -> &'static str {
    severity.map_or("unrated", Severity::name)
}

pub(crate) fn state_word(report: &RunReport) -> &'static str {
    match &report.view.outcome {
        None => "not finished",
        Some(RunOutcome::Answered) => "answered",
        Some(RunOutcome::Partial { .. }) => "partial",
        Some(RunOutcome::Failed { .. }) => "failed",
        Some(RunOutcome::Cancelled) => "cancelled",
    }
}

/// `src/a.rs:3` or `src/a.rs:3-7`.
pub(crate) fn place(location: &Location) -> String {
    match (location.line_start, location.line_end) {
        (Some(first), Some(last)) if last > first => format!("{}:{first}-{last}", location.file),
        (Some(_) | None, _) => location.to_string(),
    }
}
