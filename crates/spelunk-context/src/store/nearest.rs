//! Ids that are near to one that does not exist, for the error that says so.

use crate::store::ContextId;

/// How many are named.
const SHOWN_MAX: usize = 3;
/// An id that nobody would type is compared by its beginning.
const COMPARED_CHARS_MAX: usize = 64;

/// The nearest ids, nearest first; none if none is near.
pub(super) fn nearest(wanted: &str, ids: &[ContextId]) -> Vec<String> {
    let wanted = folded(wanted);
    if wanted.is_empty() {
        return Vec::new();
    }
    let text: String = wanted.iter().collect();
    let mut scored: Vec<(usize, &str)> = Vec::new();
    for id in ids {
        let folded_id = folded(id.as_str());
        let distance = distance(&wanted, &folded_id);
        let is_part = wanted.len() >= 3 && folded_id.iter().collect::<String>().contains(&text);
        let is_near = distance <= (wanted.len() / 3).max(1) && distance < wanted.len();
        if is_part || is_near {
            scored.push((if is_near { distance } else { COMPARED_CHARS_MAX + distance }, id.as_str()));
        }
    }
    scored.sort_unstable();
    scored.into_iter().take(SHOWN_MAX).map(|(_, id)| id.to_owned()).collect()
}

fn folded(id: &str) -> Vec<char> {
    id.chars().take(COMPARED_CHARS_MAX).flat_map(char::to_lowercase).collect()
}

/// Levenshtein's distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (a_idx, a_char) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = a_idx + 1;
        for (b_idx, b_char) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a_char != b_char);
            diagonal = row[b_idx + 1];
            row[b_idx + 1] = substituted.min(row[b_idx] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_ids_are_named_and_no_others() {
        let ids = ["identity:profile", "identity:preferences", "temporal:calendar"]
            .map(|id| ContextId::new(id).unwrap());
        assert_eq!(nearest("identity:profil", &ids), ["identity:profile"]);
        assert_eq!(nearest("calendar", &ids), ["temporal:calendar"]);
        assert_eq!(nearest("Identity:Profile", &ids), ["identity:profile"]);
        assert_eq!(nearest("zebra", &ids), <[&str; 0]>::default());
        assert_eq!(nearest("", &ids), <[&str; 0]>::default());
    }
}
