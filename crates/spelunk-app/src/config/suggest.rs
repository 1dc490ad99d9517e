//! Suggestions: the known word that a misspelled one was probably meant to be.

use spelunk_types::edit_distance;

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
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_wins_and_a_far_one_is_no_suggestion() {
        assert_eq!(nearest("opnai", ["auto", "openai", "none"]), Some("openai"));
        assert_eq!(nearest("banana", ["auto", "openai", "none"]), None);
        assert_eq!(nearest("nne", ["one", "none"]), Some("one"));
        assert_eq!(nearest(&"x".repeat(81), ["x"]), None);
    }
}
