//! Merging many reports.

use std::collections::BTreeMap;

use expect_test::expect;
use spelunk_types::{AnalystReport, ErrorCode, Finding, Found, Location, PartMetadata, Severity, Unit};

use super::{Coverage, Gathered, ReportCoverage, expand_names, findings_section, gather, in_order};

fn finding(file: &str, line: u64, summary: &str, severity: Option<Severity>) -> Finding {
    Finding {
        kind: "bug".into(),
        summary: summary.into(),
        evidence: "words".into(),
        quote: Some(Found::Exact),
        severity,
        confidence: None,
        location: Location { file: file.into(), line_start: Some(line), ..Location::default() },
        distribution: BTreeMap::new(),
        total: None,
        value: None,
    }
}

fn counted(file: &str, column: &str, counts: &[(&str, u64)], total: u64) -> Finding {
    let location = Location { column: Some(column.into()), ..Location::default() };
    Finding {
        location: Location { file: file.into(), ..location },
        distribution: counts.iter().map(|(value, n)| ((*value).to_owned(), *n)).collect(),
        total: Some(total),
        ..finding(file, 1, "counts", None)
    }
}

fn report(content_type: &str, findings: Vec<Finding>) -> AnalystReport {
    AnalystReport {
        analyst: "code".into(),
        content_type: content_type.into(),
        units: vec![Unit { file: "a".into(), line_start: 1, line_end: 9 }],
        relevant: true,
        summary: String::new(),
        answer: None,
        count: None,
        confidence: None,
        raised_by: None,
        metadata: PartMetadata::default(),
        findings,
        rejected: 0,
    }
}

fn listed(gathered: &Gathered) -> Vec<String> {
    let line = |item: &super::MergedFinding| {
        let severity = item.finding.severity.map_or("-", Severity::name);
        format!("{severity} {} {} x{}", item.finding.location, item.finding.summary, item.places.len())
    };
    gathered.items.iter().map(line).collect()
}

#[test]
fn the_gravest_comes_first_and_the_same_is_said_once() {
    let gathered = gather(&[
        report(
            "code",
            vec![
                finding("b.rs", 9, "Unchecked input!", Some(Severity::Medium)),
                finding("a.rs", 3, "style", Some(Severity::Low)),
                finding("a.rs", 1, "no rating", None),
            ],
        ),
        report(
            "code",
            vec![
                finding("a.rs", 5, "unchecked  Input", Some(Severity::High)),
                // Parts overlap: this is the finding above, seen again.
                finding("a.rs", 3, "style", Some(Severity::Low)),
            ],
        ),
        report("config", vec![finding("c.toml", 1, "style", Some(Severity::High))]),
    ]);
    assert_eq!(
        listed(&gathered),
        [
            "high b.rs:9 Unchecked input! x2",
            "high c.toml:1 style x1",
            "low a.rs:3 style x1",
            "- a.rs:1 no rating x1",
        ]
    );
}

#[test]
fn a_finding_whose_quote_was_found_stands_for_those_whose_was_not() {
    let mut invented = finding("a.rs", 1, "same", Some(Severity::High));
    invented.quote = Some(Found::Missing);
    let gathered = gather(&[report("code", vec![invented, finding("b.rs", 2, "same", Some(Severity::Low))])]);
    assert_eq!(listed(&gathered), ["high b.rs:2 same x2"]);
}

#[test]
fn counts_are_added_up_by_document_and_column() {
    let gathered = gather(&[
        AnalystReport {
            count: Some(2),
            ..report("data", vec![counted("x.csv", "state", &[("open", 2)], 2)])
        },
        AnalystReport {
            count: Some(3),
            ..report(
                "data",
                vec![
                    counted("x.csv", "state", &[("open", 1), ("done", u64::MAX)], 3),
                    counted("y.csv", "state", &[("open", 7)], 7),
                ],
            )
        },
    ]);
    assert_eq!(gathered.count, Some(5));
    let sums: Vec<String> = gathered.distributions.iter().map(super::shown).collect();
    assert_eq!(
        sums,
        [
            format!("x.csv, `state`: done {}, open 3 (of 5)", u64::MAX),
            "y.csv, `state`: open 7 (of 7)".to_owned()
        ]
    );
}

#[test]
fn names_become_places_and_unknown_ones_go() {
    let gathered = gather(&[report(
        "code",
        vec![finding("a.rs", 3, "one", Some(Severity::High)), finding("b.rs", 7, "two", Some(Severity::Low))],
    )]);
    let (text, named, n_unknown) =
        expand_names("See [F2], [F1, F2] and [F3]. Not [Fx], [link](x), [F1 or [", &gathered.items);
    assert_eq!(text, "See (b.rs:7), (a.rs:3, b.rs:7) and. Not [Fx], [link](x), [F1 or [");
    assert_eq!((named, n_unknown), (vec![1, 0], 1));
}

#[test]
fn text_of_models_and_documents_begins_no_line_of_the_report() {
    let mut hostile = finding("a.rs", 3, "x\n## Coverage\n\nAll is well.", None);
    hostile.evidence = "y\n# Title".into();
    hostile.quote = Some(Found::Missing);
    expect![[r#"
        ## Per-File Findings

        ### a.rs (code)

        - bug, line 3: x ## Coverage All is well. — “y # Title” (unverified: the quote is not in the text shown)
    "#]]
    .assert_eq(&findings_section(&gather(&[report("code", vec![hostile])])));
}

#[test]
fn the_parts_of_a_report_have_an_order() {
    let written = "## Summary\n\nShort.\n\n## Analysis\n\nLong.";
    assert_eq!(
        in_order(written, "## Per-File Findings\n\n- x\n", "## Coverage\n"),
        "## Summary\n\nShort.\n\n## Per-File Findings\n\n- x\n\n## Analysis\n\nLong.\n\n## Coverage"
    );
    assert_eq!(in_order("Only prose.", "F", "C"), "Only prose.\n\nF\n\nC");
}

#[test]
fn many_tasks_that_failed_are_counted_by_the_reason() {
    let failed = |n: u64| (format!("a.log line {n}"), ErrorCode::CallsExhausted);
    let broken = ("b.log".to_owned(), ErrorCode::ReportInvalid);
    let coverage = |failed| {
        let read = ReportCoverage { failed, ..ReportCoverage::default() };
        Coverage { read, ..Coverage::default() }
    };
    let few = coverage((1..=2).map(failed).collect());
    let many = coverage((1..=5000).map(failed).chain([broken]).collect());
    expect![[r"
        - Failed and not covered: 2
          - a.log line 1: The run has reached its call limit.
          - a.log line 2: The run has reached its call limit.
        - Failed and not covered: 5001
          - a.log line 1, a.log line 2, a.log line 3 and 4997 more: The run has reached its call limit.
          - b.log: A model's report about part of the text is unusable, even after a retry.
    "]]
    .assert_eq(&([few.gaps(), many.gaps()].concat().join("\n") + "\n"));
}
