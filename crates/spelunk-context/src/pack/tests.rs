use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn part<'t>(text: &'t str, span: &Span) -> &'t str {
    text.get(usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()).unwrap()
}

/// Packs a text with inline boundaries: `|` is a section, `;` an item, `,` a sentence before the next byte.
fn check(marked: &str, bytes_max: u64, expected: &Expect) {
    let mut text = String::new();
    let mut boundaries = Vec::new();
    for c in marked.chars() {
        let strength = match c {
            '|' => Strength::Section,
            ';' => Strength::Item,
            ',' => Strength::Sentence,
            _ => {
                text.push(c);
                continue;
            }
        };
        boundaries.push(Boundary { at: text.len() as u64, strength });
    }
    let spans = pack(&text, &boundaries, bytes_max);
    let pieces: Vec<&str> = spans.iter().map(|span| part(&text, span)).collect();
    expected.assert_eq(&format!("{pieces:?}"));
}

#[test]
fn an_empty_text_has_no_spans() {
    check("", 10, &expect!["[]"]);
}

#[test]
fn a_text_that_fits_is_not_cut() {
    check("ab|cd", 4, &expect![[r#"["abcd"]"#]]);
}

#[test]
fn the_strongest_boundary_in_the_second_half_wins() {
    check("aaaaaa|bb;cc,dd", 10, &expect![[r#"["aaaaaa", "bbccdd"]"#]]);
}

#[test]
fn of_two_equal_boundaries_the_later_wins() {
    check("aaaaaa;bb;ccccccc", 10, &expect![[r#"["aaaaaabb", "ccccccc"]"#]]);
}

#[test]
fn a_strong_boundary_in_the_first_half_beats_a_weak_one_in_the_second() {
    check("aaa|bbbbb,ccccc", 10, &expect![[r#"["aaa", "bbbbbccccc"]"#]]);
}

#[test]
fn a_strong_boundary_that_is_too_near_does_not() {
    check("a|bbbbbbbbb,ccccccccccccccc", 16, &expect![[r#"["abbbbbbbbb", "ccccccccccccccc"]"#]]);
}

#[test]
fn a_text_without_boundaries_is_cut_at_blanks_and_else_between_characters() {
    check(
        "aaaaaaa bbbb cccccccccccccccccc",
        10,
        &expect![[r#"["aaaaaaa ", "bbbb ccccc", "cccccccccc", "ccc"]"#]],
    );
    check("ééééé", 3, &expect![[r#"["é", "é", "é", "é", "é"]"#]]);
}

#[test]
fn a_character_longer_than_a_span_is_a_span() {
    check("a😀b", 1, &expect![[r#"["a", "😀", "b"]"#]]);
    check("ab", 0, &expect![[r#"["a", "b"]"#]]);
}

#[test]
fn exactly_n_units_are_grouped_and_one_too_large_is_cut_inside() {
    let text = "a\nb\nc\nddddddddddddd\ne\n";
    let marks = memchr::memchr_iter(b'\n', text.as_bytes());
    let marks = marks.zip(1..).map(|(at, units)| Mark { at: at + 1, strength: Strength::Item, units });
    let cuts = group(text, marks, &SpanSizes::exactly(2, 8));
    let cuts: Vec<_> = cuts.iter().map(|cut| (cut.at, cut.units)).collect();
    assert_eq!(cuts, [(4, 2), (6, 1), (14, 0), (22, 2)]);
}

fn boundaries() -> impl Strategy<Value = Vec<Boundary>> {
    use Strength::{Item, Paragraph, Section, Sentence, Word};
    let strength = prop::sample::select(vec![Word, Sentence, Paragraph, Item, Section]);
    let boundary = (0_u64..400, strength).prop_map(|(at, strength)| Boundary { at, strength });
    // Sometimes unsorted: such boundaries come from a splitter with a bug, and must do no harm.
    (prop::collection::vec(boundary, 0..40), prop::bool::weighted(0.9)).prop_map(
        |(mut boundaries, is_sorted)| {
            if is_sorted {
                boundaries.sort_by_key(|boundary| boundary.at);
            }
            boundaries
        },
    )
}

proptest! {
    #[test]
    fn spans_cover_the_text_in_order_within_size_and_between_characters(
        text in "(?s)[a-c \n😀é]{0,120}",
        boundaries in boundaries(),
        bytes_max in 0_u64..60,
    ) {
        let spans = pack(&text, &boundaries, bytes_max);
        let mut covered = String::new();
        for span in &spans {
            let piece = part(&text, span);
            prop_assert_eq!(span.start, covered.len() as u64);
            prop_assert!(!piece.is_empty());
            prop_assert!(piece.len() as u64 <= bytes_max || piece.chars().count() == 1);
            covered.push_str(piece);
        }
        prop_assert_eq!(covered, text);
    }

    #[test]
    fn two_spans_never_fit_into_one_unless_a_boundary_kept_them_apart(
        text in "[a-c ]{0,200}",
        bytes_max in 1_u64..40,
    ) {
        let spans = pack(&text, &[], bytes_max);
        for pair in spans.windows(2) {
            prop_assert!(pair[1].end - pair[0].start > bytes_max);
        }
    }

    #[test]
    fn groups_hold_no_more_units_than_they_may(
        text in "(?s)[ab\n]{0,300}",
        units in 1_u64..20,
        bytes_max in 1_usize..100,
    ) {
        let ends = || memchr::memchr_iter(b'\n', text.as_bytes());
        let marks = ends().zip(1..).map(|(at, units)| Mark { at: at + 1, strength: Strength::Item, units });
        let room = SpanSizes::around(units, bytes_max);
        let cuts = group(&text, marks, &room);
        prop_assert!(cuts.iter().all(|cut| cut.units <= room.units_max));
        prop_assert_eq!(cuts.iter().map(|cut| cut.units).sum::<u64>(), ends().count() as u64);
        prop_assert_eq!(cuts.last().map_or(0, |cut| cut.at), text.len());
    }
}
