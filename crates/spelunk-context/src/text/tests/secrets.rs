//! Masked text: a secret appears as mask characters in every operation, however the text is cut.

use proptest::prelude::*;

use crate::secrets::MASK;
use crate::text::LazyText;
use crate::text::re::Sizes;
use crate::{Flags, MatchCursor, PyPattern, Reader, find_secrets};

const TOKEN: &str = "ghp_R4nd0mT0k3nV4lu3Abc9Xyz7Qwe5Rty3Uio1";

/// The expected masked text.
fn masked(text: &str) -> String {
    let secrets = find_secrets(text);
    let is_secret = |at: usize| secrets.iter().any(|secret| secret.bytes.contains(&at));
    text.char_indices().map(|(at, c)| if is_secret(at) { MASK } else { c }).collect()
}

fn lazy(text: &str, window_bytes: u64) -> LazyText {
    let sizes = Sizes {
        window_bytes,
        backtracking_bytes: window_bytes,
        window_bytes_max: 1 << 20,
        lead_bytes: 9,
        windows_alone: u64::MAX,
    };
    LazyText::over(Reader::of_bytes("any", text.as_bytes().into())).with_sizes(sizes)
}

fn find_all(text: &LazyText, pattern: &str) -> Vec<String> {
    let pattern = PyPattern::compile(pattern, Flags::MULTI_LINE).unwrap();
    let found = text.re_finditer(&pattern, MatchCursor::default(), u64::MAX, u64::MAX).unwrap().items;
    let show = |group: crate::Group| format!("{}..{} {}", group.chars.start, group.chars.end, group.text);
    found.into_iter().map(|found| show(found.groups.into_iter().next().flatten().unwrap())).collect()
}

/// The same in a text without secrets.
fn find_all_shown(text: &str, pattern: &str) -> Vec<String> {
    let shown = Reader::of_bytes("any", masked(text).into_bytes().into()).with_redaction(false);
    find_all(&LazyText::over(shown), pattern)
}

#[test]
fn a_secret_is_masked_character_by_character() {
    let text = format!("token {TOKEN} end");
    let lazy = lazy(&text, 1024);
    assert_eq!(lazy.chars().unwrap(), text.chars().count() as u64);
    assert_eq!(lazy.to_string_bounded(1000).unwrap(), format!("token {} end", "█".repeat(40)));
    assert_eq!(lazy.slice(10..14).unwrap(), "████");
    assert_eq!(lazy.find("end", 0..100).unwrap(), Some(47));
    assert_eq!(lazy.lines(0, 1000, false).unwrap().items, [format!("token {} end", "█".repeat(40))]);
}

#[test]
fn a_secret_cannot_be_guessed() {
    let text = format!("first {TOKEN} end\nkey={TOKEN}\n");
    let lazy = lazy(&text, 1024);
    let none: [String; 0] = [];
    for guess in
        ["ghp_", "ghp_R4", "R4nd", "ghp_R4\\w+", "first g", "(?<=first )g", "first (?=g)", "(?i)GHP_"]
    {
        assert_eq!(find_all(&lazy, guess), none, "{guess}");
    }
    for guess in ["ghp_", "R4nd0m", " ghp"] {
        assert_eq!(lazy.find(guess, 0..1000).unwrap(), None);
        assert_eq!(lazy.rfind(guess, 0..1000).unwrap(), None);
        assert_eq!(lazy.count(guess, 0..1000).unwrap(), 0);
        assert!(!lazy.contains(guess).unwrap());
        let parts = lazy.split(Some(guess), 0, MatchCursor::default(), 10_000).unwrap();
        assert_eq!(parts.items.len(), 1);
    }
    assert!(!lazy.starts_with("first ghp").unwrap());
    // A match that includes a secret shows its mask, as the text does.
    assert_eq!(find_all(&lazy, "key=.*"), [format!("51..95 key={}", "█".repeat(40))]);
    assert_eq!(find_all(&lazy, r"first (?!g)"), ["0..6 first "]);
}

#[test]
fn a_document_that_is_given_out_as_it_is_is_not_masked() {
    let lazy = LazyText::over(Reader::of_bytes("any", TOKEN.as_bytes().into()).with_redaction(false));
    assert_eq!(lazy.slice(0..4).unwrap(), "ghp_");
    assert_eq!(lazy.find("R4nd", 0..100).unwrap(), Some(4));
}

/// Long enough for many windows, and for secrets out of reach of each other.
fn long_text() -> String {
    let mut text = String::new();
    for idx in 0..700_u32 {
        match idx % 200 {
            17 => text.push_str(&format!("user=ada token={TOKEN} status=200\n")),
            40 => text.push_str(&format!("https://ada:{TOKEN}@example.org/path status=301 ä\n")),
            63 => {
                let body = format!("{}\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7").repeat(30);
                text.push_str(&format!("-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n"));
            }
            _ => text.push_str(&format!("2024-01-02 line {idx} status=200 \"quoted {idx}\" ok, grüße\n")),
        }
    }
    text
}

#[test]
fn every_sort_of_pattern_sees_the_masked_text_alone() {
    let text = long_text();
    for window_bytes in [5000, 1 << 20] {
        let lazy = lazy(&text, window_bytes);
        for pattern in [
            "status=200",
            r"status=\d+",
            r"token=\S+",
            "token=.*",
            r"\b\w+=\w+\b",
            r#""[^"]*""#,
            r"(?s)token.*?\n",
            r"[^\n]*KEY[^\n]*",
            r"MII\w+",
            r"█+",
            r"\w+(?=@)",
            r"(?<=token=).",
            r"^.*\n",
            r"(?s)BEGIN.{0,60}",
            "[A-Z]{3,}",
        ] {
            assert_eq!(
                find_all(&lazy, pattern),
                find_all_shown(&text, pattern),
                "{pattern} by {window_bytes}"
            );
        }
    }
}

#[test]
fn slices_one_behind_the_other_are_the_whole_text() {
    let text = long_text();
    let lazy = lazy(&text, 1 << 20);
    let whole = lazy.to_string_bounded(1 << 20).unwrap();
    assert_eq!(whole, masked(&text));
    let n_chars = lazy.chars().unwrap();
    let slices = (0..n_chars.div_ceil(997)).map(|idx| lazy.slice(idx * 997..(idx + 1) * 997).unwrap());
    assert_eq!(slices.collect::<String>(), whole);
    let (mut cursor, mut lines) = (Some(0), String::new());
    while let Some(from) = cursor {
        let some = lazy.lines(from, 10_000, true).unwrap();
        lines.extend(some.items);
        cursor = some.next;
    }
    assert_eq!(lines, whole);
    let parts = lazy.split(Some("status"), 0, MatchCursor::default(), u64::MAX).unwrap().items;
    assert_eq!(parts.join("status"), whole);
    assert_eq!(
        lazy.rfind("token=█", 0..n_chars).unwrap(),
        whole.rfind("token=█").map(|at| whole.get(..at).unwrap().chars().count() as u64)
    );
    assert_eq!(lazy.count("█", 0..n_chars).unwrap(), whole.matches('█').count() as u64);
}

proptest! {
    #[test]
    fn any_slice_is_a_slice_of_the_masked_text(
        pieces in prop::collection::vec(prop_oneof![Just(TOKEN), Just("a b "), Just("ä\n"), Just("password=Xk29fj3kdk3!")], 0..12),
        start in 0_u64..200, n_chars in 0_u64..200,
    ) {
        let text = pieces.concat();
        let expected: String = masked(&text).chars()
            .skip(usize::try_from(start).unwrap()).take(usize::try_from(n_chars).unwrap()).collect();
        prop_assert_eq!(lazy(&text, 64).slice(start..start + n_chars).unwrap(), expected);
    }
}
