//! Suggestions: the known word that a misspelled one was probably meant to be.

/// Longer words get no suggestion, which bounds the work.
const WORD_CHARS_MAX: usize = 80;

/// The nearest of `known`, if it is close enough. On a tie, the first wins.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let n_chars = word.chars().count();
    if n_chars > WORD_CHARS_MAX {
        return None;
    }
    let edits_max = (n_chars / 3).clamp(1, 4);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// The edit distance: letters added, dropped, changed or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let mut edits = (last[column] + usize::from(letter != other))
                .min(last[column + 1] + 1)
                .min(current[column] + 1);
            let is_swap = row > 0 && column > 0 && letter == to[column - 1] && from[row - 1] == other;
            if is_swap {
                edits = edits.min(before_last[column - 1] + 1);
            }
            current.push(edits);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_counts_added_dropped_changed_and_swapped_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("turn_max", "turns_max"), 1);
        assert_eq!(distance("opnai", "openai"), 1);
        assert_eq!(distance("noen", "none"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_word_wins_and_a_far_one_is_no_suggestion() {
        assert_eq!(nearest("opnai", ["auto", "openai", "none"]), Some("openai"));
        assert_eq!(nearest("banana", ["auto", "openai", "none"]), None);
        assert_eq!(nearest("nne", ["one", "none"]), Some("one"));
        assert_eq!(nearest(&"x".repeat(81), ["x"]), None);
    }
}
