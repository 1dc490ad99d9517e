//! Parsing the replies of analysts.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use spelunk_context::{Analyst, ContentType, Detector, Shown};
use spelunk_types::{AnalystReport, Focus, Found, Limits};

use super::reply::{Reading, parse};
use super::system_prompt;
use crate::ModelCapacity;
use crate::task::{Analysis, DocumentPart};

fn analysis(names: &[&str]) -> Analysis {
    let part = |name: &&str| DocumentPart {
        document_idx: 0,
        name: Arc::from(*name),
        digest: spelunk_journal::digest(name.as_bytes()),
        bytes: 1000,
        lines: 1..=50,
        chunk: None,
    };
    Analysis {
        number: 1,
        of: 1,
        analyst: Analyst::Code,
        detected: Detector::default().detect("a.rs", "fn main() {}\n"),
        focus: Focus::General,
        parts: names.iter().map(part).collect(),
        schema: None,
    }
}

/// Fifty lines of each document of a task.
fn text_of(analysis: &Analysis) -> Shown {
    let mut shown = Shown::default();
    for part in &analysis.parts {
        let lines: Vec<String> = (1..=50).map(|line| format!("let x{line} = fn x();")).collect();
        shown.add(&part.name, 1, &lines.join("\n"));
    }
    shown
}

fn read(
    reply: &str,
    names: &[&str],
    limits: &Limits,
    reading: Reading,
) -> Result<AnalystReport, Vec<String>> {
    let analysis = analysis(names);
    parse(reply, &analysis, &text_of(&analysis), limits, reading)
}

fn shown(report: Result<AnalystReport, Vec<String>>) -> String {
    match report {
        Err(faults) => faults.iter().fold(String::new(), |text, fault| text + "fault: " + fault + "\n"),
        Ok(report) => {
            let mut text = format!("relevant={} rejected={}\n", report.relevant, report.rejected);
            for finding in report.findings {
                let severity = finding.severity.map_or("-", |severity| severity.name());
                text += &format!(
                    "{severity} {} {} {:?} | {}\n",
                    finding.kind, finding.location, finding.summary, finding.evidence
                );
            }
            text
        }
    }
}

fn check(names: &[&str], reply: &str, first: &Expect, last: &Expect) {
    let limits = Limits::default();
    first.assert_eq(&shown(read(reply, names, &limits, Reading::First)));
    last.assert_eq(&shown(read(reply, names, &limits, Reading::Last)));
}

#[test]
fn every_form_that_models_choose_is_read() {
    let one = r#"{"type": "Dead Code", "summary": "unused", "line": "7-9", "severity": "Critical", "evidence": "7| fn x()"}"#;
    let expected = "relevant=true rejected=0\nhigh dead_code src/a.rs:7 \"unused\" | fn x()\n";
    let forms = [
        format!("{{\"findings\": [{one}]}}"),
        format!("```json\n{{\"relevant\": true, \"findings\": [{one}]}}\n```"),
        format!("Here you are:\n<findings>\n[{one}]\n</findings>\nDone."),
        format!("[{one}]"),
        one.to_owned(),
        format!("{{\"findings\": {one}}}"),
        format!("{{\"results\": {{\"findings\": [{one}]}}}}"),
        format!("<think>hm [1]</think>{{\"findings\": [{one}]}}"),
    ];
    for form in forms {
        let report = read(&form, &["src/a.rs"], &Limits::default(), Reading::First);
        assert_eq!(shown(report), expected, "{form}");
    }
}

#[test]
fn faults_are_told_first_and_lived_with_then() {
    check(
        &["src/a.rs", "src/b.rs"],
        r#"{"findings": [
            {"type": "bug", "summary": "named", "file": "./src/a.rs", "line": 3},
            {"type": "bug", "summary": "by its end", "file": "b.rs", "line": 4},
            {"type": "bug", "summary": "no file"},
            {"type": "bug", "summary": "another file", "file": "/etc/passwd", "line": 1},
            {"type": "bug", "summary": "another line", "file": "src/a.rs", "line": 900},
            {"type": "bug", "summary": "another line, quoted", "file": "src/a.rs", "line": 900, "evidence": "nowhere"},
            {"type": "idea", "summary": "no such type", "file": "src/a.rs"},
            {"type": "bug", "summary": "no such severity", "file": "src/a.rs", "severity": "purple"},
            {"type": "bug", "summary": "  ", "file": "src/a.rs"},
            "text"
        ]}"#,
        &expect![[r#"
            fault: finding 3: `file` is missing; name the document
            fault: finding 4: `/etc/passwd` is not a document of this task
            fault: finding 5: line 900 of `src/a.rs` was not given; lines 1 to 50 were
            fault: finding 7: `idea` is not a type; use one of vulnerability, bug, complexity, dependency, dead_code, api_surface, pattern, antipattern, performance
            fault: finding 8: `purple` is not a severity; use high, medium or low
            fault: finding 9: `summary` is missing
            fault: finding 10: it is not an object
        "#]],
        &expect![[r#"
            relevant=true rejected=5
            - bug src/a.rs:3 "named" | 
            - bug src/b.rs:4 "by its end" | 
            - bug src/a.rs "another line, quoted" | nowhere
            - other src/a.rs "no such type" | 
            - bug src/a.rs "no such severity" | 
        "#]],
    );
}

/// Findings about other lines from an analyst of lines 1 to 50, and what is left of them: line, last line, quote.
#[test]
fn a_finding_counts_only_inside_the_text_that_was_shown() {
    let outcome = |place: &str| {
        let reply = format!(r#"[{{"type": "bug", "summary": "s", "file": "a.rs", {place}}}]"#);
        let finding = read(&reply, &["a.rs"], &Limits::default(), Reading::Last).ok()?.findings.remove(0);
        Some((finding.location.line_start, finding.location.line_end, finding.quote))
    };
    let quoted = r#""evidence": "let x7 = fn x();""#;
    for (place, expected) in [
        (format!(r#""line": 7, {quoted}"#), Some((Some(7), None, Some(Found::Exact)))),
        (format!(r#""line": "7-9", {quoted}"#), Some((Some(7), Some(9), Some(Found::Exact)))),
        (format!(r#""line": "7-3000", {quoted}"#), Some((Some(7), None, Some(Found::Exact)))),
        (format!(r#""line": 3000, {quoted}"#), Some((Some(7), None, Some(Found::Moved)))),
        (format!(r#""column": "c", {quoted}"#), Some((Some(7), None, Some(Found::Exact)))),
        (r#""line": 3000, "evidence": "let x3000""#.to_owned(), Some((None, None, Some(Found::Missing)))),
        (r#""line": 9, "evidence": "let x3000""#.to_owned(), Some((Some(9), None, Some(Found::Missing)))),
        (r#""line": 3000"#.to_owned(), None),
        (r#""line": 51"#.to_owned(), None),
        (r#""line": 50"#.to_owned(), Some((Some(50), None, None))),
    ] {
        assert_eq!(outcome(&place), expected, "{place}");
    }
}

#[test]
fn what_is_no_report_is_told() {
    let replies = [
        ("nothing here", "fault: it is not one JSON object\n"),
        (r#"{"summary": "x"}"#, "fault: `findings` is missing\n"),
        (r#"{"findings": 3}"#, "fault: `findings` is not a list\n"),
        (r#"{"relevant": false}"#, "relevant=false rejected=0\n"),
    ];
    for (reply, expected) in replies {
        for reading in [Reading::First, Reading::Last] {
            let report = read(reply, &["a"], &Limits::default(), reading);
            assert_eq!(shown(report), expected, "{reply}");
        }
    }
}

#[test]
fn findings_over_the_limit_are_counted() {
    let one = r#"{"type": "bug", "summary": "x"}"#;
    let reply = format!("[{}]", [one; 7].join(","));
    let limits = Limits { findings_max: 5, ..Limits::default() };
    let report = read(&reply, &["a"], &limits, Reading::First).unwrap();
    assert_eq!((report.findings.len(), report.rejected), (5, 2));
}

#[test]
fn every_analyst_is_told_its_types_and_the_form_of_its_reply() {
    for (analyst, content_type) in [
        (Analyst::Code, ContentType::SourceCode),
        (Analyst::Data, ContentType::StructuredData),
        (Analyst::Json, ContentType::Json),
        (Analyst::General, ContentType::Log),
    ] {
        for focus in Focus::ALL {
            let mut analysis = Analysis { analyst, focus, ..analysis(&["a"]) };
            analysis.detected.content_type = content_type;
            let prompt = system_prompt(&analysis, &Limits::default(), ModelCapacity::LARGE);
            assert!(
                !["{what}", "{types}", "_max}", "{more", "{metadata}"].iter().any(|gap| prompt.contains(gap))
            );
            assert!(prompt.contains("how sure you are, from 0 to 1"), "{prompt}");
            assert!(super::types(analyst).iter().all(|word| prompt.contains(word)));
            assert_eq!(prompt.contains("Look first"), focus != Focus::General, "{focus}");
        }
    }
}

proptest! {
    #[test]
    fn no_reply_breaks_the_reading(reply in "\\PC{0,200}", json in "[\\[\\]{}\":,a-z0-9 ]{0,120}") {
        for text in [reply, json] {
            for reading in [Reading::First, Reading::Last] {
                drop(read(&text, &["a", "b"], &Limits::default(), reading));
            }
        }
    }
}
