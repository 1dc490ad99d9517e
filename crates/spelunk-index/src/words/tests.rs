use proptest::prelude::*;

use super::*;

fn tokens(text: &str) -> Vec<(String, Range<usize>, u64, Form)> {
    let mut tokens = Vec::new();
    scan(
        text,
        |_, _| true,
        |token| {
            let word = String::from_utf8(token.word.to_vec()).unwrap();
            tokens.push((word, token.at, token.ordinal, token.form));
        },
    );
    tokens
}

/// Words with their ordinals; `+` before a joined form and `.` before a single character.
#[track_caller]
fn check(text: &str, expected: &str) {
    let shown: Vec<String> = tokens(text)
        .into_iter()
        .map(|(word, _, ordinal, form)| match form {
            Form::Plain => format!("{ordinal}:{word}"),
            Form::Joined => format!("{ordinal}:+{word}"),
            Form::Single => format!("{ordinal}:.{word}"),
        })
        .collect();
    assert_eq!(shown.join(" "), expected);
}

#[test]
fn words_are_runs_of_letters_and_digits_in_lower_case() {
    check("Hello, World! x2 3.14", "0:hello 1:world 2:x2 3:3 4:14");
    check("rate-limit don't", "0:rate 1:limit 2:don 3:t");
    check("", "");
    check("--- !", "");
}

#[test]
fn names_are_cut_and_kept_joined() {
    check("max_retry_count", "0:max 1:retry 2:count 0:+maxretrycount");
    check("maxRetryCount", "0:max 1:retry 2:count 0:+maxretrycount");
    check("MaxRetry", "0:max 1:retry 0:+maxretry");
    check("HTTPServer2Go", "0:http 1:server2 2:go 0:+httpserver2go");
    check("README MAX_SIZE __init__ _", "0:readme 1:max 2:size 1:+maxsize 3:init");
    check("sha256 utf8", "0:sha256 1:utf8");
}

#[test]
fn letters_beyond_ascii_are_letters() {
    check("Größe der Straße", "0:größe 1:der 2:straße");
    check("Привет МИР", "0:привет 1:мир");
    check("naïve_größe", "0:naïve 1:größe");
}

#[test]
fn marks_beyond_ascii_are_not() {
    check("“maxRetry”—then…", "0:max 1:retry 0:+maxretry 2:then");
    check("a·b 🦀crab", "0:a 1:b 2:crab");
}

#[test]
fn unspaced_scripts_give_pairs_and_single_characters() {
    check("東京都", "0:.東 0:東京 1:.京 1:京都 2:.都");
    check("猫", "0:猫");
    check("v2東京x", "0:v2 1:.東 1:東京 2:.京 3:x");
    check("서울 시", "0:.서 0:서울 1:.울 2:시");
}

#[test]
fn places_are_bytes_of_the_text() {
    assert_eq!(
        tokens("é aB 東京"),
        [
            ("é".to_owned(), 0..2, 0, Form::Plain),
            ("a".to_owned(), 3..4, 1, Form::Plain),
            ("b".to_owned(), 4..5, 2, Form::Plain),
            ("ab".to_owned(), 3..5, 1, Form::Joined),
            ("東".to_owned(), 6..9, 3, Form::Single),
            ("東京".to_owned(), 6..12, 3, Form::Plain),
            ("京".to_owned(), 9..12, 4, Form::Single),
        ]
    );
}

#[test]
fn overlong_runs_are_passed_over() {
    check(&format!("a {} b", "x".repeat(WORD_BYTES_MAX + 1)), "0:a 2:b");
    check(&format!("a {} b", "é".repeat(WORD_BYTES_MAX)), "0:a 2:b");
    check(&format!("a_{}", "X".repeat(WORD_BYTES_MAX + 1)), "0:a");
}

proptest! {
    #[test]
    fn every_word_stands_where_it_is_said_to(text in "[a-cA-C_ é東京“0-9\n]{0,30}") {
        for (word, at, _, form) in tokens(&text) {
            let there = text.get(at).unwrap().to_lowercase();
            let there = if form == Form::Joined { there.replace('_', "") } else { there };
            prop_assert_eq!(there, word);
        }
    }

    #[test]
    fn any_text_is_scanned_without_a_panic(text in any::<String>()) {
        tokens(&text);
    }
}
