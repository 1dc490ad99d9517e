//! The order in which `for (k in a)` visits an array. Awk leaves it open; the interpreter follows GNU awk, so this does, too:
//! the same script must say the same whichever of the two runs it. Arrays whose order takes more to know are left to it.

use std::rc::Rc;

/// Whole numbers below this lie side by side in an array that began with one, and are visited in their order.
const SMALL: u32 = 2048;
/// How many lists a table of texts has, as it grows.
const SIZES: [u32; 9] = [13, 127, 1021, 8191, 16381, 32749, 65497, 131_101, 262_147];
/// The length of its lists, on average, at which it grows.
const LENGTH_MAX: usize = 2;

/// Where to find the keys in their order, given in the order they came to be.
pub(super) fn visited(keys: &[Rc<[u8]>]) -> Option<Vec<usize>> {
    let Some(first) = keys.first() else { return Some(Vec::new()) };
    let mut texts = Vec::new();
    let mut numbers = Vec::new();
    let begins_with_number = small(first)?.is_some();
    for (idx, key) in keys.iter().enumerate() {
        match small(key) {
            _ if !begins_with_number => texts.push(idx),
            Some(Some(n)) => numbers.push((n, idx)),
            Some(None) => texts.push(idx),
            None => return None,
        }
    }
    numbers.sort_unstable();
    let mut order = by_table(keys, &texts)?;
    order.extend(numbers.into_iter().map(|(_, idx)| idx));
    Some(order)
}

/// A key that is a small whole number as one writes it; nothing at all for other whole numbers.
#[expect(clippy::option_option, reason = "the outer one is the refusal")]
fn small(key: &[u8]) -> Option<Option<u32>> {
    let digits = key.strip_prefix(b"-").unwrap_or(key);
    let is_whole = match digits {
        [] => false,
        [b'0'] => digits.len() == key.len(),
        [first, ..] => *first != b'0' && digits.iter().all(u8::is_ascii_digit),
    };
    if !is_whole {
        return Some(None);
    }
    let n: u32 = std::str::from_utf8(key).ok()?.parse().ok()?;
    (n < SMALL).then_some(Some(n))
}

/// The order of a table of lists: the newest of a list stands first, and when the table grows all move in order.
fn by_table(keys: &[Rc<[u8]>], idxs: &[usize]) -> Option<Vec<usize>> {
    let mut sizes = SIZES.iter();
    let mut lists = empty(*sizes.next()?)?;
    for (n_before, &idx) in idxs.iter().enumerate() {
        if (n_before + 1) / lists.len() > LENGTH_MAX {
            let mut grown = empty(*sizes.next()?)?;
            for (hash, idx) in lists.iter().flat_map(|list| list.iter().rev()) {
                put(&mut grown, *hash, *idx)?;
            }
            lists = grown;
        }
        put(&mut lists, hash(keys.get(idx)?), idx)?;
    }
    Some(lists.iter().flat_map(|list| list.iter().rev()).map(|(_, idx)| *idx).collect())
}

type Lists = Vec<Vec<(u32, usize)>>;

fn empty(n_lists: u32) -> Option<Lists> {
    Some(vec![Vec::new(); usize::try_from(n_lists).ok()?])
}

fn put(lists: &mut Lists, hash: u32, idx: usize) -> Option<()> {
    let place = hash as usize % lists.len();
    // The end of ours is the beginning of theirs.
    lists.get_mut(place)?.push((hash, idx));
    Some(())
}

/// The sum that the sdbm library made popular. Keys are ASCII, so nobody asks whether a byte has a sign.
fn hash(key: &[u8]) -> u32 {
    key.iter().fold(0, |sum: u32, &byte| sum.wrapping_mul(65_599).wrapping_add(u32::from(byte)))
}
