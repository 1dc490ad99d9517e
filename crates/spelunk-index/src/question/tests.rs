use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(question: &str, expected: &str) {
    let question = Question::of(question);
    let words: Vec<&str> = (0..question.n_words()).map(|idx| question.shown(idx)).collect();
    assert_eq!(words.join(" "), expected);
}

fn hits(question: &str, text: &str) -> Vec<String> {
    let question = Question::of(question);
    let mut hits = Vec::new();
    question.find(text, |hit| hits.push(format!("{}@{}", question.shown(hit.word_idx), hit.at.start)));
    hits
}

#[test]
fn a_question_is_its_words_without_stop_words_each_once() {
    check("What is the size of the cache?", "size cache");
    check("retry, retries and retrying", "retry");
    check("Where is maxRetryCount set?", "max retry count maxretrycount set");
    check("Wo ist die Größe?", "wo ist die größe");
    check("東京の猫", "東京 京の の猫");
}

#[test]
fn a_question_of_stop_words_is_taken_at_its_word() {
    check("to be or not to be", "to be or not");
    check("?!", "");
    check("", "");
}

#[test]
fn a_question_without_end_is_cut() {
    let endless = (0..9999).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    assert_eq!(Question::of(&endless).n_words(), WORDS_MAX);
    assert_eq!(Question::of(&"é".repeat(QUESTION_BYTES_MAX)).n_words(), 0);
}

#[test]
fn words_are_found_in_all_their_forms() {
    assert_eq!(hits("retry policy", "Retries: RetryPolicy"), ["retry@0", "retry@9", "policy@14"]);
    assert_eq!(hits("retrypolicy", "retry_policy RetryPolicy retry"), ["retrypolicy@0", "retrypolicy@13"]);
    assert_eq!(hits("猫", "三毛猫です 猫"), ["猫@6", "猫@16"]);
    assert_eq!(hits("a b", "c"), Vec::<String>::new());
}

#[test]
fn a_pair_is_two_words_as_far_apart_as_in_the_question() {
    let question = Question::of("size of the cache");
    let pairs = |text: &str| {
        let (mut pairs, mut before) = (0, None);
        question.find(text, |hit| {
            pairs += before.as_ref().map_or(0, |before| usize::from(question.is_pair(before, &hit)));
            before = Some(hit);
        });
        pairs
    };
    assert_eq!(pairs("the size of a cache"), 1);
    assert_eq!(pairs("size cache"), 0);
    assert_eq!(pairs("cache of the size"), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_next_place_is_in_the_next_word(
        question in "(retry|key|cache|parsing|kelvin|maxRetryCount| ){1,4}",
        text in "(retr|ies|y|ing|ed|ke|s|_|k|K|C|ach|e|\u{212a}|elvin|Max|count| |\n|é){0,24}",
    ) {
        let question = Question::of(&question);
        let mut hits = Vec::new();
        question.find(&text, |hit| hits.push(hit.at));
        for at in hits {
            let n_underscores = text.get(at.clone()).unwrap().bytes().take_while(|byte| *byte == b'_').count();
            let place = question.next_place(&text, at.start + n_underscores);
            prop_assert!(place.is_some_and(|place| place < at.end), "{place:?} {at:?}");
        }
    }
}
