//! The distance between two words, for suggestions: which known word a misspelled one was meant to be.

/// The edit distance: letters added, dropped, changed or swapped with their neighbour.
pub fn edit_distance(from: &str, to: &str) -> usize {
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
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", ""), 3);
        assert_eq!(edit_distance("turn_max", "turns_max"), 1);
        assert_eq!(edit_distance("opnai", "openai"), 1);
        assert_eq!(edit_distance("noen", "none"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("ca", "abc"), 3);
        assert_eq!(edit_distance("giudes", "guide"), 2);
    }
}
