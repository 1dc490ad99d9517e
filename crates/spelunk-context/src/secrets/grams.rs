//! A prefilter for lines: three letters of every keyword, in any case. An automaton must finish one byte before it can
//! examine the next; here every other pair of bytes is looked up independently, and three bytes only if the pair may be
//! part of a keyword. It passes a few lines too many and none too few.

/// Bits of the table for three letters. One position in a thousand passes by chance.
const GRAM_BITS: u32 = 18;

const FULL: &str = "a table has a bit for each place";

/// Letters from common to rare; everything else is rarer.
const COMMON: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";

/// Case is one bit of a letter. The effect on other bytes does not matter here.
const FOLD: u64 = 0x2020_2020_2020_2020;

pub(super) struct Grams {
    /// One bit per pair of bytes: the first two and the last two of each three.
    pairs: Box<[u64; 1 << (16 - 6)]>,
    threes: Box<[u64; 1 << (GRAM_BITS - 6)]>,
}

impl Grams {
    /// Every word has at least three letters. The rarest three of a longer one are used.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a [u8]>) -> Self {
        // Allocated on the heap: the stack of a thread may be too small for them.
        let zeroes = |bits: u32| vec![0; 1 << (bits - 6)].into_boxed_slice();
        let (pairs, threes) = (zeroes(16).try_into().expect(FULL), zeroes(GRAM_BITS).try_into().expect(FULL));
        let mut grams = Self { pairs, threes };
        let rarity = |byte: &u8| {
            let lower = byte.to_ascii_lowercase();
            COMMON.iter().position(|common| *common == lower).unwrap_or(COMMON.len())
        };
        for word in words {
            let rarest = word.windows(3).max_by_key(|three| three.iter().map(rarity).sum::<usize>());
            let three = rarest.expect("keywords are longer than two letters");
            let number = number(three);
            for (at, bit) in [pair(number), pair(number >> 8)] {
                grams.pairs[at] |= bit;
            }
            let (at, bit) = gram(number);
            grams.threes[at] |= bit;
        }
        grams
    }

    /// Whether one of the words may be in the text.
    pub(super) fn may_be_in(&self, text: &[u8]) -> bool {
        let (eights, rest) = text.as_chunks::<8>();
        for (idx, eight) in eights.iter().enumerate() {
            if self.is_near(text, 8 * idx, u64::from_le_bytes(*eight)) {
                return true;
            }
        }
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        self.is_near(text, 8 * eights.len(), u64::from_le_bytes(eight))
    }

    /// Whether one of the four pairs in `eight`, which begin at `from`, is part of the three letters of a word.
    #[inline]
    fn is_near(&self, text: &[u8], from: usize, eight: u64) -> bool {
        let folded = eight | FOLD;
        [0, 2, 4, 6].into_iter().any(|offset| {
            let (at, bit) = pair(folded >> (8 * offset));
            self.pairs[at] & bit != 0 && self.is_at(text, from, offset, folded)
        })
    }

    /// Whether the three letters of a word begin at this pair, or one byte before. Most of them are already loaded.
    #[cold]
    fn is_at(&self, text: &[u8], from: usize, offset: usize, folded: u64) -> bool {
        let far = |at: usize| text.get(at..at + 3).map(number);
        let here = if offset < 6 { Some(folded >> (8 * offset)) } else { far(from + offset) };
        let before = match offset {
            0 => from.checked_sub(1).and_then(far),
            _ => Some(folded >> (8 * (offset - 1))),
        };
        [here, before].into_iter().flatten().any(|number| {
            let (at, bit) = gram(number);
            self.threes[at] & bit != 0
        })
    }
}

/// Three bytes as a number, with case folded.
fn number(three: &[u8]) -> u64 {
    FOLD | three.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// The table position of the pair in the two low bytes of a number, with case folded.
fn pair(number: u64) -> (usize, u64) {
    let low = number & 0xFFFF;
    let at = (low >> 6) as usize;
    (at, 1 << (low & 63))
}

/// The table position of the three low bytes of a number, with case folded.
fn gram(number: u64) -> (usize, u64) {
    let three = (number & 0xFF_FFFF) as u32;
    let hash = three.wrapping_mul(0x9E37_79B1) >> (32 - GRAM_BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::rules::RULES;

    #[test]
    fn every_keyword_is_let_through_in_any_case_and_at_any_place() {
        let words: Vec<&str> = RULES.iter().flat_map(|rule| rule.keywords).copied().collect();
        let grams = Grams::of(words.iter().map(|word| word.as_bytes()));
        for word in words {
            for word in [word.to_owned(), word.to_lowercase(), word.to_uppercase()] {
                for n_before in 0..9 {
                    for behind in ["", ".", " and more behind it"] {
                        let text = format!("{}{word}{behind}", "~".repeat(n_before));
                        assert!(grams.may_be_in(text.as_bytes()), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn common_lines_are_not() {
        let grams = Grams::of(RULES.iter().flat_map(|rule| rule.keywords).map(|word| word.as_bytes()));
        let lines = [
            "",
            "ab",
            "2024-03-11T12:03:33Z PATCH /api/v2/items/4d2 user=barbara id=9e3779b97f4a7c15 status=200 took 731ms",
            "The quick brown fox jumps over the lazy dog, and so did we.",
            "    let mut found = Vec::with_capacity(lines.len());",
        ];
        assert_eq!(lines.map(|line| grams.may_be_in(line.as_bytes())), [false; 5]);
    }
}
