//! A search reveals nothing about secrets. Two texts that differ only in a secret are indistinguishable.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::{GO_ON, grep};
use crate::grep::units::Sizes;
use crate::grep::{CompiledQuery, Extent, GrepQuery, GrepReport, grep_view};
use crate::testing::view;
use crate::{Reader, find_secrets};

const TOKEN: &str = "ghp_R8sK2mV0qLx7TzYw4NdJ6bHcU1aE9fGi3oPz";
const KEY_LINE: &str = "MIIEpAIBAAKCAQEA7zX2bQ0vN9mK4sT1yR8wC5uJ3hL6gFqPdEoIaVnBxZkWtYcM";

fn key() -> String {
    let body = format!("{KEY_LINE}\n").repeat(24);
    format!("before\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nafter\n")
}

fn counted(text: &str, pattern: &str) -> u64 {
    grep(text, &GrepQuery { matches_max: 0, ..GrepQuery::new(pattern) }).n_matches
}

#[test]
fn no_part_of_a_secret_is_found_shown_or_counted() {
    let text = format!("user = bob\ntoken = {TOKEN}\n");
    for end in 1..=TOKEN.len() {
        let begin = TOKEN.get(..end).unwrap();
        let guess = GrepQuery { literal: true, ..GrepQuery::new(begin) };
        assert_eq!(grep(&text, &guess).n_matches, 0, "{}", guess.pattern);
        // A correct guess that makes the line disappear would reveal as much as one that makes it appear.
        let optional = format!("token = ({begin})?");
        assert_eq!(counted(&text, &optional), 1, "{optional}");
    }
    assert_eq!(counted(&text, "token = .*"), 1);
    assert_eq!(counted(&text, "github-token"), 0);
    assert_eq!(counted(&text, r"\[secret"), 0);
    assert_eq!(counted(&text, "^"), 2);
}

#[test]
fn a_word_boundary_does_not_tell_how_a_secret_begins() {
    for text in ["password=!h7Q-k2Zp9w\n", "password=k2Zp9w-h7Q!\n"] {
        let counts = [r"=\b", r"=\B", r"=(?-u:\B)", r"\bpassword\b", r"\bpass\b", r"=\b|d="]
            .map(|pattern| counted(text, pattern));
        assert_eq!(counts, [0, 0, 1, 1, 0, 1], "{text}");
    }
}

#[test]
fn whoever_may_read_secrets_may_search_for_them() {
    let reader = Reader::of_bytes("text", format!("token = {TOKEN}\n").into_bytes().into());
    let query = GrepQuery { matches_max: 0, ..GrepQuery::new("ghp_R8") };
    assert_eq!(reader.with_redaction(false).grep(&query, &GO_ON).unwrap().n_matches, 1);
}

#[test]
fn the_lines_of_a_key_are_not_found_wherever_units_are_cut() {
    let text = format!("{}{}{}", "straw\n".repeat(5), key(), "straw\n".repeat(5));
    let reader = Reader::of_bytes("text", text.into_bytes().into());
    for unit_bytes in [1, 7, 64, 500, 4000] {
        let sizes =
            Sizes { first_bytes: unit_bytes, unit_bytes, threads: NonZeroUsize::new(2), ..Sizes::DEFAULT };
        for (pattern, n_matches) in
            [("MIIE", 0), ("7zX2", 0), ("YcM$", 0), ("private key", 2), ("after", 1), ("^", 38)]
        {
            let query = GrepQuery::new(pattern).compile().unwrap();
            let report = reader.grep_with(&query, &GO_ON, sizes).unwrap();
            assert_eq!(report.n_matches, n_matches, "{pattern} in units of {unit_bytes}");
        }
    }
}

#[test]
fn a_key_far_from_the_beginning_is_found_again_in_every_unit() {
    let far = format!("{}{}", "a line of straw\n".repeat(100_000), key());
    assert_eq!((counted(&far, "MIIE"), counted(&far, "after"), counted(&far, "straw")), (0, 1, 100_000));
}

#[test]
fn the_head_of_a_key_is_seen_as_far_as_it_reaches() {
    let lines = |n_lines: usize| format!("{KEY_LINE}\n").repeat(n_lines);
    for n_between in [0, 1, 30, 240, 400] {
        let text =
            format!("first\n-----BEGIN PRIVATE KEY-----\n{}needle{KEY_LINE}\n{}", lines(n_between), lines(5));
        let reader = Reader::of_bytes("text", text.clone().into_bytes().into());
        let shown = reader.load(u64::MAX).unwrap();
        // A key without an end counts as a key as far as a rule reaches.
        let n_shown = |word: &str| shown.lines().filter(|line| line.contains(word)).count() as u64;
        assert_eq!((n_shown("needle"), n_shown("MIIE") > 0), (u64::from(n_between == 400), n_between == 400));
        assert_eq!((counted(&text, "needle"), counted(&text, "MIIE")), (n_shown("needle"), n_shown("MIIE")));
    }
}

#[test]
fn a_secret_in_a_line_too_long_to_hold_is_not_found() {
    let text = format!("{}{TOKEN}{}\n", "x ".repeat(1_200_000), " y".repeat(1_200_000));
    assert_eq!((counted(&text, "ghp_"), counted(&text, "GI3oPz"), counted(&text, "x.* y")), (0, 0, 0));
    assert_eq!((counted(&text, "^x"), counted(&text, " y$"), counted(&text, "y y")), (1, 1, 1));
}

#[test]
fn a_view_keeps_back_what_its_documents_do() {
    let documents = view(&[("a", &format!("token = {TOKEN}\n")), ("b", "ghp_R8 is how a token begins\n")]);
    let report = grep_view(&documents, &GrepQuery::new("ghp_R8"), &GO_ON).unwrap();
    let found: Vec<(&str, u64)> =
        report.documents.iter().map(|d| (d.document.as_str(), d.n_matches)).collect();
    assert_eq!((found, report.n_matches), (vec![("b", 1)], 1));
}

/// Two secrets of the same form with nothing in common; those of the last pair have the same length.
const PAIRS: [(&str, &str); 4] = [
    (TOKEN, "ghp_b3TqW9zXk1LmP5vR7nYc2HdJ8gFsA4uEo6iKxQwZtUv"),
    ("password=!h7Q-k2Zp9w", "password=k2Zp9w-h7Q?long-Er7"),
    ("https://bob:s3cr3t@host/", "https://bob:!?Zw99xxPQ+@host/"),
    (TOKEN, "ghp_b3TqW9zXk1LmP5vR7nYc2HdJ8gFsA4uEo6iK"),
];

const PATTERNS: [&str; 24] = [
    "a",
    "ghp",
    "ghp_R8",
    "= (ghp_R8)?",
    r"=\b",
    r"=(?-u:\B)",
    r"\b;",
    r"\B;",
    ":.",
    "=.",
    "[^a]",
    "^.*$",
    "a.*b",
    r"\w+",
    r"(?-u:\xff)",
    r"(?-u:.)*",
    r"x?(?-u:[^a]{40})?",
    "secret",
    r"\[",
    "R8sK2mV0q",
    r"[!?]",
    r"\s$",
    "q|k",
    r"\b[a-z0-9]{9}\b",
];

/// The report without anything that depends on sizes.
fn told(text: &str, query: &CompiledQuery, sizes: Sizes) -> GrepReport {
    let reader = Reader::of_bytes("text", text.as_bytes().into());
    let report = reader.grep_with(query, &AtomicBool::new(false), sizes).unwrap();
    GrepReport { bytes_scanned: 0, ..report }
}

fn any_pattern(pair: (&'static str, &'static str)) -> impl Strategy<Value = String> {
    let part = (0..pair.0.len(), 1_usize..6)
        .prop_map(move |(from, n)| pair.0.get(from..(from + n).min(pair.0.len())).unwrap().to_owned());
    let part = part.prop_map(|part| regex_syntax::escape(&part));
    prop_oneof![
        3 => prop::sample::select(PATTERNS.to_vec()).prop_map(str::to_owned),
        1 => part.clone(),
        1 => part.prop_map(|part| format!("[a=: ]?({part})?")),
    ]
}

fn any_case() -> impl Strategy<Value = ((&'static str, &'static str), Vec<&'static str>, String)> {
    prop::sample::select(PAIRS.to_vec()).prop_flat_map(|pair| {
        let piece = prop::sample::select(vec!["S", "S", "a", "b;", " ", "=", "\n", "\n", "\r\n", "ä", ";"]);
        (Just(pair), prop::collection::vec(piece, 0..30), any_pattern(pair))
    })
}

proptest! {
    #[test]
    fn texts_that_differ_in_a_secret_alone_cannot_be_told_apart(
        (pair, pieces, pattern) in any_case(), unit_bytes in 1_u64..90, matches_max in 0_u64..4, is_first: bool,
    ) {
        let with = |secret: &str| pieces.iter().map(|piece| if *piece == "S" { secret } else { piece }).collect::<String>();
        let (one, other) = (with(pair.0), with(pair.1));
        // Where two secrets touch, or a letter precedes one, it may not be a secret: then there is nothing to hide.
        let n_secrets = |text: &str| find_secrets(text).len();
        prop_assume!(n_secrets(&one) == n_secrets(&other) && n_secrets(&one) == pieces.iter().filter(|piece| **piece == "S").count());
        let extent = if is_first { Extent::FirstMatches } else { Extent::Whole };
        let query = GrepQuery { matches_max, extent, ..GrepQuery::new(pattern) }.compile().unwrap();
        let small = Sizes { first_bytes: unit_bytes, unit_bytes, step_bytes: 8, threads: NonZeroUsize::new(2), ..Sizes::DEFAULT };
        for sizes in [Sizes::DEFAULT, small] {
            prop_assert_eq!(told(&one, &query, sizes), told(&other, &query, sizes));
        }
        if pair.0.len() == pair.1.len() {
            // A line in pieces is cut by bytes, so only secrets of equal length are cut alike.
            let pieces = Sizes { line_bytes_max: 20, overlap_bytes: 10, ..small };
            prop_assert_eq!(told(&one, &query, pieces), told(&other, &query, pieces));
        }
    }
}
