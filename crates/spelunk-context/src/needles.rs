//! Finds where a text may contain one of many short byte strings, ignoring case: four bytes at a time are
//! looked up in a table, which costs the same for one string as for hundreds. The few words of a search are found by
//! wider instructions, many bytes at a time.

use aho_corasick::packed::{self, Searcher};

/// The table fits a second-level cache. A smaller one gives more false positives.
const INDEX_BITS: u32 = 18;
const TABLE_LEN: usize = 1 << INDEX_BITS;

/// Lowercases ASCII letters. It changes other bytes, too, which only adds false positives.
const FOLD: u32 = 0x2020_2020;

/// A table of how strings begin, with a label for each. It gives false positives, but misses none.
#[derive(Clone)]
pub(crate) struct Starts {
    /// 0 where no string begins.
    labels: Box<[u8; TABLE_LEN]>,
}

impl std::fmt::Debug for Starts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Starts").finish_non_exhaustive()
    }
}

impl Default for Starts {
    fn default() -> Self {
        Self { labels: vec![0; TABLE_LEN].try_into().expect("it has this length") }
    }
}

impl Starts {
    /// Visits the labels of a string of at least three bytes. After one of three, only bytes that `follows` accepts count.
    pub(crate) fn labels_of(
        &mut self,
        string: &[u8],
        follows: impl Fn(u8) -> bool,
        mut on_label: impl FnMut(&mut u8),
    ) {
        match *string {
            [a, b, c, d, ..] => on_label(&mut self.labels[index(u32::from_le_bytes([a, b, c, d]))]),
            [a, b, c] => {
                let ends = (0..=u8::MAX).filter(|&byte| follows(byte));
                ends.for_each(|any| on_label(&mut self.labels[index(u32::from_le_bytes([a, b, c, any]))]));
            }
            [] | [_] | [_, _] => debug_assert!(false, "a shorter string is nearly everywhere"),
        }
    }

    /// The first place from `from` on where a string may begin, and its label.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low four bytes are the place")]
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<(usize, u8)> {
        let mut rest = text.get(from..)?;
        // Four places at a time, without a branch for each.
        while let Some(&eight) = rest.first_chunk() {
            let word = u64::from_le_bytes(eight);
            let labels =
                [word, word >> 8, word >> 16, word >> 24].map(|gram| self.labels[index(gram as u32)]);
            if labels[0] | labels[1] | labels[2] | labels[3] != 0 {
                let at = labels.iter().position(|&label| label != 0)?;
                return Some((text.len() - rest.len() + at, labels[at]));
            }
            rest = &rest[4..];
        }
        while let Some(&gram) = rest.first_chunk() {
            let label = self.labels[index(u32::from_le_bytes(gram))];
            if label != 0 {
                return Some((text.len() - rest.len(), label));
            }
            rest = &rest[1..];
        }
        // A string of three bytes may be the end of the text.
        let &[a, b, c] = rest.last_chunk()?;
        let label = self.labels[index(u32::from_le_bytes([a, b, c, 0]))];
        (label != 0).then(|| (text.len() - 3, label))
    }
}

#[inline]
fn index(gram: u32) -> usize {
    ((gram | FOLD).wrapping_mul(0x9E37_79B1) >> (u32::BITS - INDEX_BITS)) as usize
}

/// The bytes by which words are found first, in all their forms: both cases, and with underscores.
const HEAD_BYTES: usize = 3;

/// Prefixes of words to find, ignoring case and underscores after the first letter.
#[derive(Debug, Clone)]
pub struct Needles {
    /// In lower case and without underscores.
    words: Vec<Box<[u8]>>,
    heads: Heads,
}

#[derive(Debug, Clone)]
enum Heads {
    Few(Searcher),
    /// Too many for the other, or the processor lacks its instructions.
    Many(Starts),
}

impl PartialEq for Needles {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Needles {}

impl Needles {
    /// `None` if one is shorter than three bytes: it would be nearly everywhere.
    pub fn of(words: Vec<Box<[u8]>>) -> Option<Self> {
        if words.iter().any(|word| word.len() < HEAD_BYTES) {
            return None;
        }
        let mut heads: Vec<[u8; HEAD_BYTES]> = words.iter().flat_map(|word| heads_of(word)).collect();
        heads.sort_unstable();
        heads.dedup();
        let searcher = packed::Config::new().heuristic_pattern_limits(false).builder().extend(&heads).build();
        let heads = searcher.map_or_else(|| Heads::Many(starts_of(&heads)), Heads::Few);
        Some(Self { words, heads })
    }

    /// The first place from `from` on where a word begins.
    pub fn find(&self, text: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let at = match &self.heads {
                Heads::Few(searcher) => searcher.find_in(text, (from..text.len()).into())?.start(),
                Heads::Many(starts) => starts.find(text, from)?.0,
            };
            if self.begin_at(text, at) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    fn begin_at(&self, text: &[u8], at: usize) -> bool {
        self.words.iter().any(|word| {
            let mut letters = text[at..].iter().filter(|&&byte| byte != b'_');
            word.iter().all(|letter| letters.next().is_some_and(|byte| byte.eq_ignore_ascii_case(letter)))
        })
    }
}

/// How a word may begin: each letter in both cases, and underscores after the first.
fn heads_of(word: &[u8]) -> Vec<[u8; HEAD_BYTES]> {
    let forms = [[0, 1, 2], [0, 1, 3], [0, 3, 1], [0, 3, 3]].map(|places: [usize; HEAD_BYTES]| {
        places.map(|place| if place == HEAD_BYTES { b'_' } else { word[place] })
    });
    let cases = (0_u8..1 << HEAD_BYTES).flat_map(|upper| {
        forms.map(|form| {
            let mut bits = (0..HEAD_BYTES).map(|place| upper >> place & 1 == 1);
            form.map(|byte| if bits.next() == Some(true) { byte.to_ascii_uppercase() } else { byte })
        })
    });
    cases.collect()
}

fn starts_of(heads: &[[u8; HEAD_BYTES]]) -> Starts {
    let mut starts = Starts::default();
    for head in heads {
        starts.labels_of(head, |_| true, |label| *label = 1);
    }
    starts
}

#[cfg(test)]
mod tests;
