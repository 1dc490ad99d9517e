use super::*;

fn cut(tokens: &[&str], text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    Vocabulary::of(tokens.iter().copied()).cut(text, 512, &mut ids);
    ids
}

#[test]
fn the_longest_pieces_win_and_a_word_that_cannot_be_cut_is_left_out() {
    let tokens = ["[UNK]", "un", "##aff", "##able", "##a", "affable", "."];
    assert_eq!(cut(&tokens, "unaffable. Affable"), [1, 2, 3, 6, 5]);
    assert_eq!(cut(&tokens, "unaffableness affable"), [5]);
    assert_eq!(cut(&tokens, "[UNK]"), [0_u32; 0]);
}

#[test]
fn accents_case_and_han_are_taken_apart() {
    let tokens = ["cafe", "你", "好", "a", "##b"];
    assert_eq!(cut(&tokens, "CAFÉ 你好ab"), [0, 1, 2, 3, 4]);
}

#[test]
fn no_more_tokens_than_asked_for() {
    let vocabulary = Vocabulary::of(["a"].into_iter());
    let mut ids = Vec::new();
    vocabulary.cut(&"a ".repeat(10_000), 7, &mut ids);
    assert_eq!(ids, [0; 7]);
}

#[test]
fn a_word_is_split_alike_every_time_however_many_came_between() {
    let tokens = ["a", "b", "##a", "##b", "##1", "c"];
    let vocabulary = Vocabulary::of(tokens.into_iter());
    let mut ids = Vec::new();
    for round in 0..3 {
        for (word, expected) in [("ab1", &[0, 3, 4][..]), ("ba", &[1, 2]), ("ax", &[]), ("c", &[5])] {
            vocabulary.cut(&format!("{word} {word}"), 512, &mut ids);
            assert_eq!(ids, [expected, expected].concat(), "{word} in round {round}");
        }
        for n in 0..SPLIT_WORDS_MAX {
            vocabulary.cut(&format!("x{n}"), 512, &mut ids);
            assert!(ids.is_empty());
        }
    }
    let scratches = vocabulary.scratches.lock().unwrap();
    assert_eq!(scratches.len(), 1);
    assert!(scratches[0].split.len() <= SPLIT_WORDS_MAX);
}

proptest::proptest! {
    #[test]
    fn any_text_is_cut(text in "\\PC{0,200}") {
        cut(&["a", "##a", "e", "é", "你"], &text);
    }
}
