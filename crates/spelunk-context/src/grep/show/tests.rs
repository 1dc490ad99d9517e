//! Lines truncated around their first match.
#![expect(clippy::single_range_in_vec_init, reason = "a line may have one match")]

use super::cut_around;

#[test]
fn a_short_line_is_shown_as_it_is() {
    assert_eq!(cut_around("\tabc ", vec![1..2]), ("\tabc ".into(), vec![1..2]));
}

#[test]
fn a_long_line_is_cut_around_its_first_match() {
    let line = format!("{}needle{}needle", "ä".repeat(1000), "b".repeat(1000));
    let (text, ranges) = cut_around(&line, vec![2000..2006, 3006..3012]);
    assert_eq!(text, format!("…{}needle{}…", "ä".repeat(50), "b".repeat(394)));
    assert_eq!(ranges, [103..109]);
    assert_eq!(text.get(103..109), Some("needle"));
}

#[test]
fn a_long_line_that_matches_early_is_shown_from_its_beginning() {
    let line = format!("  x{}", "b".repeat(1000));
    assert_eq!(cut_around(&line, vec![2..3]), (format!("  x{}…", "b".repeat(497)), vec![2..3]));
    assert_eq!(cut_around(&line, vec![2..900]).1, [2..500]);
}
