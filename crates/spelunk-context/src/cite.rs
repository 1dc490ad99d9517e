//! Checks citations against their source. A quote matches where the same words occur in the same order; any run of
//! whitespace equals any other, so a quote may span lines. Letters, case and punctuation must be the same. The source
//! is a view if code could read all of it, or the shown text if that is all a model saw.

use spelunk_types::{Citation, Found};

use crate::{DocEntry, View};

/// Text that was shown to a model: runs of lines, each from one document.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    runs: Vec<ShownLines>,
}

#[derive(Debug, Clone)]
struct ShownLines {
    document: String,
    line_start: u64,
    /// Every line ends with a newline.
    text: String,
    n_lines: u64,
}

impl Shown {
    /// Adds consecutive lines of a document; `line_start` is the number of the first.
    pub fn add(&mut self, document: &str, line_start: u64, text: &str) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (lines, n_lines) = (format!("{text}\n"), text.split('\n').count() as u64);
        match self.runs.last_mut() {
            Some(run) if run.document == document && run.line_start + run.n_lines == line_start => {
                run.text.push_str(&lines);
                run.n_lines += n_lines;
            }
            Some(_) | None => {
                self.runs.push(ShownLines {
                    document: document.to_owned(),
                    line_start,
                    text: lines,
                    n_lines,
                });
            }
        }
    }

    /// Whether a line of a document was shown.
    pub fn has_line(&self, document: &str, line: u64) -> bool {
        self.runs_of(document).any(|run| (run.line_start..run.line_start + run.n_lines).contains(&line))
    }

    /// The citation with the exact name and line, and how it was found: `Missing` if it was not shown.
    pub fn check(&self, citation: &Citation) -> (Citation, Found) {
        let found = self.runs_of(&citation.document).filter_map(|run| {
            let wanted = citation.line.saturating_sub(run.line_start).saturating_add(1);
            let line = nearest_line(&run.text, &citation.quote, wanted)?;
            Some((run.line_start + line - 1, run.document.as_str()))
        });
        let nearest = found.min_by_key(|(line, _)| (line.abs_diff(citation.line), *line));
        located(citation, nearest)
    }

    fn runs_of<'a>(&'a self, document: &'a str) -> impl Iterator<Item = &'a ShownLines> {
        let is_named = self.runs.iter().any(|run| run.document == document);
        let name = if is_named { document } else { plain_name(document) };
        self.runs.iter().filter(move |run| run.document == name)
    }
}

/// Each citation with the exact name and line, and how it was found: `Missing` if its document
/// cannot be read.
pub fn check_citations(view: &View, citations: &[Citation]) -> Vec<(Citation, Found)> {
    let mut order: Vec<usize> = (0..citations.len()).collect();
    order.sort_by(|&a, &b| citations[a].document.cmp(&citations[b].document));
    let mut checked: Vec<(Citation, Found)> =
        citations.iter().map(|citation| (citation.clone(), Found::Missing)).collect();
    for group in order.chunk_by(|&a, &b| citations[a].document == citations[b].document) {
        let Some(document) = find(view, &citations[group[0]].document) else { continue };
        let Ok(text) = view.read_owned(document) else { continue };
        for &idx in group {
            let citation = &citations[idx];
            let line = nearest_line(&text, &citation.quote, citation.line);
            checked[idx] = located(citation, line.map(|line| (line, document.name.as_str())));
        }
    }
    checked
}

fn find<'v>(view: &'v View, name: &str) -> Option<&'v DocEntry> {
    view.find(name).or_else(|| view.find(plain_name(name)))
}

/// The citation at the line and in the document where its quote is.
fn located(citation: &Citation, found: Option<(u64, &str)>) -> (Citation, Found) {
    let Some((line, document)) = found else { return (citation.clone(), Found::Missing) };
    let found = if line == citation.line { Found::Exact } else { Found::Moved };
    (Citation { document: document.to_owned(), line, quote: citation.quote.clone() }, found)
}

fn plain_name(name: &str) -> &str {
    let mut name = name;
    while let Some(rest) = name.strip_prefix("./") {
        name = rest;
    }
    name
}

/// The line, from 1, closest to `wanted` where the quote begins. Linear, because text and quote are hostile.
fn nearest_line(text: &str, quote: &str, wanted: u64) -> Option<u64> {
    let words: Vec<&str> = quote.split_whitespace().collect();
    let pattern: Vec<char> = words.join(" ").chars().collect();
    if pattern.is_empty() {
        return None;
    }
    let borders = borders(&pattern);
    // The line of each of the last characters: a match is found at its end, but reported by its start.
    let mut lines = vec![0_u64; pattern.len()];
    let mut best: Option<u64> = None;
    let (mut n_matched, mut n_chars, mut line) = (0, 0_usize, 1_u64);
    let mut after_space = false;
    for c in text.chars() {
        let folded = if c.is_whitespace() { ' ' } else { c };
        let line_of_char = line;
        line += u64::from(c == '\n');
        if folded == ' ' && after_space {
            continue;
        }
        after_space = folded == ' ';
        lines[n_chars % pattern.len()] = line_of_char;
        n_chars += 1;
        while n_matched > 0 && (n_matched == pattern.len() || pattern[n_matched] != folded) {
            n_matched = borders[n_matched - 1];
        }
        n_matched += usize::from(pattern[n_matched] == folded);
        if n_matched == pattern.len() {
            let start_line = lines[n_chars % pattern.len()];
            if start_line == wanted {
                return Some(wanted);
            }
            if best.is_none_or(|best| start_line.abs_diff(wanted) < best.abs_diff(wanted)) {
                best = Some(start_line);
            }
        }
    }
    best
}

/// For each prefix of the pattern, the length of its longest proper prefix that is also a suffix.
fn borders(pattern: &[char]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut n_matched = 0;
    for idx in 1..pattern.len() {
        while n_matched > 0 && pattern[idx] != pattern[n_matched] {
            n_matched = borders[n_matched - 1];
        }
        n_matched += usize::from(pattern[idx] == pattern[n_matched]);
        borders[idx] = n_matched;
    }
    borders
}

#[cfg(test)]
mod tests;
