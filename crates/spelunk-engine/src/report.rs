//! Merges the reports of analysts in code: deduplicates findings, adds up counts, sorts by
//! severity. No model is involved, so nothing is lost or made up.

mod coverage;
mod markdown;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use spelunk_types::{AnalystReport, Citation, Finding, Found, Location, Severity};

pub(crate) use self::coverage::Coverage;
pub use self::coverage::ReportCoverage;
pub(crate) use self::markdown::{directory_lines, expand_names, findings_section, in_order, one_line, shown};

/// A finding with every location.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedFinding {
    /// The representative finding.
    pub finding: Finding,
    /// All locations; never empty. The first is the finding's own.
    pub places: Vec<Location>,
    /// The content type: `source_code`, `log`.
    pub content_type: String,
}

/// Values of one column or path of one document, counted over all its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedValues {
    /// The document.
    pub file: String,
    /// The column or path.
    pub name: String,
    /// How often each value occurs.
    pub values: BTreeMap<String, u64>,
    /// The total they are counted from.
    pub total: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Gathered {
    /// The most severe and most frequent first.
    pub(crate) items: Vec<MergedFinding>,
    pub(crate) distributions: Vec<CountedValues>,
    /// Analysts' remarks about relevant parts: location and text.
    pub(crate) remarks: Vec<(String, String)>,
    /// The sum of the counts of all parts, if any part has one.
    pub(crate) count: Option<u64>,
    pub(crate) rejected: u64,
}

/// Merges reports. The result depends only on the reports and their order, which is that of their tasks.
pub(crate) fn gather(reports: &[AnalystReport]) -> Gathered {
    let mut gathered = Gathered::default();
    let mut by_key: HashMap<(String, String, String), usize> = HashMap::new();
    let mut seen_at: BTreeSet<(usize, String, Option<u64>)> = BTreeSet::new();
    let mut sums: BTreeMap<(String, String), CountedValues> = BTreeMap::new();
    for report in reports {
        gathered.rejected += report.rejected;
        gathered.count = spelunk_types::sum(gathered.count, report.count);
        if report.relevant {
            let said = report.answer.as_deref().unwrap_or(&report.summary);
            if !said.is_empty() {
                gathered.remarks.push((place_of(report), said.to_owned()));
            }
        }
        for finding in &report.findings {
            add_counts(&mut sums, finding);
            let key = (report.content_type.clone(), finding.kind.clone(), same_words(&finding.summary));
            let idx = *by_key.entry(key).or_insert(gathered.items.len());
            let location = &finding.location;
            // Parts overlap, so the same finding at the same place counts once.
            if !seen_at.insert((idx, location.file.clone(), location.line_start)) {
                continue;
            }
            match gathered.items.get_mut(idx) {
                Some(item) => item.add(finding),
                None => gathered.items.push(MergedFinding {
                    finding: finding.clone(),
                    places: vec![location.clone()],
                    content_type: report.content_type.clone(),
                }),
            }
        }
    }
    gathered.items.sort_by(|a, b| a.rank().cmp(&b.rank()));
    gathered.distributions = sums.into_values().collect();
    gathered
}

impl MergedFinding {
    fn add(&mut self, other: &Finding) {
        self.places.push(other.location.clone());
        let severity = self.finding.severity.max(other.severity);
        // A second sighting never lowers the confidence.
        let sure = [self.finding.confidence, other.confidence].into_iter().flatten().reduce(f64::max);
        if self.finding.quote != Some(Found::Exact) && other.quote == Some(Found::Exact) {
            // Prefer a finding whose quote was found.
            self.finding = other.clone();
        }
        (self.finding.severity, self.finding.confidence) = (severity, sure);
    }

    fn rank(&self) -> (std::cmp::Reverse<Option<Severity>>, std::cmp::Reverse<usize>, &str, Option<u64>) {
        let location = &self.finding.location;
        (
            std::cmp::Reverse(self.finding.severity),
            std::cmp::Reverse(self.places.len()),
            &location.file,
            location.line_start,
        )
    }

    /// Whether its quote is not in the text that the analyst was shown.
    pub(crate) fn is_unverified(&self) -> bool {
        self.finding.quote == Some(Found::Missing)
    }

    pub(crate) fn n_files(&self) -> usize {
        self.places.iter().map(|place| place.file.as_str()).collect::<BTreeSet<_>>().len()
    }
}

/// A finding as a citation, if its quote was found.
pub(crate) fn citation(finding: &Finding) -> Option<Citation> {
    match finding.quote {
        Some(Found::Exact | Found::Moved) => Some(Citation {
            document: finding.location.file.clone(),
            line: finding.location.line_start?,
            quote: finding.evidence.clone(),
        }),
        Some(Found::Missing) | None => None,
    }
}

/// Adds up distributions by document and column: no two parts count the same rows.
fn add_counts(sums: &mut BTreeMap<(String, String), CountedValues>, finding: &Finding) {
    let location = &finding.location;
    let Some(name) = location.column.as_ref().or(location.json_path.as_ref()) else { return };
    if finding.distribution.is_empty() {
        return;
    }
    let key = (location.file.clone(), name.clone());
    let sum = sums.entry(key).or_insert_with(|| CountedValues {
        file: location.file.clone(),
        name: name.clone(),
        values: BTreeMap::new(),
        total: None,
    });
    for (value, count) in &finding.distribution {
        let total = sum.values.entry(value.clone()).or_default();
        *total = total.saturating_add(*count);
    }
    sum.total = spelunk_types::sum(sum.total, finding.total);
}

/// Normalises a summary: case, punctuation and whitespace do not matter.
fn same_words(summary: &str) -> String {
    let words = summary.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn place_of(report: &AnalystReport) -> String {
    match report.units.as_slice() {
        [unit] => format!("{}:{}-{}", unit.file, unit.line_start, unit.line_end),
        [first, rest @ ..] => format!("{} and {} more", first.file, rest.len()),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests;
