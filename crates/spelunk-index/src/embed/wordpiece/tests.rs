use super::*;

fn cut(tokens: &[&str], text: &str) -> Vec<u32> {
    let (mut scratch, mut ids) = (String::new(), Vec::new());
    Vocabulary::of(tokens.iter().copied()).cut(text, 512, &mut scratch, &mut ids);
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
    let (mut scratch, mut ids) = (String::new(), Vec::new());
    vocabulary.cut(&"a ".repeat(10_000), 7, &mut scratch, &mut ids);
    assert_eq!(ids, [0; 7]);
}

proptest::proptest! {
    #[test]
    fn any_text_is_cut(text in "\\PC{0,200}") {
        cut(&["a", "##a", "e", "é", "你"], &text);
    }
}
