//! A task of a synthesis: what is merged, as lines of text. The lines contain sums and locations,
//! so the model never counts.

use spelunk_types::Found;

use crate::report::{Gathered, MergedFinding, one_line, shown};

const PLACES_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Synthesis {
    pub(crate) kind: Kind,
    pub(crate) lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The findings of one content type.
    Type(String),
    /// The summaries of all types.
    Cross,
}

impl Synthesis {
    /// For the findings of one content type. `numbers` are the numbers of the items, from 1.
    pub(crate) fn of_type(content_type: &str, gathered: &Gathered, numbers: &[usize]) -> Self {
        let items = gathered.items.iter().zip(numbers);
        let mut lines: Vec<String> = items.map(|(item, number)| item_line(item, *number)).collect();
        lines.extend(counts(gathered));
        let remark = |(place, said): &(String, String)| format!("About {place}: {}", one_line(said));
        lines.extend(gathered.remarks.iter().map(remark));
        Self { kind: Kind::Type(content_type.to_owned()), lines }
    }

    /// Across types and directories: their summaries, the most severe findings, and the counts.
    pub(crate) fn across(summaries: &[(String, String)], gathered: &Gathered, counted: Vec<String>) -> Self {
        let mut lines: Vec<String> = summaries
            .iter()
            .map(|(kind, text)| format!("<summary of=\"{kind}\">\n{text}\n</summary>"))
            .collect();
        let items = gathered.items.iter().enumerate().take(50);
        lines.extend(items.map(|(idx, item)| item_line(item, idx + 1)));
        lines.extend(counts(gathered));
        lines.extend(counted);
        Self { kind: Kind::Cross, lines }
    }

    /// Identifies a synthesis in the journal.
    pub(crate) fn note(&self) -> String {
        let digest = spelunk_journal::digest(self.lines.join("\n").as_bytes());
        let what = match &self.kind {
            Kind::Type(content_type) => content_type,
            Kind::Cross => "all types",
        };
        format!("synthesis of {what}: {} lines, {digest}", self.lines.len())
    }
}

/// `[F3] high vulnerability at src/a.py:42 (function:login): … | “…” | seen 3 times in 2 files: …`
fn item_line(item: &MergedFinding, number: usize) -> String {
    let finding = &item.finding;
    let severity = finding.severity.map(|severity| format!("{severity} ")).unwrap_or_default();
    let location = &finding.location;
    let mut line = format!("[F{number}] {severity}{} at {location}", finding.kind);
    for place in [&location.scope, &location.column, &location.json_path].into_iter().flatten() {
        line += &format!(" ({})", one_line(place));
    }
    line += &format!(": {}", one_line(&finding.summary));
    if let Some(value) = &finding.value {
        line += &format!(" = {}", one_line(value));
    }
    if !finding.evidence.is_empty() {
        line += &format!(" | “{}”", one_line(&finding.evidence));
    }
    if finding.quote == Some(Found::Missing) {
        line += " | the quote is not in the text shown";
    }
    if item.places.len() > 1 {
        let others = item.places.iter().skip(1).take(PLACES_MAX);
        let places: Vec<String> = others.map(ToString::to_string).collect();
        line += &format!(
            " | seen {} times in {} files, also at {}",
            item.places.len(),
            item.n_files(),
            places.join(", ")
        );
    }
    line
}

fn counts(gathered: &Gathered) -> Vec<String> {
    let sums = gathered.distributions.iter().map(|sum| format!("Counted over all parts: {}", shown(sum)));
    let count = gathered.count.map(|count| format!("The counts of all parts add up to {count}."));
    sums.chain(count).collect()
}
