//! Lines in the order of their bytes. Eight bytes are compared at a time, as one number, and lines that have these in
//! common are sorted again by the next eight behind what they all share: lines of a log begin alike.

use super::super::text::Span;

/// So few lines are compared from where they may differ to their ends.
const FEW: usize = 12;

/// The lines of a text in the order of their bytes. Lines that are equal are the same to everybody.
pub(super) fn by_bytes(bytes: &[u8], lines: Vec<Span>) -> Vec<Span> {
    let mut keyed: Vec<(u64, Span)> = lines.into_iter().map(|line| (0, line)).collect();
    // Groups that are not in order yet, and how many bytes their lines have in common.
    let mut groups = vec![(0, keyed.len(), 0)];
    while let Some((from, to, common)) = groups.pop() {
        let Some(group) = keyed.get_mut(from..to) else { continue };
        if group.len() <= FEW {
            group.sort_unstable_by(|(_, a), (_, b)| rest(a.of(bytes), common).cmp(rest(b.of(bytes), common)));
            continue;
        }
        let common = in_common(bytes, group, common);
        for (key, line) in group.iter_mut() {
            *key = head(line.of(bytes), common);
        }
        group.sort_unstable_by_key(|(key, line)| (*key, line.len().min(common + KEY_BYTES)));
        let mut start = from;
        for same in group.chunk_by(|(a_key, a), (b_key, b)| {
            a_key == b_key && a.len().min(common + KEY_BYTES) == b.len().min(common + KEY_BYTES)
        }) {
            let end = start + same.len();
            // Lines that end within the key are all the same.
            let goes_on = same.first().is_some_and(|(_, line)| line.len() >= common + KEY_BYTES);
            if goes_on && same.len() > 1 {
                groups.push((start, end, common + KEY_BYTES));
            }
            start = end;
        }
    }
    keyed.into_iter().map(|(_, line)| line).collect()
}

const KEY_BYTES: usize = 8;

/// How many bytes all lines of a group begin with in common, where some are known to be.
fn in_common(bytes: &[u8], group: &[(u64, Span)], known: usize) -> usize {
    let Some((_, first)) = group.first() else { return known };
    let mut shared = rest(first.of(bytes), known);
    for (_, line) in group {
        let line = rest(line.of(bytes), known);
        if !line.starts_with(shared) {
            let n_same = shared.iter().zip(line).take_while(|(a, b)| a == b).count();
            shared = shared.get(..n_same).unwrap_or_default();
        }
    }
    known + shared.len()
}

/// The eight bytes behind `from`, as a number that sorts like them. A line that ends there is filled with zeros: it sorts
/// before longer ones, or is told from them by its length.
pub(super) fn head(line: &[u8], from: usize) -> u64 {
    let rest = rest(line, from);
    if let Some(whole) = rest.first_chunk() {
        return u64::from_be_bytes(*whole);
    }
    let mut bytes = [0; KEY_BYTES];
    for (byte, &of_line) in bytes.iter_mut().zip(rest) {
        *byte = of_line;
    }
    u64::from_be_bytes(bytes)
}

fn rest(line: &[u8], from: usize) -> &[u8] {
    line.get(from..).unwrap_or_default()
}
