//! Searching documents and views: what is shown, what is counted, when it stops.
#![expect(clippy::disallowed_methods, reason = "tests make and change the files that are searched")]
#![expect(clippy::single_range_in_vec_init, reason = "a line may have one match")]

mod properties;
mod secrets;

use std::fs;
use std::sync::atomic::AtomicBool;

use expect_test::{Expect, expect};
use spelunk_types::Explain as _;

use super::{Extent, GrepMatch, GrepQuery, GrepReport, grep_view};
use crate::testing::{scan, tree, view};
use crate::{ReadError, Reader, View};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn grep(text: &str, query: &GrepQuery) -> GrepReport {
    Reader::of_bytes("text", text.as_bytes().into()).grep(query, &GO_ON).unwrap()
}

/// Matches as `grep` prints them, with ranges in brackets, then the totals.
fn check(text: &str, query: &GrepQuery, expected: &Expect) {
    let report = grep(text, query);
    let mut shown = String::new();
    for GrepMatch { line, text, ranges, before, after } in &report.matches {
        for (idx, context) in before.iter().enumerate() {
            shown += &format!("{}-{context}\n", line - (before.len() - idx) as u64);
        }
        shown += &format!("{line}:{text} {ranges:?}\n");
        for (idx, context) in after.iter().enumerate() {
            shown += &format!("{}-{context}\n", line + 1 + idx as u64);
        }
        shown += "--\n";
    }
    shown += &format!("{} matches, truncated {}", report.n_matches, report.truncated);
    expected.assert_eq(&shown);
}

#[test]
fn a_match_keeps_its_indentation_and_shows_the_lines_around_it() {
    check(
        "one\r\n\ttwo Two\r\nthree\nfour\nfive\n",
        &GrepQuery { context_lines: 1, ..GrepQuery::new("two|five") },
        &expect![[r#"
            1-one
            2:	two Two [1..4, 5..8]
            3-three
            --
            4-four
            5:five [0..4]
            --
            2 matches, truncated false"#]],
    );
}

#[test]
fn the_case_counts_where_it_is_asked_to() {
    let query = GrepQuery { case_sensitive: true, context_lines: 0, ..GrepQuery::new("two") };
    check(
        "Two\ntwo\n",
        &query,
        &expect![[r#"
        2:two [0..3]
        --
        1 matches, truncated false"#]],
    );
}

#[test]
fn twenty_matches_are_shown_and_all_are_counted() {
    let report = grep(&"hit\nmiss\n".repeat(1000), &GrepQuery::new("hit"));
    let lines: Vec<u64> = report.matches.iter().map(|found| found.line).collect();
    assert_eq!(lines, (0..20).map(|idx| 2 * idx + 1).collect::<Vec<_>>());
    assert_eq!((report.n_matches, report.truncated, report.stopped_early), (1000, true, false));
}

#[test]
fn the_first_matches_come_back_without_reading_the_rest() {
    let text = "hit\n".repeat(4_000_000);
    let query = GrepQuery { extent: Extent::FirstMatches, ..GrepQuery::new("hit") };
    let report = grep(&text, &query);
    assert_eq!((report.matches.len(), report.n_matches), (20, 21));
    assert_eq!((report.truncated, report.stopped_early), (true, true));
    assert!(report.bytes_scanned < 8_000_000, "{}", report.bytes_scanned);
    let all = grep("hit\nhit\n", &query);
    assert_eq!((all.matches.len(), all.n_matches, all.truncated, all.stopped_early), (2, 2, false, false));
    let exact = grep(&"hit\n".repeat(20), &query);
    assert_eq!(
        (exact.matches.len(), exact.n_matches, exact.truncated, exact.stopped_early),
        (20, 20, false, false)
    );
}

#[test]
fn counting_alone_shows_nothing() {
    let report = grep("a\nb\na\n", &GrepQuery { matches_max: 0, ..GrepQuery::new("a") });
    assert_eq!((report.matches.len(), report.n_matches, report.truncated), (0, 2, true));
}

#[test]
fn an_empty_document_has_no_matches_and_no_phantom_line() {
    assert_eq!(grep("", &GrepQuery::new("^")), GrepReport::default());
    assert_eq!(grep("a\n", &GrepQuery::new("^")).n_matches, 1);
}

#[test]
fn several_units_on_several_threads_number_lines_as_one() {
    let mut text = String::new();
    for line in 1..=400_000 {
        text += &format!("{line} {}\n", if line % 39_999 == 0 { "needle" } else { "straw" });
    }
    let report = grep(&text, &GrepQuery { context_lines: 0, ..GrepQuery::new("needle") });
    let shown: Vec<(u64, &str)> =
        report.matches.iter().map(|found| (found.line, found.text.as_str())).collect();
    let expected: Vec<(u64, String)> =
        (1..=10).map(|n| (39_999 * n, format!("{} needle", 39_999 * n))).collect();
    assert_eq!(shown, expected.iter().map(|(line, text)| (*line, text.as_str())).collect::<Vec<_>>());
}

#[test]
fn a_line_of_many_megabytes_is_searched_in_bounded_memory_and_shown_around_its_match() {
    let text = format!("first\n{}needle{}\nlast needle\n", "x".repeat(9_000_000), "y".repeat(9_000_000));
    let report = grep(&text, &GrepQuery { context_lines: 1, ..GrepQuery::new("NEEDLE") });
    assert_eq!(report.matches[0].text, format!("…{}needle{}…", "x".repeat(100), "y".repeat(394)));
    assert_eq!((report.matches[0].line, report.matches[0].ranges.clone()), (2, vec![103..109]));
    assert_eq!(
        (report.matches[1].line, report.matches[1].text.as_str(), report.n_matches),
        (3, "last needle", 2)
    );
}

#[test]
fn secrets_are_not_shown_and_ranges_point_into_what_is() {
    let text = "see ghp_R8sK2mV0qLx7TzYw4NdJ6bHcU1aE9fGi3oPz # ghp\n";
    let report = grep(text, &GrepQuery::new("ghp"));
    assert_eq!(report.matches[0].text, "see [secret:github-token] # ghp");
    assert_eq!(report.matches[0].ranges, [28..31]);
}

#[test]
fn invalid_utf8_before_a_match_moves_nothing() {
    let reader = Reader::of_bytes("latin", b"caf\xe9\ncaf\xe9 needle\n".as_slice().into());
    let report = reader.grep(&GrepQuery::new("needle"), &GO_ON).unwrap();
    let found = &report.matches[0];
    assert_eq!(
        (found.line, found.text.as_str(), &found.before),
        (2, "caf\u{fffd} needle", &vec!["caf\u{fffd}".into()])
    );
    assert_eq!(found.ranges, [7..13]);
}

#[test]
fn a_cancelled_search_says_so() {
    let text = Reader::of_bytes("text", b"a\n".as_slice().into());
    let error = text.grep(&GrepQuery::new("a"), &AtomicBool::new(true)).unwrap_err();
    assert_eq!((error.code().name(), error.to_string().as_str()), ("cancelled", "the search was stopped"));
}

#[test]
fn a_file_that_changed_is_not_searched() {
    let directory = tree(&[("a.txt", "needle\n")]);
    let reader = Reader::open(&directory.path().join("a.txt")).unwrap();
    fs::write(directory.path().join("a.txt"), "other needle\n").unwrap();
    let error = reader.grep(&GrepQuery::new("needle"), &GO_ON).unwrap_err();
    assert_eq!(error.code().name(), "corpus-changed");
}

#[test]
fn a_view_is_searched_in_the_order_of_its_documents() {
    let documents = view(&[("b", "hit\n\nhit\n"), ("a", "hit\n"), ("c", "miss\n"), ("d", "hit\n")]);
    let report =
        grep_view(&documents, &GrepQuery { matches_max: 2, ..GrepQuery::new("hit") }, &GO_ON).unwrap();
    let found: Vec<(&str, Vec<u64>, u64)> = report
        .documents
        .iter()
        .map(|d| (d.document.as_str(), d.matches.iter().map(|found| found.line).collect(), d.n_matches))
        .collect();
    assert_eq!(found, [("a", vec![1], 1), ("b", vec![1], 2), ("d", vec![], 1)]);
    assert_eq!((report.n_matches, report.truncated, report.stopped_early), (4, true, false));
}

#[test]
fn a_view_stops_at_the_first_matches_where_that_is_enough() {
    let documents = view(&[("a", "hit\nhit\n"), ("b", "hit\n"), ("c", "hit\n")]);
    let query = GrepQuery { matches_max: 2, extent: Extent::FirstMatches, ..GrepQuery::new("hit") };
    let report = grep_view(&documents, &query, &GO_ON).unwrap();
    let found: Vec<(&str, usize, u64)> =
        report.documents.iter().map(|d| (d.document.as_str(), d.matches.len(), d.n_matches)).collect();
    assert_eq!(found, [("a", 2, 2), ("b", 0, 1)]);
    assert_eq!((report.n_matches, report.truncated, report.stopped_early), (3, true, true));
}

#[test]
fn a_document_that_vanished_is_named_and_stops_nothing() {
    let directory = tree(&[("a.txt", "needle\n"), ("b.txt", "needle\n"), ("c.txt", "needle\n")]);
    let documents = View::of(scan(&[directory.path()]).unwrap().into());
    fs::remove_file(directory.path().join("b.txt")).unwrap();
    let report = grep_view(&documents, &GrepQuery::new("needle"), &GO_ON).unwrap();
    let names: Vec<&str> = report.documents.iter().map(|d| d.document.as_str()).collect();
    assert_eq!((names, report.n_matches), (vec!["a.txt", "c.txt"], 2));
    let [(name, ReadError::Changed { .. })] = &report.unreadable[..] else {
        panic!("{:?}", report.unreadable)
    };
    assert_eq!(name, "b.txt");
}

#[test]
fn large_documents_of_a_view_are_searched_in_parts() {
    let large = format!("{}needle\n", "straw\n".repeat(500_000));
    let documents = view(&[("large", &large), ("small", "needle\n")]);
    let report = grep_view(&documents, &GrepQuery::new("needle"), &GO_ON).unwrap();
    let found: Vec<(&str, u64)> =
        report.documents.iter().map(|d| (d.document.as_str(), d.matches[0].line)).collect();
    assert_eq!(found, [("large", 500_001), ("small", 1)]);
}
