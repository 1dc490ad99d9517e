use expect_test::{Expect, expect};

use super::*;

/// Each term with its position; `*` if it is a whole name.
fn check(text: &str, expected: &Expect) {
    let mut shown = String::new();
    terms(text, &mut |term| {
        let star = if term.form == Form::Joined { "*" } else { "" };
        shown.push_str(&format!("{}{star}@{} ", term.text, term.position));
    });
    expected.assert_eq(shown.trim_end());
}

#[test]
fn names_are_given_in_parts_and_as_a_whole() {
    check("maxRetryCount", &expect!["max@0 retry@1 count@2 maxretrycount*@0"]);
    check("max_retry_count", &expect!["max@0 retry@1 count@2 maxretrycount*@0"]);
    check("HTTPServer2 __init__", &expect!["http@0 server@1 2@2 httpserver2*@0 init@3"]);
    check("kebab-case src/lib.rs utf8", &expect!["kebab@0 cas@1 src@2 lib@3 rs@4 utf@5 8@6 utf8*@5"]);
    check("a1b2c3d4e5f6", &expect!["a1b2c3d4e5f6*@0"]);
    check("___", &expect![""]);
}

#[test]
fn accents_case_and_english_endings_do_not_matter() {
    check("Cafés Crème STRASSE straße", &expect!["caf@0 crem@1 strass@2 strass@3"]);
    check("retried retries retry", &expect!["retry@0 retry@1 retry@2"]);
    check("cafe\u{301} \u{fb01}sh ＷＩＤＥ", &expect!["caf@0 fish@1 wid@2"]);
}

#[test]
fn other_scripts_are_cut_as_they_are_read() {
    check("数据库 日", &expect!["数@0 数据@0 据@1 据库@1 库@2 日@3"]);
    check("สวัสดี", &expect!["ส@0 สว@0 ว@1 วั@1 ั@2 ัส@2 ส@3 สด@3 ด@4 ดี@4 ี@5"]);
    check("مُحَمَّد كتاب", &expect!["محمد@0 كتاب@1"]);
    check("हिन्दी पाठ", &expect!["हिन्दी@0 पाठ@1"]);
    check("Ελληνικός ΕΛΛΗΝΙΚΌΣ", &expect!["ελληνικοσ@0 ελληνικοσ@1"]);
}

#[test]
fn the_index_gets_the_same_terms() {
    let mut tokenizer = TermTokenizer::default();
    let mut stream = tokenizer.token_stream("fooBar baz");
    let mut shown = Vec::new();
    while stream.advance() {
        let Token { text, position, offset_from, offset_to, .. } = stream.token();
        shown.push(format!("{text}@{position} {offset_from}..{offset_to}"));
    }
    assert_eq!(shown, ["foo@0 0..3", "bar@1 3..6", "foobar@0 0..6", "baz@2 7..10"]);
}

proptest::proptest! {
    #[test]
    fn any_text_gives_terms_inside_of_it(text in "\\PC{0,80}|[a-zA-Z0-9_é数 -]{0,80}") {
        let mut last = 0;
        terms(&text, &mut |term| {
            assert!(text.get(term.at.clone()).is_some_and(|part| !part.is_empty()), "{term:?}");
            assert!(!term.text.is_empty() && term.text.len() <= WORD_BYTES_MAX);
            assert!(term.form == Form::Joined || term.position >= last, "{term:?}");
            last = last.max(term.position);
        });
    }
}
