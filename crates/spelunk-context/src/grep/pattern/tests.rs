//! Which patterns are accepted, and how an invalid one is shown.

use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use crate::grep::GrepQuery;
use crate::grep::pattern::{Choice, Pattern, without_end};

fn refused(pattern: &str, expected: &Expect) {
    let error = GrepQuery::new(pattern).compile().unwrap_err();
    let hint = spelunk_types::Explain::hint(&error).unwrap();
    expected.assert_eq(&format!("{}: {error}\nhint: {hint}", spelunk_types::Explain::code(&error)));
}

fn matching(pattern: &str, text: &str) -> Vec<String> {
    let pattern = Pattern::compile(&GrepQuery::new(pattern)).unwrap();
    let mut lines = Vec::new();
    let _ = pattern.each_line(text.as_bytes(), Choice::Matching, |line| {
        lines.push(String::from_utf8_lossy(without_end(&text.as_bytes()[line])).into_owned());
        std::ops::ControlFlow::Continue(())
    });
    lines
}

#[test]
fn an_invalid_regex_is_shown_with_a_caret_under_the_place() {
    refused(
        "foo(bar",
        &expect![[r#"
            usage-wrong: the pattern is not a valid regular expression: unclosed group
                foo(bar
                   ^
            hint: correct it, or search for a literal string (`literal`)"#]],
    );
    refused(
        "äöü[z-a]",
        &expect![[r#"
            usage-wrong: the pattern is not a valid regular expression: invalid character class range, the start must be <= the end
                äöü[z-a]
                    ^
            hint: correct it, or search for a literal string (`literal`)"#]],
    );
    refused(
        r"a\p{Nothing}",
        &expect![[r#"
            usage-wrong: the pattern is not a valid regular expression: Unicode property not found
                a\p{Nothing}
                 ^
            hint: correct it, or search for a literal string (`literal`)"#]],
    );
}

#[test]
fn patterns_that_are_empty_long_huge_or_of_several_lines_are_refused() {
    refused(
        "",
        &expect![[r#"
        usage-wrong: the pattern is empty
        hint: give a pattern to search for"#]],
    );
    refused(
        &"x".repeat(501),
        &expect![[r#"
        usage-wrong: the pattern has 501 bytes; the maximum is 500
        hint: search for a shorter part of it"#]],
    );
    refused(
        r"\w{1000}{1000}",
        &expect![[r#"
        usage-wrong: the pattern `\w{1000}{1000}` is too large when compiled
        hint: use smaller repetition counts"#]],
    );
    refused(
        r"a\nb",
        &expect![[r#"
        usage-wrong: the pattern `a\nb` contains a line end, but a match is always within one line
        hint: search for the text of one line, with context lines"#]],
    );
    refused(
        "a\nb",
        &expect![[r#"
        usage-wrong: the pattern `a\nb` contains a line end, but a match is always within one line
        hint: search for the text of one line, with context lines"#]],
    );
}

#[test]
fn limits_on_what_is_shown_are_checked() {
    let error = GrepQuery { context_lines: 101, ..GrepQuery::new("x") }.compile().unwrap_err();
    assert_eq!(error.to_string(), "lines of context must be between 0 and 100, not 101");
    let error = GrepQuery { matches_max: u64::MAX, ..GrepQuery::new("x") }.compile().unwrap_err();
    assert_eq!(error.to_string(), "matches must be between 0 and 10000, not 18446744073709551615");
}

#[test]
fn anchors_are_those_of_a_line() {
    assert_eq!(matching("^b", "ab\nba\n"), ["ba"]);
    assert_eq!(matching("b$", "ab\r\nba\r\nb"), ["ab", "b"]);
    assert_eq!(matching(r"\Ab", "ab\nba\nb"), ["ba", "b"]);
    assert_eq!(matching(r"b\z", "ab\r\nba\nb\n"), ["ab", "b"]);
    assert_eq!(matching("^$", "a\n\nb\n\r\n"), ["", ""]);
    assert_eq!(matching("^", "a\n\nb"), ["a", "", "b"]);
    assert_eq!(matching("x*", "a\n\nb\n"), ["a", "", "b"]);
    assert_eq!(matching(r"a\sb", "a\nb\na b\n"), ["a b"]);
    assert_eq!(matching("[^x]b", "\nb\nab\n"), ["ab"]);
    assert_eq!(matching("(?s)a.b", "a\nb\n"), [""; 0]);
}

#[test]
fn case_and_literals_follow_the_query() {
    let finds =
        |query: &GrepQuery, text: &str| Pattern::compile(query).unwrap().find(text.as_bytes()).is_some();
    let any_case = GrepQuery::new("straße");
    assert!(finds(&any_case, "STRAßE"));
    assert!(!finds(&GrepQuery { case_sensitive: true, ..any_case }, "STRAßE"));
    let literal = GrepQuery { literal: true, ..GrepQuery::new("a.b(") };
    assert!(finds(&literal, "A.B("));
    assert!(!finds(&literal, "axb("));
}

#[test]
fn patterns_that_blow_up_elsewhere_are_linear_here() {
    let begun = Instant::now();
    let text = "a".repeat(200_000);
    for pattern in ["(a+)+$b", "(a|a)*b", "(a*)*c", "(x+x+)+y", "(.*)*=(.*)*=(.*)*!"] {
        assert_eq!(matching(pattern, &text), [""; 0]);
    }
    // Backtracking would take longer than the age of the universe.
    assert!(begun.elapsed() < Duration::from_secs(20));
}
