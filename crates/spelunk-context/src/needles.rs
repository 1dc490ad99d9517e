//! Finds where a text may contain one of many short byte strings, in any case: the four bytes at each place are looked up
//! in a table, which costs the same for one string as for hundreds. A scan looks for the words of a search like that,
//! in the same pass as for secrets, so that documents without any need not be read again.

const INDEX_BITS: u32 = 16;
const TABLE_LEN: usize = 1 << INDEX_BITS;

/// Makes ASCII letters lower case. It changes other bytes, too, so that more than letters may look the same.
const FOLD: u32 = 0x2020_2020;

/// How strings begin. It may report a place where none does, and misses none.
#[derive(Clone)]
pub(crate) struct Starts {
    table: Box<[bool; TABLE_LEN]>,
}

impl std::fmt::Debug for Starts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Starts").finish_non_exhaustive()
    }
}

impl Default for Starts {
    fn default() -> Self {
        Self { table: Box::new([false; TABLE_LEN]) }
    }
}

impl Starts {
    /// Adds a string of at least three bytes.
    pub(crate) fn add(&mut self, string: &[u8]) {
        match *string {
            [a, b, c, d, ..] => self.table[index([a, b, c, d])] = true,
            [a, b, c] => (0..=u8::MAX).for_each(|any| self.table[index([a, b, c, any])] = true),
            [] | [_] | [_, _] => debug_assert!(false, "a shorter string is nearly everywhere"),
        }
    }

    /// Adds all of another table.
    pub(crate) fn join(&mut self, other: &Self) {
        for (is_start, also) in self.table.iter_mut().zip(&*other.table) {
            *is_start |= also;
        }
    }

    /// The first place from `from` on where a string may begin.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let is_start = |gram: &[u8]| gram.try_into().is_ok_and(|gram| self.table[index(gram)]);
        if let Some(at) = rest.windows(4).position(is_start) {
            return Some(from + at);
        }
        // A string of three bytes may be the end of the text.
        let &[a, b, c] = rest.last_chunk()?;
        self.table[index([a, b, c, 0])].then(|| text.len() - 3)
    }
}

#[inline]
fn index(gram: [u8; 4]) -> usize {
    let folded = u32::from_le_bytes(gram) | FOLD;
    (folded.wrapping_mul(0x9E37_79B1) >> (u32::BITS - INDEX_BITS)) as usize
}

/// The beginnings of words to find, in any case and with any underscores after the first letter.
#[derive(Debug, Clone)]
pub struct Needles {
    /// In lower case and without underscores.
    words: Vec<Box<[u8]>>,
    starts: Starts,
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
        let mut starts = Starts::default();
        for word in &words {
            if word.len() < 3 {
                return None;
            }
            // Each bit says whether the next byte is an underscore.
            for underscores in 0_u8..8 {
                let mut letters = word.iter().copied();
                let mut gram: Vec<u8> = letters.by_ref().take(1).collect();
                let next = |n: u8| if underscores >> n & 1 == 1 { Some(b'_') } else { letters.next() };
                gram.extend((0..3).map_while(next));
                starts.add(&gram);
            }
        }
        Some(Self { words, starts })
    }

    /// The first place from `from` on where a word begins.
    pub fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = self.starts.find(text, from)?;
        while !self.begin_at(text, at) {
            at = self.starts.find(text, at + 1)?;
        }
        Some(at)
    }

    pub(crate) fn begin_at(&self, text: &[u8], at: usize) -> bool {
        self.words.iter().any(|word| {
            let mut letters = text[at..].iter().filter(|&&byte| byte != b'_');
            word.iter().all(|letter| letters.next().is_some_and(|byte| byte.eq_ignore_ascii_case(letter)))
        })
    }

    pub(crate) fn starts(&self) -> &Starts {
        &self.starts
    }
}

#[cfg(test)]
mod tests;
