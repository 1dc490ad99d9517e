//! The report as one self-contained HTML file: no scripts, fonts, pictures or network access. It
//! follows the reader's light or dark theme and filters by severity with CSS alone.

mod findings;
mod text;

use std::collections::BTreeMap;

use spelunk_engine::RunReport;
use spelunk_types::{Strategy, iso_time};

use self::findings::{anchors, by_file, by_severity, excerpt};
use self::text::{escaped, prose};
use super::{ReportData, severity_name, state_word};
use crate::render::answer::{bytes_read, files_read};
use crate::units::{dollars, head, listed, time, tokens};

const STYLE: &str = include_str!("html/style.css");
const TITLE_CHARS_MAX: usize = 120;
const ERRORS_MAX: usize = 100;
/// Sections that code appends to an answer. Here the first is shown with the source lines, the second further down.
const LISTED_SECTION: &str = "## Per-File Findings";
const COVERAGE_SECTION: &str = "## Coverage";

/// The anchor of each source location, by `file:line`.
type Anchors = BTreeMap<String, String>;

pub(crate) fn html(data: &ReportData<'_>) -> String {
    let report = data.report;
    let anchors = anchors(report);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escaped(&head(&report.question, TITLE_CHARS_MAX))
    );
    page += &masthead(report);
    if !report.findings.is_empty() {
        page += "<input type=\"radio\" name=\"show\" id=\"show-all\" checked>\n";
        for (name, _) in severities(report) {
            page += &format!("<input type=\"radio\" name=\"show\" id=\"show-{name}\">\n");
        }
    }
    page += "<main>\n";
    page += &answer(report, &anchors);
    if !report.findings.is_empty() {
        page += "<section id=\"findings\">\n<h2>Findings</h2>\n";
        page += &filter(report);
        page += &by_severity(data);
        page += "</section>\n";
        page += &by_file(report);
    }
    page += &evidence(data, &anchors);
    page += &coverage(data);
    page += &errors(report);
    page + "</main>\n<footer>Written by spelunk. Quotes were checked against the sources; conclusions of models were not.</footer>\n</body>\n</html>\n"
}

fn severities(report: &RunReport) -> Vec<(&'static str, usize)> {
    let count = |name: &'static str| {
        let n =
            report.findings.iter().filter(|merged| severity_name(merged.finding.severity) == name).count();
        (name, n)
    };
    ["high", "medium", "low", "unrated"].map(count).into_iter().filter(|(_, n)| *n > 0).collect()
}

fn masthead(report: &RunReport) -> String {
    let view = &report.view;
    let state = state_word(report);
    let model = view.model.as_ref().map(ToString::to_string).unwrap_or_default();
    let facts = [
        ("Run", report.run.to_string()),
        (
            "Started",
            iso_time(view.started_at_ms).chars().take(16).collect::<String>().replace('T', " ") + " UTC",
        ),
        ("Model", model),
        ("Strategy", view.strategy.map_or("", Strategy::name).to_owned()),
        ("Read", format!("{}, {}", files_read(view), bytes_read(view))),
        ("Calls", format!("{} ({} from cache)", view.n_paid_calls(), view.n_cached_calls())),
        ("Tokens", tokens(view.spent.tokens())),
        ("Cost", dollars(view.spent.cost_microusd)),
        ("Time", time(view.active_ms())),
    ];
    let confidence =
        view.confidence().map(|confidence| ("Confidence", format!("{:.0} %", confidence * 100.0)));
    let facts: Vec<String> = facts
        .iter()
        .chain(&confidence)
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(value)))
        .collect();
    let facts = facts.concat();
    let class = state.replace(' ', "-");
    format!(
        "<header>\n<p class=\"kicker\">Spelunk report <span class=\"state {class}\">{state}</span></p>\n\
         <h1>{}</h1>\n<dl class=\"facts\">\n{facts}</dl>\n</header>\n",
        escaped(report.question.trim())
    )
}

fn answer(report: &RunReport, anchors: &Anchors) -> String {
    let Some(answer) = &report.answer else {
        return "<section id=\"answer\">\n<h2>Answer</h2>\n<p>There is no answer yet.</p>\n</section>\n"
            .to_owned();
    };
    let (written, _) = written(report, &answer.text);
    format!("<section id=\"answer\" class=\"prose\">\n{}</section>\n", prose(&written, anchors))
}

/// Splits an answer into the model's text and the coverage section. Only analyst runs have sections written by code.
fn written(report: &RunReport, text: &str) -> (String, String) {
    if report.view.tasks.is_none() {
        return (text.to_owned(), String::new());
    }
    // The last one is ours, whatever the model wrote before it.
    let at = text.rfind(&format!("\n{COVERAGE_SECTION}\n"));
    let (text, coverage) = at.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""));
    let coverage = coverage.trim_start().strip_prefix(COVERAGE_SECTION).unwrap_or_default();
    (without_listing(text), coverage.to_owned())
}

fn without_listing(text: &str) -> String {
    let mut is_listing = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            is_listing = line.trim_end() == LISTED_SECTION;
        }
        if !is_listing {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

fn filter(report: &RunReport) -> String {
    let mut labels = format!("<label for=\"show-all\">All {}</label>\n", report.findings.len());
    for (name, n) in severities(report) {
        labels += &format!("<label for=\"show-{name}\" class=\"{name}\">{} {n}</label>\n", capital(name));
    }
    format!(
        "<div class=\"filter\" role=\"group\" aria-label=\"Show findings by severity\">\n{labels}</div>\n"
    )
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn evidence(data: &ReportData<'_>, anchors: &Anchors) -> String {
    let Some(answer) = &data.report.answer else { return String::new() };
    let mut items = String::new();
    for (idx, citation) in answer.citations.iter().enumerate() {
        let place = citation.place();
        let own = format!("e{}", idx + 1);
        if anchors.get(&place) != Some(&own) {
            continue;
        }
        let shown = data.excerpts.at(&citation.document, Some(citation.line)).map(excerpt);
        let shown =
            shown.unwrap_or_else(|| format!("<blockquote>{}</blockquote>\n", escaped(&citation.quote)));
        items += &format!(
            "<article class=\"cited\" id=\"{own}\">\n<h4>{}</h4>\n{shown}</article>\n",
            escaped(&place)
        );
    }
    if items.is_empty() {
        return String::new();
    }
    format!("<section id=\"evidence\">\n<h2>Evidence</h2>\n{items}</section>\n")
}

fn coverage(data: &ReportData<'_>) -> String {
    let report = data.report;
    let answer = report.answer.as_ref().map_or("", |answer| &answer.text);
    let (_, said) = written(report, answer);
    let mut rows = Vec::new();
    if said.trim().is_empty() {
        rows.push(("Files", files_read(&report.view)));
        rows.extend(tasks(report));
    }
    if !report.view.skipped.is_empty() {
        rows.push(("Files left out", listed(&report.view.skipped)));
    }
    if !report.view.redacted.is_empty() {
        rows.push(("Secrets redacted", listed(&report.view.redacted)));
    }
    rows.extend(data.excerpts.remark.iter().map(|remark| ("Source lines", remark.clone())));
    let rows: Vec<String> = rows
        .iter()
        .map(|(name, value)| format!("<tr><th scope=\"row\">{name}</th><td>{}</td></tr>\n", escaped(value)))
        .collect();
    let rows = rows.concat();
    let said = prose(&said, &Anchors::new());
    format!(
        "<section id=\"coverage\">\n<h2>Coverage</h2>\n{said}<div class=\"scroll\"><table>\n{rows}</table></div>\n</section>\n"
    )
}

/// The progress of the analyst tasks while there is no answer.
fn tasks(report: &RunReport) -> Vec<(&'static str, String)> {
    let coverage = &report.coverage;
    if coverage.tasks + coverage.units_recalled == 0 {
        return Vec::new();
    }
    let mut rows = vec![("Tasks", format!("{} of {} have a report", coverage.tasks_done, coverage.tasks))];
    let numbers = [
        ("Parts reused from earlier runs", coverage.units_recalled),
        ("Unusable findings", coverage.rejected),
        ("Findings whose quote is not in the text shown", coverage.unverified),
    ];
    rows.extend(numbers.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name, n.to_string())));
    for (what, code) in coverage.failed.iter().take(ERRORS_MAX) {
        rows.push(("Not covered", format!("{} ({code})", head(what, 300))));
    }
    rows
}

fn errors(report: &RunReport) -> String {
    if report.errors.is_empty() {
        return String::new();
    }
    let row = |error: &spelunk_engine::ReportError| {
        let place = error.call.as_ref().map_or_else(|| error.frame.to_string(), ToString::to_string);
        let message = escaped(&head(&error.message, 300));
        format!("<tr><th scope=\"row\">{place}</th><td>{}</td><td>{message}</td></tr>\n", error.code)
    };
    let rows: String = report.errors.iter().take(ERRORS_MAX).map(row).collect();
    format!(
        "<section id=\"errors\">\n<h2>Errors</h2>\n<div class=\"scroll\"><table>\n{rows}</table></div>\n</section>\n"
    )
}

#[cfg(test)]
mod tests;
