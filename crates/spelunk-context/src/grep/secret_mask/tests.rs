//! Offsets in masked text, and adjacent secrets.
#![expect(clippy::single_range_in_vec_init, reason = "a line may have one secret")]

use super::*;
use crate::GrepQuery;

fn pattern(pattern: &str) -> Pattern {
    Pattern::compile(&GrepQuery::new(pattern)).unwrap()
}

#[test]
fn places_around_secrets_are_places_in_the_line() {
    let line = MaskedText::new(b"ab SECRET ab SECRET ab", &[3..9, 13..19]);
    assert_eq!(line.bytes, b"ab \xFF ab \xFF ab");
    assert_eq!(line.ranges(&pattern("ab"), 9), [0..2, 10..12, 20..22]);
    assert_eq!(line.ranges(&pattern("ab"), 2), [0..2, 10..12]);
    let firsts = [0, 1, 3, 8, 9, 10, 11, 19, 20, 21].map(|from| line.first(&pattern("ab"), from));
    let (second, third) = (Some(10..12), Some(20..22));
    let expected = [
        Some(0..2),
        second.clone(),
        second.clone(),
        second.clone(),
        second.clone(),
        second,
        third.clone(),
        third.clone(),
        third,
        None,
    ];
    assert_eq!(firsts, expected);
}

#[test]
fn a_match_ends_before_a_secret_and_one_with_a_veil_in_it_is_none() {
    let line = MaskedText::new(b"token = SECRET;", &[8..14]);
    assert_eq!(line.ranges(&pattern("token = .*"), 9), [0..8]);
    assert_eq!(line.ranges(&pattern("^.*$"), 9), <[Range<usize>; 0]>::default());
    assert_eq!(line.ranges(&pattern(r"token(?-u:.*)"), 9), <[Range<usize>; 0]>::default());
    assert_eq!(line.ranges(&pattern(r"(?-u:\xff)|;"), 9), [14..15]);
    assert_eq!(line.ranges(&pattern("secret"), 9), <[Range<usize>; 0]>::default());
}

#[test]
fn secrets_that_meet_are_one() {
    assert_eq!(united(vec![5..7, 0..2, 2..3, 1..2, 9..9]), [0..3, 5..7, 9..9]);
}
