use super::*;

/// The line of a match, its words with their counts, and the pairs.
type Row = (u64, Vec<(usize, u8)>, Vec<usize>);

fn rows(question: &str, name: &str, text: &str) -> Vec<Row> {
    let tally = Tally::of(&Question::of(question), name, text, 1, NonZeroUsize::MIN);
    let row = |found: &Match| {
        (found.piece.line_start, tally.counts(found).collect(), found.pairs.iter().collect::<Vec<_>>())
    };
    tally.matches.iter().map(row).collect()
}

#[test]
fn a_tally_counts_the_words_of_each_passage_that_has_any() {
    let text = "nothing\nretry cache to retrying\ncache retry\n";
    assert_eq!(
        rows("cache retry", "a", text),
        [(2, vec![(0, 1), (1, 2)], vec![]), (3, vec![(0, 1), (1, 1)], vec![1])]
    );
}

#[test]
fn the_start_of_a_document_whose_name_matches_is_a_match() {
    assert_eq!(rows("readme", "docs/README.md", "one\ntwo\n"), [(1, vec![], vec![])]);
    assert_eq!(rows("readme", "docs/other.md", "one\ntwo\n"), []);
}

#[test]
fn counts_stop_at_255() {
    assert_eq!(rows("x", "a", &"x ".repeat(999)), [(1, vec![(0, 255)], vec![])]);
}

#[test]
fn a_set_of_words_gives_them_back_in_order() {
    let mut words = WordSet::default();
    for word_idx in [63, 0, 7] {
        words.insert(word_idx);
    }
    assert_eq!((words.len(), words.iter().collect::<Vec<_>>()), (3, vec![0, 7, 63]));
    assert_eq!(WordSet::default().iter().next(), None);
}

#[test]
fn segments_end_with_lines_and_leave_nothing_out() {
    assert_eq!(segments("", 3), [""]);
    assert_eq!(segments("abc", 3), ["abc"]);
    assert_eq!(segments("ab\ncdefg\nh", 3), ["ab\ncdefg\n", "h"]);
    assert_eq!(segments("a\nb\nc\nd\n", 3), ["a\nb\n", "c\nd\n", ""]);
    assert_eq!(segments("abcdefgh", 3), ["abcdefgh"]);
    assert_eq!(segments("ééé\né\nx", 3), ["ééé\n", "é\nx"]);
}

#[test]
fn a_long_text_is_tallied_the_same_on_any_number_of_threads() {
    let text = "one two three four five six\n\nneedle\n".repeat(SEGMENT_BYTES / 16);
    let on = |threads| {
        Tally::of(&Question::of("needle"), "needle.txt", &text, 12, NonZeroUsize::new(threads).unwrap())
    };
    let alone = on(1);
    assert_eq!((alone.bytes, alone.n_lines), (text.len() as u64, text.lines().count() as u64));
    let covered: usize = alone.matches.iter().map(|found| found.piece.span.len()).sum();
    assert_eq!(covered, text.len());
    for found in &alone.matches {
        let words = alone.counts(found).next();
        let n_needles = text.get(found.piece.span.clone()).unwrap().matches("needle").count();
        assert_eq!(words, Some((0, u8::try_from(n_needles).unwrap())));
    }
    assert_eq!(format!("{alone:?}"), format!("{:?}", on(3)));
}
