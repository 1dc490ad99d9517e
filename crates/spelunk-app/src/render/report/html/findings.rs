//! The findings of a report in HTML: by severity with their source lines, and by file as a table of links.

use std::collections::BTreeMap;

use spelunk_engine::{MergedFinding, RunReport};
use spelunk_types::{Found, Location, shorten};

use super::text::escaped;
use super::{Anchors, capital, severities};
use crate::render::report::{Excerpt, Excerpts, ReportData, place, severity_name};
use crate::units::{count, head};

/// The maximum number of findings shown with their source; a browser has to load them all.
const SHOWN_MAX: usize = 2_000;
const PLACES_MAX: usize = 20;
const LINE_CHARS_MAX: usize = 400;

/// The anchor of each location: at its finding, or among the evidence.
pub(super) fn anchors(report: &RunReport) -> Anchors {
    let mut anchors = Anchors::new();
    for (idx, merged) in report.findings.iter().take(SHOWN_MAX).enumerate() {
        for location in &merged.places {
            anchors.entry(location.to_string()).or_insert_with(|| format!("f{}", idx + 1));
        }
    }
    let citations = report.answer.iter().flat_map(|answer| &answer.citations).enumerate();
    for (idx, citation) in citations {
        let place = citation.place();
        anchors.entry(place).or_insert_with(|| format!("e{}", idx + 1));
    }
    anchors
}

pub(super) fn by_severity(data: &ReportData<'_>) -> String {
    let report = data.report;
    let mut html = String::new();
    for (name, n) in severities(report) {
        let numbered = report.findings.iter().enumerate().take(SHOWN_MAX);
        let own = numbered.filter(|(_, merged)| severity_name(merged.finding.severity) == name);
        let articles: String = own.map(|(idx, merged)| article(idx + 1, merged, data.excerpts)).collect();
        html += &format!(
            "<section class=\"group {name}\">\n<h3>{} <span class=\"n\">{n}</span></h3>\n{articles}</section>\n",
            capital(name)
        );
    }
    if report.findings.len() > SHOWN_MAX {
        let more = report.findings.len() - SHOWN_MAX;
        html += &format!("<p>{more} more are in the JSON and SARIF reports of this run.</p>\n");
    }
    html
}

fn article(number: usize, merged: &MergedFinding, excerpts: &Excerpts) -> String {
    let finding = &merged.finding;
    let name = severity_name(finding.severity);
    let mut html = format!(
        "<article class=\"finding\" id=\"f{number}\">\n<h4><span class=\"badge {name}\">{}</span> {}</h4>\n",
        escaped(&finding.kind.replace('_', " ")),
        escaped(&finding.summary)
    );
    html += &format!("<p class=\"where\"><a href=\"#f{number}\">{}</a>", escaped(&place(&finding.location)));
    let Location { scope, column, json_path, .. } = &finding.location;
    for inner in [scope, column, json_path].into_iter().flatten() {
        html += &format!(" <code>{}</code>", escaped(inner));
    }
    if let Some(confidence) = finding.confidence {
        html += &format!(" <span>confidence {:.0} %</span>", confidence.clamp(0.0, 1.0) * 100.0);
    }
    html += "</p>\n";
    if let Some(value) = &finding.value {
        html += &format!("<p class=\"value\">{}</p>\n", escaped(value));
    }
    let is_missing = finding.quote == Some(Found::Missing);
    if is_missing {
        html += "<p class=\"unverified\">Unverified: the quote is not in the source.</p>\n";
    }
    let shown = excerpts.at(&finding.location.file, finding.location.line_start);
    if let Some(shown) = shown {
        html += &excerpt(shown);
    }
    if !finding.evidence.is_empty() && (is_missing || shown.is_none()) {
        html += &format!("<blockquote>{}</blockquote>\n", escaped(&finding.evidence));
    }
    html += &counted(merged);
    html += &also_at(merged);
    html + "</article>\n"
}

fn counted(merged: &MergedFinding) -> String {
    let values = &merged.finding.distribution;
    if values.is_empty() {
        return String::new();
    }
    let mut sorted: Vec<(&String, &u64)> = values.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let shown = sorted.iter().take(PLACES_MAX);
    let rows: Vec<String> = shown
        .map(|(value, n)| format!("<tr><td>{}</td><td>{n}</td></tr>\n", escaped(&head(value, 80))))
        .collect();
    let rows = rows.concat();
    format!("<div class=\"scroll\"><table>\n{rows}</table></div>\n")
}

fn also_at(merged: &MergedFinding) -> String {
    let others: Vec<&Location> =
        merged.places.iter().filter(|place| **place != merged.finding.location).collect();
    if others.is_empty() {
        return String::new();
    }
    let listed: Vec<String> = others.iter().take(PLACES_MAX).map(|other| escaped(&place(other))).collect();
    let more = others.len().saturating_sub(PLACES_MAX);
    let more = if more > 0 { format!(" and {}", count(more as u64, "more location")) } else { String::new() };
    format!("<p class=\"also\">Also at {}{more}</p>\n", listed.join(", "))
}

pub(super) fn excerpt(excerpt: &Excerpt) -> String {
    let mut lines = String::new();
    for (number, text) in (excerpt.first..).zip(&excerpt.lines) {
        let is_meant = (excerpt.marked.0..=excerpt.marked.1).contains(&number);
        // `<mark>` is displayed as a block, so a newline inside it would add a second line break.
        let (open, close) = if is_meant { ("<mark>", "</mark>") } else { ("", "\n") };
        let shown = escaped(&shorten(text, LINE_CHARS_MAX));
        lines += &format!("{open}<span class=\"no\">{number:>5}</span> {shown}{close}");
    }
    format!("<pre class=\"source\" tabindex=\"0\">{lines}</pre>\n")
}

pub(super) fn by_file(report: &RunReport) -> String {
    let mut files: BTreeMap<&str, Vec<(usize, &Location, &'static str)>> = BTreeMap::new();
    for (idx, merged) in report.findings.iter().take(SHOWN_MAX).enumerate() {
        for location in &merged.places {
            let entry = (idx + 1, location, severity_name(merged.finding.severity));
            files.entry(&location.file).or_default().push(entry);
        }
    }
    let mut rows = String::new();
    for (file, entries) in files {
        let links: Vec<String> = entries
            .iter()
            .map(|(number, location, name)| {
                let line = location.line_start.map_or_else(|| "file".to_owned(), |line| line.to_string());
                format!("<a class=\"badge {name}\" href=\"#f{number}\">{line}</a>")
            })
            .collect();
        rows += &format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(file), links.join(" "));
    }
    format!(
        "<section id=\"files\">\n<h2>By file</h2>\n<div class=\"scroll\"><table>\n{rows}</table></div>\n</section>\n"
    )
}
