//! The words of a question, and how they are found in text. Stop words are ignored unless there is nothing else.

use std::ops::Range;

use spelunk_context::Needles;

use crate::stem::stem;
use crate::words::{Form, scan};

/// How many words of a question are searched; later ones are ignored.
pub(crate) const WORDS_MAX: usize = 64;

/// The longest part of a question that is used.
const QUESTION_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Question {
    words: Vec<Word>,
    /// For each pair of first bytes, whether a word begins with it: 65,536 bits.
    firsts: Box<[u64; 1024]>,
    /// Prefixes that cover every form of the words, if they are long enough and ASCII.
    pub(crate) needles: Option<Needles>,
}

/// The kelvin sign: the only non-ASCII letter whose lower case is ASCII.
const KELVIN: &str = "\u{212a}";

#[derive(Debug)]
struct Word {
    shown: String,
    stem: Box<[u8]>,
    /// The distance in the question from the previous word of this list; 0 if they were not in order.
    gap: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The index in the question's list of words; below `WORDS_MAX`.
    pub(crate) word_idx: usize,
    pub(crate) at: Range<usize>,
    pub(crate) ordinal: u64,
}

impl Question {
    pub(crate) fn of(question: &str) -> Self {
        let question = question.get(..question.floor_char_boundary(QUESTION_BYTES_MAX)).unwrap_or(question);
        let mut words = words_of(question, |word| !STOP_WORDS.contains(&word));
        if words.is_empty() {
            words = words_of(question, |_| true);
        }
        let mut firsts = Box::new([0_u64; 1024]);
        for word in &words {
            let idx = first_idx(word.stem[0], word.stem.get(1).copied().unwrap_or(0));
            firsts[idx / 64] |= 1 << (idx % 64);
        }
        let needles = needles_of(&words);
        Self { words, firsts, needles }
    }

    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn shown(&self, word_idx: usize) -> &str {
        &self.words[word_idx].shown
    }

    /// Whether two hits are adjacent in the text as the same two words are in the question.
    pub(crate) fn is_pair(&self, before: &Hit, hit: &Hit) -> bool {
        let gap = self.words[hit.word_idx].gap;
        gap > 0 && before.word_idx + 1 == hit.word_idx && before.ordinal + gap == hit.ordinal
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        let mut is_in = false;
        self.find(text, |_| is_in = true);
        is_in
    }

    /// The first offset from `from` on where a word may begin; no word begins before it.
    pub(crate) fn next_place(&self, text: &str, from: usize) -> Option<usize> {
        match &self.needles {
            Some(needles) => needles.find(text.as_bytes(), from),
            None => (from < text.len()).then_some(from),
        }
    }

    /// Calls back for every word of the question in the text, in order.
    #[inline]
    pub(crate) fn find(&self, text: &str, mut on_hit: impl FnMut(Hit)) {
        let wanted = |first, second| {
            let idx = first_idx(first, second);
            self.firsts[idx / 64] >> (idx % 64) & 1 == 1
        };
        scan(text, wanted, |token| {
            let n = stem(token.word);
            let stemmed = &token.word[..n];
            if let Some(word_idx) = self.words.iter().position(|word| *word.stem == *stemmed) {
                on_hit(Hit { word_idx, at: token.at, ordinal: token.ordinal });
            }
        });
    }
}

fn needles_of(words: &[Word]) -> Option<Needles> {
    let mut starts: Vec<Box<[u8]>> = vec![KELVIN.as_bytes().into()];
    for Word { stem, .. } in words {
        if !stem.is_ascii() {
            return None;
        }
        if let Some(start) = stem.strip_suffix(b"y") {
            // `retry` is also the stem of `retries`.
            starts.push([start, b"ie"].concat().into());
        }
        starts.push(stem.clone());
    }
    Needles::of(starts)
}

fn first_idx(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

fn words_of(question: &str, keep: impl Fn(&str) -> bool) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut last_ordinal = None;
    scan(
        question,
        |_, _| true,
        |token| {
            // A single character of a longer run would match nearly everywhere; its pairs are enough.
            if token.form == Form::Single || words.len() == WORDS_MAX {
                return;
            }
            let shown = String::from_utf8_lossy(token.word).into_owned();
            if !keep(&shown) {
                return;
            }
            let n = stem(token.word);
            let stem: Box<[u8]> = token.word[..n].into();
            if words.iter().any(|word| word.stem == stem) {
                last_ordinal = None;
                return;
            }
            let gap = match (token.form, last_ordinal) {
                (Form::Plain, Some(last)) => token.ordinal - last,
                (Form::Plain | Form::Joined | Form::Single, _) => 0,
            };
            last_ordinal = (token.form == Form::Plain).then_some(token.ordinal);
            words.push(Word { shown, stem, gap });
        },
    );
    words
}

/// English words that carry no information about the question.
pub(crate) const STOP_WORDS: [&str; 81] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "please", "s", "she",
    "should", "so", "some", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests;
