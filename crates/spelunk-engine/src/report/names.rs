//! References to findings in text written by a model: `[F3]` becomes the location of the finding. References to
//! unknown findings are removed and counted.

use super::MergedFinding;

/// The text with locations instead of references, the items referred to, and the number of unknown references.
pub(crate) fn expand_names(text: &str, items: &[MergedFinding]) -> (String, Vec<usize>, u64) {
    let (mut expanded, mut named, mut n_unknown) = (String::with_capacity(text.len()), Vec::new(), 0);
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        expanded.push_str(before);
        match names_in(from) {
            Some((numbers, len)) => {
                let known: Vec<usize> = numbers.iter().filter_map(|number| item_of(*number, items)).collect();
                n_unknown += (numbers.len() - known.len()) as u64;
                let places: Vec<String> =
                    known.iter().map(|&idx| items[idx].finding.location.to_string()).collect();
                if places.is_empty() {
                    // Remove the space before the reference, too.
                    expanded.truncate(expanded.trim_end_matches(' ').len());
                } else {
                    expanded.push_str(&format!("({})", places.join(", ")));
                }
                for idx in known {
                    if !named.contains(&idx) {
                        named.push(idx);
                    }
                }
                rest = from.get(len..).unwrap_or_default();
            }
            None => {
                expanded.push('[');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    expanded.push_str(rest);
    (expanded, named, n_unknown)
}

fn item_of(name: u64, items: &[MergedFinding]) -> Option<usize> {
    let idx = usize::try_from(name.checked_sub(1)?).ok()?;
    (idx < items.len()).then_some(idx)
}

/// Parses `[F3]` or `[F3, F4]` at the beginning of a text: the numbers, and the length.
fn names_in(text: &str) -> Option<(Vec<u64>, usize)> {
    let end = text.find(']')?;
    let inside = text.get(1..end)?;
    let names: Option<Vec<u64>> =
        inside.split(',').map(|name| name.trim().strip_prefix('F')?.parse().ok()).collect();
    names.filter(|names| !names.is_empty()).map(|names| (names, end + 1))
}
