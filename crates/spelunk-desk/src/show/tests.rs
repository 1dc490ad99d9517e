//! Long texts keep both ends.

use super::{bounded, on_one_line};

#[test]
fn a_short_text_is_left_alone() {
    assert_eq!(bounded("a\nb\n", 4, "look"), "a\nb\n");
}

#[test]
fn the_head_and_the_tail_are_kept_and_the_rest_is_counted() {
    let text: String = (0..100).fold(String::new(), |all, n| all + &format!("line {n:02}\n"));
    let expected = "line 00\nline 01\nline 02\nline 03\nline 04\n[… 93 lines, 744 bytes omitted; look …]\nline 98\nline 99\n";
    assert_eq!(bounded(&text, 63, "look"), expected);
}

#[test]
fn one_endless_line_is_cut_between_characters() {
    let text = "é".repeat(1000);
    let cut = bounded(&text, 101, "look");
    assert_eq!(
        cut,
        format!("{}\n[… 0 lines, 1900 bytes omitted; look …]\n{}", "é".repeat(33), "é".repeat(17))
    );
}

#[test]
fn texts_in_messages_are_short_and_on_one_line() {
    assert_eq!(on_one_line("añb", 2), "añ…");
    assert_eq!(on_one_line("a\nb", 10), "a\\nb");
}
