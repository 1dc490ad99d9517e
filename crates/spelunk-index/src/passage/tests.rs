use proptest::prelude::*;

use super::*;

/// `first-last` of every piece.
#[track_caller]
fn check(text: &str, lines_wanted: u64, expected: &str) {
    let shown: Vec<String> =
        pieces(text, lines_wanted).map(|piece| format!("{}-{}", piece.line_start, piece.line_end)).collect();
    assert_eq!(shown.join(" "), expected);
}

#[test]
fn plain_lines_are_cut_a_third_past_the_target() {
    check(&"x\n".repeat(40), 12, "1-16 17-32 33-40");
    check("x", 12, "1-1");
    check("", 12, "");
    check("x\ny", 0, "1-1 2-2");
    check("x\r\n\r\ny\r\n", 1, "1-1 2-2 3-3");
}

#[test]
fn a_blank_line_near_the_target_is_preferred() {
    let text = format!("{}\n{}", "x\n".repeat(9), "y\n".repeat(20));
    check(&text, 12, "1-10 11-26 27-30");
    let early = format!("{}\n{}", "x\n".repeat(3), "y\n".repeat(20));
    check(&early, 12, "1-16 17-24");
    let blanks = format!("{}{}y\n", "x\n".repeat(8), "\n".repeat(3));
    check(&blanks, 12, "1-11 12-12");
}

#[test]
fn a_heading_begins_a_piece() {
    let text = format!("# A\n{}## B\n{}#tag\nx\n", "x\n".repeat(4), "y\n".repeat(4));
    check(&text, 12, "1-5 6-12");
    check("# A\n# B\nx\n", 12, "1-3");
}

#[test]
fn a_long_line_is_cut_on_character_boundaries_and_keeps_its_number() {
    let text = format!("a\n{}\nb\n", "é".repeat(2500));
    let spans: Vec<_> =
        pieces(&text, 12).map(|piece| (piece.line_start, piece.line_end, piece.span)).collect();
    assert_eq!(spans, [(1, 1, 0..2), (2, 2, 2..2002), (2, 2, 2002..4002), (2, 3, 4002..5005)]);
}

#[test]
fn long_lines_end_a_piece_early() {
    let text = format!("{}\n", "x".repeat(1500)).repeat(5);
    check(&text, 12, "1-2 3-4 5-5");
}

proptest! {
    #[test]
    fn pieces_cover_every_line_once_and_in_order(
        text in "([ab# é]{0,8}\r?\n){0,60}[ab]{0,3}",
        lines_wanted in 0_u64..20,
    ) {
        let (mut at, mut line) = (0, 1);
        for piece in pieces(&text, lines_wanted) {
            prop_assert_eq!((piece.span.start, piece.line_start), (at, line));
            prop_assert!(piece.span.end > at);
            let n_lines = text.get(piece.span.clone()).unwrap().lines().count() as u64;
            prop_assert_eq!(piece.line_end, piece.line_start + n_lines - 1);
            (at, line) = (piece.span.end, piece.line_end + 1);
        }
        prop_assert_eq!((at, line), (text.len(), text.lines().count() as u64 + 1));
    }

    #[test]
    fn pieces_of_lines_of_any_length_cover_every_byte(
        lengths in proptest::collection::vec(0_usize..5000, 0..6),
        lines_wanted in 1_u64..4,
    ) {
        let text: String = lengths.iter().map(|&n| "é".repeat(n) + "\n").collect();
        let mut at = 0;
        for piece in pieces(&text, lines_wanted) {
            prop_assert_eq!(piece.span.start, at);
            prop_assert!(piece.span.len() <= PIECE_BYTES_MAX && text.get(piece.span.clone()).is_some());
            let n_lines_before = text.get(..at).unwrap().matches('\n').count() as u64;
            prop_assert_eq!(piece.line_start, n_lines_before + 1);
            at = piece.span.end;
        }
        prop_assert_eq!(at, text.len());
    }
}

#[test]
fn white_space_makes_no_other_text() {
    assert_eq!(fingerprint("a  b\n\tc "), fingerprint("a b c"));
    assert_ne!(fingerprint("ab c"), fingerprint("a bc"));
    assert_eq!(fingerprint("kept on disk"), 5_861_122_863_333_179_493);
}

#[test]
fn a_fingerprint_does_not_see_whitespace() {
    assert_eq!(fingerprint("a  b\r\n"), fingerprint("\ta\nb"));
    assert_ne!(fingerprint("a b"), fingerprint("ab"));
    assert_ne!(fingerprint("a b"), fingerprint("A b"));
}
