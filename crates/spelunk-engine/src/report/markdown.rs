//! The report as Markdown: findings by file and by directory, written by code, between the texts written by models.
//! References to findings in those texts become locations.

use std::collections::BTreeMap;

use spelunk_types::{Found, Severity};

use super::coverage::many;
use super::{CountedValues, Gathered, MergedFinding};

/// How many findings are listed in the text; the journal has all of them.
const LISTED_MAX: usize = 300;
const VALUES_SHOWN: usize = 12;
const QUOTE_SHOWN_CHARS: usize = 100;
const NAMED_MAX: usize = 3;

/// The findings by file, each with its type.
pub(crate) fn findings_section(gathered: &Gathered) -> String {
    let mut text = "## Per-File Findings\n".to_owned();
    let mut files: BTreeMap<&str, Vec<&MergedFinding>> = BTreeMap::new();
    for item in gathered.items.iter().take(LISTED_MAX) {
        files.entry(&item.finding.location.file).or_default().push(item);
    }
    for (file, items) in files {
        let content_type = items.first().map_or("", |item| item.content_type.as_str());
        text += &format!("\n### {file} ({content_type})\n\n");
        for item in items {
            text += &line(item);
        }
    }
    if gathered.items.len() > LISTED_MAX {
        let more = (gathered.items.len() - LISTED_MAX) as u64;
        text += &format!("\n{} with lower severity are in the run's journal.\n", many(more, "more finding"));
    }
    if gathered.items.is_empty() {
        text += "\nNo findings.\n";
    }
    for distribution in &gathered.distributions {
        text += &format!("\n{}\n", shown(distribution));
    }
    text
}

fn line(item: &MergedFinding) -> String {
    let finding = &item.finding;
    let mut text = "- ".to_owned();
    if let Some(severity) = finding.severity {
        text += &format!("**{severity}** ");
    }
    text += &finding.kind;
    if let Some(line) = finding.location.line_start {
        text += &format!(", line {line}");
    }
    let location = &finding.location;
    for place in [&location.scope, &location.column, &location.json_path].into_iter().flatten() {
        text += &format!(" `{}`", place.replace('`', "'"));
    }
    text += &format!(": {}", one_line(&finding.summary));
    if !finding.evidence.is_empty() {
        let quote: String = finding.evidence.chars().take(QUOTE_SHOWN_CHARS).collect();
        text += &format!(" — “{}”", one_line(&quote));
        if finding.quote == Some(Found::Missing) {
            text += " (unverified: the quote is not in the text shown)";
        }
    }
    if item.places.len() > 1 {
        let (n, files) = (item.places.len() as u64, item.n_files() as u64);
        text += &format!(" [seen {} in {}]", many(n, "time"), many(files, "file"));
    }
    text + "\n"
}

/// `data.csv, status: ok 12, failed 3 (of 15)`
pub(crate) fn shown(distribution: &CountedValues) -> String {
    let mut values: Vec<(&String, &u64)> = distribution.values.iter().collect();
    values.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let listed: Vec<String> = values
        .iter()
        .take(VALUES_SHOWN)
        .map(|(value, count)| format!("{} {count}", one_line(value)))
        .collect();
    let more = values.len().saturating_sub(VALUES_SHOWN);
    let more = if more > 0 { format!(" and {more} other values") } else { String::new() };
    let total = distribution.total.map(|total| format!(" (of {total})")).unwrap_or_default();
    format!("{}, `{}`: {}{more}{total}", distribution.file, distribution.name, listed.join(", "))
}

/// Text of a model or a document for use within a line: it must not start new lines.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Arranges the written and counted parts of a report: summary, findings by file, the rest, coverage.
pub(crate) fn in_order(written: &str, findings: &str, coverage: &str) -> String {
    let written = written.trim();
    let after_summary = written.find("## Summary").and_then(|start| {
        let body = start + "## Summary".len();
        written.get(body..)?.find("\n## ").map(|at| body + at)
    });
    let (summary, rest) = match after_summary.and_then(|at| written.split_at_checked(at)) {
        Some((summary, rest)) => (summary.trim_end(), rest.trim()),
        None => (written, ""),
    };
    let parts = [summary, findings.trim_end(), rest, coverage.trim_end()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// One line per directory: the number of findings by severity, and the most severe ones.
pub(crate) fn directory_lines(gathered: &Gathered, directories: &[String]) -> Vec<String> {
    directories.iter().map(|directory| directory_line(gathered, directory)).collect()
}

fn directory_line(gathered: &Gathered, directory: &str) -> String {
    let prefix = format!("{directory}/");
    let is_here = |item: &&MergedFinding| item.places.iter().any(|place| place.file.starts_with(&prefix));
    let here: Vec<(usize, &MergedFinding)> =
        gathered.items.iter().enumerate().filter(|(_, item)| is_here(item)).collect();
    let mut text = format!("- `{directory}`: {}", many(here.len() as u64, "finding"));
    let counts = Severity::ALL.iter().filter_map(|severity| {
        let n = here.iter().filter(|(_, item)| item.finding.severity == Some(*severity)).count();
        (n > 0).then(|| format!("{n} {severity}"))
    });
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        text += &format!(" ({})", counts.join(", "));
    }
    let named: Vec<String> = here.iter().take(NAMED_MAX).map(|(idx, _)| format!("[F{}]", idx + 1)).collect();
    if !named.is_empty() {
        text += &format!("; the most severe: {}", named.join(" "));
    }
    text
}

/// Replaces references such as `[F3]` by the locations of the findings: the text, the items referred to, and the
/// number of unknown references, which are removed.
pub(crate) fn expand_names(text: &str, items: &[MergedFinding]) -> (String, Vec<usize>, u64) {
    let (mut expanded, mut named, mut n_unknown) = (String::with_capacity(text.len()), Vec::new(), 0);
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        expanded.push_str(before);
        match names_in(from) {
            Some((numbers, len)) => {
                let known: Vec<usize> = numbers.iter().filter_map(|number| item_of(*number, items)).collect();
                n_unknown += (numbers.len() - known.len()) as u64;
                let places: Vec<String> =
                    known.iter().map(|&idx| items[idx].finding.location.to_string()).collect();
                if places.is_empty() {
                    // Remove the space before the reference too.
                    expanded.truncate(expanded.trim_end_matches(' ').len());
                } else {
                    expanded.push_str(&format!("({})", places.join(", ")));
                }
                for idx in known {
                    if !named.contains(&idx) {
                        named.push(idx);
                    }
                }
                rest = from.get(len..).unwrap_or_default();
            }
            None => {
                expanded.push('[');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    expanded.push_str(rest);
    (expanded, named, n_unknown)
}

fn item_of(name: u64, items: &[MergedFinding]) -> Option<usize> {
    let idx = usize::try_from(name.checked_sub(1)?).ok()?;
    (idx < items.len()).then_some(idx)
}

/// Parses `[F3]` or `[F3, F4]` at the beginning of a text: the numbers, and the length.
fn names_in(text: &str) -> Option<(Vec<u64>, usize)> {
    let end = text.find(']')?;
    let inside = text.get(1..end)?;
    let names: Option<Vec<u64>> =
        inside.split(',').map(|name| name.trim().strip_prefix('F')?.parse().ok()).collect();
    names.filter(|names| !names.is_empty()).map(|names| (names, end + 1))
}
