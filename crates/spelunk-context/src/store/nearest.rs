//! Ids similar to one that does not exist, for its error message.

use spelunk_types::edit_distance;

use crate::store::ContextId;

const SHOWN_MAX: usize = 3;
/// Longer ids are compared by their beginning.
const COMPARED_CHARS_MAX: usize = 64;

/// The most similar ids, closest first; empty if none is close.
pub(super) fn nearest(wanted: &str, ids: &[ContextId]) -> Vec<String> {
    let wanted = folded(wanted);
    if wanted.is_empty() {
        return Vec::new();
    }
    let n_chars = wanted.chars().count();
    let mut scored: Vec<(usize, &str)> = Vec::new();
    for id in ids {
        let folded_id = folded(id.as_str());
        let distance = edit_distance(&wanted, &folded_id);
        let is_part = n_chars >= 3 && folded_id.contains(&wanted);
        let is_near = distance <= (n_chars / 3).max(1) && distance < n_chars;
        if is_part || is_near {
            scored.push((if is_near { distance } else { COMPARED_CHARS_MAX + distance }, id.as_str()));
        }
    }
    scored.sort_unstable();
    scored.into_iter().take(SHOWN_MAX).map(|(_, id)| id.to_owned()).collect()
}

fn folded(id: &str) -> String {
    id.chars().take(COMPARED_CHARS_MAX).flat_map(char::to_lowercase).collect()
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
        assert_eq!(nearest("identity:porfile", &ids), ["identity:profile"]);
        assert_eq!(nearest("zebra", &ids), <[&str; 0]>::default());
        assert_eq!(nearest("", &ids), <[&str; 0]>::default());
    }
}
