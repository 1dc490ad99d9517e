use super::*;

#[test]
fn text_behind_the_last_newline_is_a_line() {
    assert_eq!(["", "a", "a\n", "a\nb", "\n\n", "a\r\nb\r\n"].map(count_lines), [0, 1, 1, 2, 2, 2]);
    assert_eq!(line_ends("a\n\nbc").collect::<Vec<_>>(), [2, 3, 5]);
}

#[test]
fn marks_stand_before_lines_and_at_the_end() {
    let judge = |rest: &[u8], bytes: usize| {
        if is_blank(&rest[..bytes]) { Strength::Paragraph } else { Strength::Word }
    };
    let marks: Vec<_> =
        line_marks("a\n\nb", judge).map(|mark| (mark.at, mark.strength, mark.units)).collect();
    assert_eq!(marks, [(2, Strength::Paragraph, 1), (3, Strength::Word, 2), (4, Strength::Section, 3)]);
}
