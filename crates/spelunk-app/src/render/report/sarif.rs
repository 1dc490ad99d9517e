//! The report as SARIF 2.1.0: findings that have a file and a line, for code hosts and editors.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use spelunk_engine::{MergedFinding, ReportCoverage, RunReport};
use spelunk_types::{Found, Location, RunOutcome, Severity, iso_time, percent_encoded, truncate};

use super::{Excerpts, ReportData, severity_name};
use crate::units::safe;

/// The maximum that code hosts accept.
const RESULTS_MAX: usize = 25_000;
/// The maximum number of errors listed; the JSON report contains all of them.
const NOTIFICATIONS_MAX: usize = 100;
const MESSAGE_CHARS_MAX: usize = 1_000;

pub(crate) fn sarif(data: &ReportData<'_>) -> String {
    let report = data.report;
    let rules = rules(report);
    let placed = report.findings.iter().flat_map(|merged| {
        let with_line = merged.places.iter().filter(|place| place.line_start.is_some());
        with_line.map(move |place| (merged, place))
    });
    let mut n_same: BTreeMap<String, u32> = BTreeMap::new();
    let results: Vec<Value> = placed
        .take(RESULTS_MAX)
        .map(|(merged, place)| {
            let mark = fingerprint(merged, place);
            let nth = n_same.entry(mark.clone()).or_default();
            *nth += 1;
            result(data, merged, place, &rules, &format!("{mark}:{nth}"))
        })
        .collect();
    let view = &report.view;
    let is_whole = matches!(view.outcome, Some(RunOutcome::Answered | RunOutcome::Partial { .. }));
    let mut invocation = json!({
        "executionSuccessful": is_whole,
        "startTimeUtc": iso_time(view.started_at_ms),
        "toolExecutionNotifications": report.errors.iter().take(NOTIFICATIONS_MAX).map(|error| json!({
            "level": "error",
            "message": { "text": text(&format!("{}: {}", error.code, error.message)) },
            "timeUtc": iso_time(error.at_ms),
        })).collect::<Vec<_>>(),
    });
    if view.outcome.is_some() {
        invocation["endTimeUtc"] = json!(iso_time(view.updated_at_ms));
    }
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "spelunk",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|(id, rule)| rule_json(id, rule)).collect::<Vec<_>>(),
            } },
            "automationDetails": { "id": format!("spelunk/{}", report.run) },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
            "properties": { "question": text(&report.question), "coverage": coverage(&report.coverage) },
        }],
    });
    format!("{sarif:#}\n")
}

fn coverage(coverage: &ReportCoverage) -> Value {
    json!({
        "documents": coverage.documents,
        "documents_read": coverage.documents_read,
        "bytes_read": coverage.bytes_read,
        "tasks": coverage.tasks,
        "tasks_done": coverage.tasks_done,
        "tasks_failed": coverage.failed.len(),
    })
}

fn rules(report: &RunReport) -> BTreeMap<String, Rule> {
    let mut rules: BTreeMap<String, Rule> = BTreeMap::new();
    for merged in &report.findings {
        let rule = rules.entry(rule_id(merged)).or_insert_with(|| Rule {
            kind: merged.finding.kind.clone(),
            content_type: merged.content_type.clone(),
            gravest: None,
        });
        rule.gravest = rule.gravest.max(merged.finding.severity);
    }
    rules
}

struct Rule {
    kind: String,
    content_type: String,
    gravest: Option<Severity>,
}

fn rule_id(merged: &MergedFinding) -> String {
    let word = |text: &str| -> String {
        let kept = text.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' });
        kept.take(64).collect()
    };
    format!("{}/{}", word(&merged.content_type), word(&merged.finding.kind))
}

fn rule_json(id: &str, rule: &Rule) -> Value {
    let words = rule.kind.replace(['_', '-'], " ");
    let what = format!("{} in {}", text(&words), text(&rule.content_type.replace('_', " ")));
    json!({
        "id": id,
        "name": text(&rule.kind),
        "shortDescription": { "text": what },
        "defaultConfiguration": { "level": level(rule.gravest) },
    })
}

fn level(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::High) => "error",
        Some(Severity::Medium) => "warning",
        Some(Severity::Low) | None => "note",
    }
}

fn result(
    data: &ReportData<'_>,
    merged: &MergedFinding,
    place: &Location,
    rules: &BTreeMap<String, Rule>,
    mark: &str,
) -> Value {
    let finding = &merged.finding;
    let id = rule_id(merged);
    let mut message = text(&finding.summary);
    if finding.quote == Some(Found::Missing) {
        message += " (unverified: the quote is not in the text shown)";
    }
    let mut properties = Map::from_iter([("severity".to_owned(), json!(severity_name(finding.severity)))]);
    if let Some(confidence) = finding.confidence {
        properties.insert("confidence".to_owned(), json!(confidence));
    }
    let mut physical = json!({
        "artifactLocation": { "uri": uri(&format!("{}{}", data.base, place.file)) },
        "region": region(data.excerpts, place),
    });
    if let Some(excerpt) = data.excerpts.at(&place.file, place.line_start) {
        let last = excerpt.first + excerpt.lines.len() as u64 - 1;
        physical["contextRegion"] = json!({
            "startLine": excerpt.first,
            "endLine": last.max(excerpt.first),
            "snippet": { "text": excerpt.lines.join("\n") },
        });
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(scope) = &place.scope {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": text(scope) }]);
    }
    json!({
        "ruleId": id,
        "ruleIndex": rules.keys().position(|known| *known == id),
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [location],
        "partialFingerprints": { "spelunkFinding/v1": mark },
        "properties": properties,
    })
}

fn region(excerpts: &Excerpts, place: &Location) -> Value {
    let first = place.line_start.unwrap_or(1).max(1);
    let mut region = json!({ "startLine": first, "endLine": place.line_end.unwrap_or(first).max(first) });
    if let Some(excerpt) = excerpts.at(&place.file, place.line_start) {
        region["snippet"] = json!({ "text": excerpt.meant() });
    }
    region
}

/// Does not change when lines are added above the finding.
fn fingerprint(merged: &MergedFinding, place: &Location) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let finding = &merged.finding;
    let shown = if finding.evidence.is_empty() { &finding.summary } else { &finding.evidence };
    let whole = format!("{}\n{}\n{}", rule_id(merged), place.file, words(shown));
    spelunk_journal::digest(whole.as_bytes()).to_string().chars().take(32).collect()
}

/// A relative URI reference, percent-encoded.
fn uri(path: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    percent_encoded(path.trim_start_matches('/'), is_kept)
}

fn text(text: &str) -> String {
    truncate(&safe(text), MESSAGE_CHARS_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_a_relative_reference() {
        assert_eq!(uri("src/a b#c?.rs"), "src/a%20b%23c%3F.rs");
        assert_eq!(uri("//host/ü:%41"), "host/%C3%BC%3A%2541");
    }
}
