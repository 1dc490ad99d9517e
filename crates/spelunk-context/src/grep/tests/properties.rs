//! Compares a search with checking every line, however the text is divided into units.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use crate::Reader;
use crate::grep::pattern::Pattern;
use crate::grep::units::Sizes;
use crate::grep::{Extent, GrepQuery};
use crate::reader::split_lines;

const PATTERNS: [&str; 14] =
    ["a", "ab", "^a", "b$", "a.*b", r"\bb", "^$", "x*", r"\Aa", "[^a]b", "(a|bb)+c?", "ä", r"a\b", r"b\s*\z"];

/// Text of few letters, so that patterns sometimes match; some lines end with `\r\n`.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[ab cxä]{1,6}",
        3 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Units far smaller than lines, with every line still searched whole.
fn any_sizes() -> impl Strategy<Value = Sizes> {
    (1_u64..20, 1_u64..40, 1_u64..9).prop_map(|(first_bytes, unit_bytes, step_bytes)| Sizes {
        first_bytes,
        unit_bytes,
        step_bytes,
        line_bytes_max: 10_000,
        overlap_bytes: 100,
        threads: NonZeroUsize::new(1 + usize::try_from(unit_bytes % 3).unwrap()),
    })
}

/// The numbers and texts of all matching lines.
fn naive(text: &str, query: &GrepQuery) -> Vec<(u64, String)> {
    let pattern = Pattern::compile(query).unwrap();
    let lines = split_lines(text).enumerate().filter(|(_, line)| pattern.find(line.as_bytes()).is_some());
    lines.map(|(idx, line)| (idx as u64 + 1, line.to_owned())).collect()
}

proptest! {
    #[test]
    fn the_matches_are_those_of_every_line_whatever_the_units(
        text in any_text(), pattern in prop::sample::select(PATTERNS.to_vec()), sizes in any_sizes(),
        matches_max in 0_u64..6, case_sensitive: bool,
    ) {
        let query = GrepQuery { case_sensitive, matches_max, context_lines: 1, ..GrepQuery::new(pattern) };
        let expected = naive(&text, &query);
        let reader = Reader::of_bytes("text", text.as_bytes().into());
        let report = reader.grep_with(&query.compile().unwrap(), &AtomicBool::new(false), sizes).unwrap();
        prop_assert_eq!(report.n_matches, expected.len() as u64);
        prop_assert_eq!(report.truncated, report.n_matches > matches_max);
        let shown: Vec<(u64, String)> = report.matches.iter().map(|found| (found.line, found.text.clone())).collect();
        let n_shown = expected.len().min(usize::try_from(matches_max).unwrap());
        prop_assert_eq!(&shown[..], &expected[..n_shown]);
        let lines: Vec<&str> = split_lines(&text).collect();
        for found in &report.matches {
            let idx = usize::try_from(found.line).unwrap() - 1;
            prop_assert_eq!(&found.before[..], &lines[idx.saturating_sub(1)..idx]);
            prop_assert_eq!(&found.after[..], &lines[idx + 1..lines.len().min(idx + 2)]);
        }
        let first = GrepQuery { extent: Extent::FirstMatches, ..query };
        let stopped = reader.grep_with(&first.compile().unwrap(), &AtomicBool::new(false), sizes).unwrap();
        prop_assert_eq!(stopped.matches, report.matches);
        prop_assert_eq!(stopped.n_matches, report.n_matches.min(matches_max + 1));
    }

    #[test]
    fn a_line_too_long_to_hold_is_found_by_matches_shorter_than_the_overlap(
        before in 0_usize..200, behind in 0_usize..200, unit_bytes in 1_u64..50,
    ) {
        let text = format!("ab\n{}needle{}\nneedle\n", "x".repeat(before), "y".repeat(behind));
        let sizes = Sizes {
            first_bytes: unit_bytes, unit_bytes, step_bytes: 3, line_bytes_max: 20, overlap_bytes: 10,
            threads: NonZeroUsize::new(2),
        };
        let reader = Reader::of_bytes("text", text.as_bytes().into());
        let query = GrepQuery::new("needle");
        let report = reader.grep_with(&query.compile().unwrap(), &AtomicBool::new(false), sizes).unwrap();
        prop_assert_eq!(report.matches.iter().map(|found| found.line).collect::<Vec<_>>(), [2, 3]);
        for (pattern, n_matches) in [("^x", u64::from(before > 0)), ("y$", u64::from(behind > 0)), (r"needle\b", 1 + u64::from(behind == 0)), ("absent", 0)] {
            let query = GrepQuery::new(pattern);
            prop_assert_eq!(reader.grep_with(&query.compile().unwrap(), &AtomicBool::new(false), sizes).unwrap().n_matches, n_matches);
        }
    }

    #[test]
    fn any_bytes_and_any_pattern_are_searched_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200), pattern in ".{0,12}", literal: bool, sizes in any_sizes(),
    ) {
        let reader = Reader::of_bytes("any", bytes.into());
        let query = GrepQuery { literal, ..GrepQuery::new(pattern) };
        if let Ok(query) = query.compile() {
            let report = reader.grep_with(&query, &AtomicBool::new(false), sizes).unwrap();
            prop_assert!(report.matches.len() as u64 <= report.n_matches);
        }
    }
}
