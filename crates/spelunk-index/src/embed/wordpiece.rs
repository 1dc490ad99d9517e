//! `WordPiece` tokenization as in BERT's uncased models: text is cleaned, lowercased, stripped of accents, split at
//! whitespace and punctuation, and each word into the longest pieces in the vocabulary. A word that cannot be split
//! this way is dropped.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

/// Longer words count as unknown.
const WORD_CHARS_MAX: usize = 100;

type Pieces = HashMap<Box<str>, u32, BuildHasherDefault<Fnv>>;

#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Pieces that begin a word.
    first: Pieces,
    /// Pieces that continue one, without their `##`.
    further: Pieces,
    piece_bytes_max: usize,
}

impl Vocabulary {
    /// From tokens ordered by id. Names in brackets (`[UNK]`) are not text.
    pub(super) fn of<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        let (mut first, mut further) = (Pieces::default(), Pieces::default());
        let mut piece_bytes_max = 0;
        for (id, token) in (0..).zip(tokens) {
            piece_bytes_max = piece_bytes_max.max(token.len());
            match token.strip_prefix("##") {
                Some(piece) if !piece.is_empty() => further.insert(piece.into(), id),
                Some(_) | None if is_special(token) => None,
                Some(_) | None => first.insert(token.into(), id),
            };
        }
        Self { first, further, piece_bytes_max }
    }

    /// The ids of a text's pieces, at most `tokens_max`. `scratch` is working memory.
    pub(super) fn cut(&self, text: &str, tokens_max: usize, scratch: &mut String, ids: &mut Vec<u32>) {
        ids.clear();
        for run in text.split([' ', '\t', '\n', '\r']) {
            if ids.len() >= tokens_max {
                break;
            }
            if run.is_ascii() {
                self.cut_ascii(run, scratch, ids);
            } else {
                self.cut_other(run, scratch, ids);
            }
        }
        ids.truncate(tokens_max);
    }

    fn cut_ascii(&self, run: &str, scratch: &mut String, ids: &mut Vec<u32>) {
        scratch.clear();
        for c in run.chars() {
            if c.is_ascii_punctuation() {
                self.word(scratch, ids);
                scratch.clear();
                self.word(c.encode_utf8(&mut [0; 4]), ids);
            } else if c.is_ascii_whitespace() || c == '\u{b}' {
                self.word(scratch, ids);
                scratch.clear();
            } else if !c.is_ascii_control() {
                scratch.push(c.to_ascii_lowercase());
            }
        }
        self.word(scratch, ids);
    }

    fn cut_other(&self, run: &str, scratch: &mut String, ids: &mut Vec<u32>) {
        scratch.clear();
        for c in run.chars().filter(|&c| !is_cleaned_away(c)) {
            let is_alone = is_han(c);
            if c.is_whitespace() || is_alone {
                self.word(scratch, ids);
                scratch.clear();
            }
            if c.is_whitespace() {
                continue;
            }
            let plain = std::iter::once(c).nfd().filter(|&c| !is_accent(c)).flat_map(char::to_lowercase);
            for c in plain {
                if is_mark(c) {
                    self.word(scratch, ids);
                    scratch.clear();
                    self.word(c.encode_utf8(&mut [0; 4]), ids);
                } else {
                    scratch.push(c);
                }
            }
            if is_alone {
                self.word(scratch, ids);
                scratch.clear();
            }
        }
        self.word(scratch, ids);
    }

    /// Splits one word, longest piece first.
    fn word(&self, word: &str, ids: &mut Vec<u32>) {
        if word.is_empty() || (word.len() > WORD_CHARS_MAX && word.chars().count() > WORD_CHARS_MAX) {
            return;
        }
        let n_before = ids.len();
        let mut rest = word;
        while !rest.is_empty() {
            let pieces = if rest.len() == word.len() { &self.first } else { &self.further };
            let mut end = rest.floor_char_boundary(self.piece_bytes_max);
            let found = loop {
                match rest.get(..end).and_then(|piece| pieces.get(piece)) {
                    Some(&id) => break Some((id, end)),
                    None if end == 0 => break None,
                    None => end = rest.floor_char_boundary(end - 1),
                }
            };
            let Some((id, end)) = found else {
                ids.truncate(n_before);
                return;
            };
            ids.push(id);
            rest = rest.get(end..).unwrap_or_default();
        }
    }
}

fn is_special(token: &str) -> bool {
    matches!(token, "[PAD]" | "[UNK]" | "[CLS]" | "[SEP]" | "[MASK]")
}

/// Control and formatting characters, and the replacement character.
fn is_cleaned_away(c: char) -> bool {
    if matches!(c, '\t' | '\n' | '\r') {
        return false;
    }
    c == '\u{fffd}'
        || matches!(
            get_general_category(c),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::Unassigned
                | GeneralCategory::PrivateUse
                | GeneralCategory::Surrogate
        )
}

fn is_accent(c: char) -> bool {
    !c.is_ascii() && get_general_category(c) == GeneralCategory::NonspacingMark
}

fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation()
        || (!c.is_ascii()
            && matches!(
                get_general_category(c),
                GeneralCategory::ConnectorPunctuation
                    | GeneralCategory::DashPunctuation
                    | GeneralCategory::OpenPunctuation
                    | GeneralCategory::ClosePunctuation
                    | GeneralCategory::InitialPunctuation
                    | GeneralCategory::FinalPunctuation
                    | GeneralCategory::OtherPunctuation
            ))
}

fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1f}'
    )
}

/// FNV-1a. The table is ours and does not grow, so nobody can fill it with collisions.
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests;
