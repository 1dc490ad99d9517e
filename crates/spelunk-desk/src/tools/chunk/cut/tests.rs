//! Pieces cover the text, advance, and have correct lines and bytes.

use proptest::prelude::*;
use spelunk_context::{Heading, headings};

use super::{ChunkBy, ChunkRange, ChunkRule};

/// All pieces, however many.
fn pieces(text: &str, cut: ChunkRule, headings: &[Heading]) -> Vec<ChunkRange> {
    super::pieces(text, cut, headings, usize::MAX).unwrap()
}

fn cut(text: &str, by: ChunkBy, size: u64, overlap: u64) -> Vec<String> {
    let found = if by == ChunkBy::Headings { headings(text) } else { Vec::new() };
    pieces(text, ChunkRule { by, size, overlap }, &found)
        .iter()
        .map(|piece| {
            let part = text.get(piece.start..piece.end).unwrap();
            format!("{}-{} {part:?}", piece.start_line, piece.end_line)
        })
        .collect()
}

#[test]
fn lines_are_shared_between_neighbours() {
    let text = "1\n2\n3\n4\n5\n6\n";
    assert_eq!(
        cut(text, ChunkBy::Lines, 3, 1),
        ["1-3 \"1\\n2\\n3\\n\"", "3-5 \"3\\n4\\n5\\n\"", "5-6 \"5\\n6\\n\""]
    );
    assert_eq!(cut("", ChunkBy::Lines, 3, 1), Vec::<String>::new());
    assert_eq!(cut("1", ChunkBy::Lines, 3, 1), ["1-1 \"1\""]);
}

#[test]
fn an_overlap_of_nearly_everything_still_goes_forward() {
    let text = "1\n2\n3\n4\n";
    assert_eq!(cut(text, ChunkBy::Lines, 3, 2), ["1-3 \"1\\n2\\n3\\n\"", "2-4 \"2\\n3\\n4\\n\""]);
}

#[test]
fn no_more_pieces_are_made_than_are_wanted() {
    let text = "1\n2\n3\n4\n";
    let cut = ChunkRule { by: ChunkBy::Lines, size: 1, overlap: 0 };
    assert_eq!(super::pieces(text, cut, &[], 4).map(|pieces| pieces.len()), Some(4));
    assert_eq!(super::pieces(text, cut, &[], 3), None);
    let text = "# a\n# b\n# c\n";
    let cut = ChunkRule { by: ChunkBy::Headings, size: 100, overlap: 0 };
    assert_eq!(super::pieces(text, cut, &headings(text), 2), None);
}

#[test]
fn bytes_are_bytes_and_not_characters() {
    let text = "éé\nüü\n";
    let found = pieces(text, ChunkRule { by: ChunkBy::Lines, size: 1, overlap: 0 }, &[]);
    let expected = [
        ChunkRange { start: 0, end: 5, start_line: 1, end_line: 1 },
        ChunkRange { start: 5, end: 10, start_line: 2, end_line: 2 },
    ];
    assert_eq!(found, expected);
}

#[test]
fn one_endless_line_is_cut() {
    let text = "word ".repeat(100);
    let found = pieces(&text, ChunkRule { by: ChunkBy::Tokens, size: 25, overlap: 0 }, &[]);
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|piece| (piece.start_line, piece.end_line) == (1, 1)));
    assert!(found.iter().all(|piece| text.get(piece.start..piece.end).unwrap().ends_with(' ')));
}

#[test]
fn paragraphs_keep_the_blank_lines_behind_them() {
    let text = "a\nb\n\n\nc\n\nd";
    assert_eq!(
        cut(text, ChunkBy::Paragraphs, 1, 0),
        ["1-4 \"a\\nb\\n\\n\\n\"", "5-6 \"c\\n\\n\"", "7-7 \"d\""]
    );
}

#[test]
fn sections_begin_at_headings_that_are_none_in_code() {
    let text = "intro\n# One\na\n```\n# not one\n```\n## Two\nb\n";
    let expected =
        ["1-1 \"intro\\n\"", "2-6 \"# One\\na\\n```\\n# not one\\n```\\n\"", "7-8 \"## Two\\nb\\n\""];
    assert_eq!(cut(text, ChunkBy::Headings, 100, 0), expected);
}

fn way() -> impl Strategy<Value = (ChunkBy, u64, u64)> {
    let by = prop_oneof![
        Just(ChunkBy::Tokens),
        Just(ChunkBy::Lines),
        Just(ChunkBy::Paragraphs),
        Just(ChunkBy::Headings)
    ];
    (by, 1_u64..30).prop_flat_map(|(by, size)| (Just(by), Just(size), 0..size))
}

proptest! {
    #[test]
    fn pieces_cover_the_text_and_know_where_they_are(
        text in "([a-zé日]{0,30}|# [a-z]{1,5}|```|\n|\n\n| |\r\n){0,60}",
        (by, size, overlap) in way(),
    ) {
        let found = if by == ChunkBy::Headings { headings(&text) } else { Vec::new() };
        let pieces = pieces(&text, ChunkRule { by, size, overlap }, &found);
        let mut covered = 0;
        let mut begun = None;
        for piece in &pieces {
            prop_assert!(piece.start <= covered && piece.end > covered, "{piece:?} after {covered}");
            prop_assert!(begun.is_none_or(|begun| piece.start > begun));
            let part = text.get(piece.start..piece.end);
            prop_assert!(part.is_some(), "cut through a character");
            let line = |at: usize| text.get(..at).map_or(0, |before| before.matches('\n').count() as u64) + 1;
            prop_assert_eq!(piece.start_line, line(piece.start));
            let last = text.floor_char_boundary(piece.end - 1);
            prop_assert_eq!(piece.end_line, line(last));
            if by == ChunkBy::Tokens {
                // A character may be longer than a piece.
                prop_assert!((piece.end - piece.start) as u64 <= (size * 4).max(4));
            }
            (covered, begun) = (piece.end, Some(piece.start));
        }
        prop_assert_eq!(covered, text.len());
    }
}
