//! Compares directories: counts the findings in each.

use spelunk_types::Severity;

use super::coverage::many;
use super::{Gathered, MergedFinding};

/// Findings named per directory.
const NAMED_MAX: usize = 3;

/// One line per directory: the number of findings by severity, and the most severe ones.
pub(crate) fn directory_lines(gathered: &Gathered, directories: &[String]) -> Vec<String> {
    directories.iter().map(|directory| line(gathered, directory)).collect()
}

fn line(gathered: &Gathered, directory: &str) -> String {
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
        text += &format!("; the gravest: {}", named.join(" "));
    }
    text
}
