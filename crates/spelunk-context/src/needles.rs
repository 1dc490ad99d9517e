//! Finds where a text may contain one of many short byte strings, ignoring case: four bytes at a time are
//! looked up in a table, which costs the same for one string as for hundreds. A scan looks for the words of a
//! search in the same pass as for secrets, so that documents without any need not be read again.

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
    /// Visits the labels of a string of at least three bytes.
    pub(crate) fn labels_of(&mut self, string: &[u8], mut on_label: impl FnMut(&mut u8)) {
        match *string {
            [a, b, c, d, ..] => on_label(&mut self.labels[index([a, b, c, d])]),
            [a, b, c] => {
                (0..=u8::MAX).for_each(|any| on_label(&mut self.labels[index([a, b, c, any])]));
            }
            [] | [_] | [_, _] => debug_assert!(false, "a shorter string is nearly everywhere"),
        }
    }

    /// Adds the labels of another table; existing labels stay.
    pub(crate) fn join(&mut self, other: &Self) {
        for (label, also) in self.labels.iter_mut().zip(&*other.labels) {
            *label = if *label == 0 { *also } else { *label };
        }
    }

    /// The first place from `from` on where a string may begin, and its label.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<(usize, u8)> {
        let rest = text.get(from..)?;
        let label = |gram: &[u8]| gram.try_into().map_or(0, |gram| self.labels[index(gram)]);
        if let Some(at) = rest.windows(4).position(|gram| label(gram) != 0) {
            return Some((from + at, label(&rest[at..at + 4])));
        }
        // A string of three bytes may be the end of the text.
        let &[a, b, c] = rest.last_chunk()?;
        let label = self.labels[index([a, b, c, 0])];
        (label != 0).then(|| (text.len() - 3, label))
    }
}

#[inline]
fn index(gram: [u8; 4]) -> usize {
    let folded = u32::from_le_bytes(gram) | FOLD;
    (folded.wrapping_mul(0x9E37_79B1) >> (u32::BITS - INDEX_BITS)) as usize
}

/// The label of all words of a search.
const SOUGHT: u8 = u8::MAX;

/// Prefixes of words to find, ignoring case and underscores after the first letter.
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
                starts.labels_of(&gram, |label| *label = SOUGHT);
            }
        }
        Some(Self { words, starts })
    }

    /// The first place from `from` on where a word begins.
    pub fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let (mut at, _) = self.starts.find(text, from)?;
        while !self.begin_at(text, at) {
            (at, _) = self.starts.find(text, at + 1)?;
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
