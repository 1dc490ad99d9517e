//! Matches do not depend on how the text is divided into windows: a few bytes at a time give the same as one window.

use proptest::prelude::*;

use crate::text::re::{Flags, MatchCursor, PyMatch, PyPattern, Sizes};
use crate::{LazyText, Reader};

/// Patterns of every sort: bounded, ended by a line, by other characters, by nothing; with look-around, words, `$`.
const PATTERNS: &[(&str, u64)] = &[
    ("a", 0),
    ("ab|b", 0),
    ("a.b", 0),
    ("[ab]+", 0),
    (r"\w+", 0),
    (r"\b\w+\b", 0),
    (r"\w+\s+\w+", 0),
    (r"\s+", 0),
    (r"\n+", 0),
    (r".+", 0),
    (r".*", 0),
    (r"^.*$", 8),
    (r"^", 8),
    (r"$", 0),
    (r"\w+$", 0),
    (r"a*", 0),
    (r"a*?", 0),
    (r"|ä", 0),
    (r"a.*?b", 16),
    (r"a.*b", 16),
    (r"ä.*?(b)?€", 16),
    (r#""[^"]*""#, 0),
    (r#""([^"]*)"\s*(\w)?"#, 0),
    (r"[^a]+b", 0),
    (r"a(.*b)?", 16),
    (r"(a)(?=.*b)", 16),
    (r"(?<=a)b|b(?!a)", 0),
    (r"(\w)\1", 0),
    (r"a[^€]*\bb", 0),
    (r"(?:a|ab)(?:c|bcd)?", 0),
    (r"[äß€😀]{2}", 0),
    (r"\B", 0),
    (r"a{2,3}?b", 0),
    (r"(?s)a.{3,40}b", 0),
    (r"\Aa|b\Z", 0),
];

fn in_windows(bytes: &[u8], window_bytes: u64) -> LazyText {
    let reader = Reader::of_bytes("any", bytes.into()).with_redaction(false);
    let sizes = Sizes {
        window_bytes,
        backtracking_bytes: window_bytes,
        window_bytes_max: 1 << 20,
        lead_bytes: 9,
        windows_alone: u64::MAX,
    };
    LazyText::over(reader).with_sizes(sizes)
}

fn matches(text: &LazyText, pattern: &PyPattern, batch: u64) -> Vec<PyMatch> {
    let (mut cursor, mut all) = (MatchCursor::default(), Vec::new());
    loop {
        let some = text.re_finditer(pattern, cursor, batch, u64::MAX).unwrap();
        all.extend(some.items);
        match some.next {
            Some(next) => cursor = next,
            None => return all,
        }
    }
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[ab]{1,4}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        2 => Just(b" ".to_vec()),
        2 => Just(b"\"".to_vec()),
        2 => "[äß€😀]{1,3}".prop_map(String::into_bytes),
        1 => "[cdx1]{1,20}".prop_map(String::into_bytes),
        1 => prop::collection::vec(128_u8..=255, 1..3),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn small_windows_find_what_one_window_finds(
        bytes in any_bytes(), idx in 0..PATTERNS.len(), window_bytes in 1_u64..24, batch in 1_u64..5,
    ) {
        let (pattern, flags) = PATTERNS[idx];
        let pattern = PyPattern::compile(pattern, Flags::from_python(flags)).unwrap();
        let (cut, whole) = (in_windows(&bytes, window_bytes), in_windows(&bytes, 1 << 20));
        let expected = matches(&whole, &pattern, u64::MAX);
        prop_assert_eq!(matches(&cut, &pattern, batch), expected);
        prop_assert_eq!(cut.re_match(&pattern).unwrap(), whole.re_match(&pattern).unwrap());
        prop_assert_eq!(cut.re_fullmatch(&pattern).unwrap(), whole.re_fullmatch(&pattern).unwrap());
        let start = MatchCursor::default();
        let parts = |text: &LazyText| text.re_split(&pattern, 0, start, u64::MAX).unwrap().items;
        prop_assert_eq!(parts(&cut), parts(&whole));
    }

    #[test]
    fn offsets_are_those_of_the_characters(bytes in any_bytes(), idx in 0..PATTERNS.len()) {
        let (pattern, flags) = PATTERNS[idx];
        let pattern = PyPattern::compile(pattern, Flags::from_python(flags)).unwrap();
        let text = in_windows(&bytes, 7);
        for found in matches(&text, &pattern, u64::MAX) {
            for group in found.groups.into_iter().flatten() {
                prop_assert_eq!(text.slice(group.chars).unwrap(), group.text);
            }
        }
    }
}

#[test]
fn windows_that_are_read_ahead_hold_what_others_hold() {
    let line = |idx: u32| match idx % 1000 {
        7 => format!("{} very long ä{}\n", idx, "x".repeat(3000)),
        500 => "token ghp_R4nd0mT0k3nV4lu3Abc9Xyz7Qwe5Rty3Uio1 here\n".to_owned(),
        _ => format!("line {idx} of many, größer\n"),
    };
    let text: String = (0..220_000).map(line).collect();
    let lazy = |window_bytes, windows_alone| {
        let sizes = Sizes { window_bytes, lead_bytes: 2000, windows_alone, ..Sizes::DEFAULT };
        LazyText::over(Reader::of_bytes("any", text.as_bytes().into())).with_sizes(sizes)
    };
    assert!(text.len() > 5_000_000);
    for pattern in [r"line \d*000\b", r"\d+ very.*", r"x\n", r"token\s+\S+", r"(?s)token.*?line"] {
        let pattern = PyPattern::compile(pattern, Flags::NONE).unwrap();
        let (ahead, alone) = (lazy(50_000, 1), lazy(1 << 20, u64::MAX));
        assert_eq!(matches(&ahead, &pattern, u64::MAX), matches(&alone, &pattern, u64::MAX));
    }
}

#[test]
fn a_match_longer_than_the_largest_window_is_refused() {
    let reader = Reader::of_bytes("long", format!("a{}b", "x".repeat(5000)).into_bytes().into());
    let sizes = Sizes {
        window_bytes: 64,
        backtracking_bytes: 64,
        window_bytes_max: 1024,
        lead_bytes: 9,
        windows_alone: u64::MAX,
    };
    let text = LazyText::over(reader.with_redaction(false)).with_sizes(sizes);
    let search = |pattern: &str| {
        let pattern = PyPattern::compile(pattern, Flags::DOT_ALL).unwrap();
        text.re_search(&pattern).map(|found| found.is_some()).map_err(|error| error.to_string())
    };
    assert_eq!(search("a.*b"), Err("a match of the pattern in `long` may exceed 1024 bytes".to_owned()));
    assert_eq!(search("x.*(?=b)"), Err("a match of the pattern in `long` may exceed 1024 bytes".to_owned()));
    // The possible length of a match is not its actual length.
    assert_eq!(search("a.*c"), Ok(false));
    assert_eq!(search("x{0,99}(?=b)"), Ok(true));
    assert_eq!(search("x{5}b"), Ok(true));
}

#[test]
fn a_pattern_that_steps_back_without_end_is_given_up() {
    let text = LazyText::of_string("trap", &"a".repeat(60));
    let pattern = PyPattern::compile(r"(a|a)*(?=b)\1", Flags::NONE).unwrap();
    let error = text.re_search(&pattern).unwrap_err().to_string();
    assert_eq!(error, "the pattern took more than 5000000 steps at one position in `trap`");
    // The same without look-ahead is linear.
    let pattern = PyPattern::compile(r"(a|a)*b", Flags::NONE).unwrap();
    assert_eq!(text.re_search(&pattern).unwrap(), None);
}

#[test]
fn a_pattern_that_is_too_large_is_refused() {
    let fault = PyPattern::compile(r"\w{1000}{1000}", Flags::NONE).unwrap_err();
    assert_eq!(fault.to_string(), "multiple repeat at position 8");
    let fault = PyPattern::compile(r"(?:\w{1000}){1000}", Flags::NONE).unwrap_err();
    assert_eq!(fault.to_string(), "the pattern is too large when compiled");
    let fault = PyPattern::compile(&"(".repeat(200), Flags::NONE).unwrap_err();
    assert_eq!(fault.to_string(), "groups nested more than 100 deep at position 101");
    let fault = PyPattern::compile(&"a".repeat(70_000), Flags::NONE).unwrap_err();
    assert_eq!(fault.to_string(), "the pattern has more than 65536 bytes");
}
