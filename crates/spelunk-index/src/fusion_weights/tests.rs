use super::*;

#[test]
fn a_quotation_leans_on_words_and_a_question_on_meaning() {
    let words = |covered: f32| leaning(covered).words;
    assert!((words(1.0) - WORDS_IF_QUOTED).abs() < 1e-6);
    assert!((words(0.0) - WORDS_IF_OTHER).abs() < 1e-6);
    assert!(words(0.6) < words(0.7) && words(0.7) < words(0.8));
    assert!((leaning(0.3).meaning - 1.0).abs() < 1e-6);
}
