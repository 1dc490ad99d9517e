use super::*;
use crate::question::Question;

/// The lines of one document, ordered by their score for the question.
#[track_caller]
fn check(question: &str, text: &str, expected: &[u64]) {
    let question = Question::of(question);
    let tally = Tally::of(&question, "a", text, 1, std::num::NonZeroUsize::MIN);
    let scorer = Scorer::of(question.n_words(), text.len() as u64, std::iter::once(&tally));
    let mut rows: Vec<(f32, u64)> =
        tally.matches.iter().map(|found| (scorer.score(&tally, found), found.piece.line_start)).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    assert_eq!(rows.iter().map(|row| row.1).collect::<Vec<_>>(), expected);
}

#[test]
fn rare_words_weigh_more() {
    check("cache eviction", "cache aaa\ncache bbb\ncache ccc\neviction\n", &[4, 1, 2, 3]);
}

#[test]
fn more_of_a_word_is_better_and_more_text_around_it_is_worse() {
    check("cache", "cache and some other words here\ncache cache and other words\nnone\nnone\n", &[2, 1]);
}

#[test]
fn different_words_are_better_than_the_same_again() {
    check("cache retry", "cache cache cache\nretry xxxx cache\n", &[2, 1]);
}

#[test]
fn words_that_stand_together_as_asked_are_better() {
    check("retry policy", "policy of a retry\nthe retry policy \n", &[2, 1]);
}

#[test]
fn a_weight_is_never_below_zero() {
    let shown = [(0, 0), (10, 0), (10, 1), (10, 10)].map(|(n, n_with)| format!("{:.3}", weight(n, n_with)));
    assert_eq!(shown, ["0.693", "3.091", "1.992", "0.047"]);
}
