//! Ids similar to one that does not exist, for its error message.

use crate::store::ContextId;

/// How many are listed.
const SHOWN_MAX: usize = 3;
/// Longer ids are compared by their beginning.
const COMPARED_CHARS_MAX: usize = 64;

/// The most similar ids, closest first; empty if none is close.
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

/// The number of typing errors between two ids: an inserted, deleted or replaced letter, or two swapped ones (the
/// optimal string alignment distance).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (a_idx, a_char) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(a_idx + 1);
        for (b_idx, b_char) in b.iter().enumerate() {
            let substituted = last[b_idx] + usize::from(a_char != b_char);
            let mut slips = substituted.min(row[b_idx] + 1).min(last[b_idx + 1] + 1);
            if a_idx > 0 && b_idx > 0 && *a_char == b[b_idx - 1] && a[a_idx - 1] == *b_char {
                slips = slips.min(before[b_idx - 1] + 1);
            }
            row.push(slips);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let slips = |a: &str, b: &str| distance(&chars(a), &chars(b));
        assert_eq!([slips("guide", "guide"), slips("giude", "guide"), slips("ugide", "guide")], [0, 1, 1]);
        assert_eq!([slips("guid", "guide"), slips("guuide", "guide"), slips("guyde", "guide")], [1, 1, 1]);
        assert_eq!(
            [slips("", "abc"), slips("abc", ""), slips("ca", "abc"), slips("giudes", "guide")],
            [3, 3, 3, 2]
        );
    }

    #[test]
    fn the_nearest_ids_are_named_and_no_others() {
        let ids = ["identity:profile", "identity:preferences", "temporal:calendar"]
            .map(|id| ContextId::new(id).unwrap());
        assert_eq!(nearest("identity:profil", &ids), ["identity:profile"]);
        assert_eq!(nearest("calendar", &ids), ["temporal:calendar"]);
        assert_eq!(nearest("Identity:Profile", &ids), ["identity:profile"]);
        assert_eq!(nearest("identity:porfile", &ids), ["identity:profile"]);
        assert_eq!(nearest("zebra", &ids), <[&str; 0]>::default());
        assert_eq!(nearest("", &ids), <[&str; 0]>::default());
    }
}
