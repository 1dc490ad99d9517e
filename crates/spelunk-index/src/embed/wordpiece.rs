//! `WordPiece` tokenization as in BERT's uncased models: text is cleaned, lowercased, stripped of accents, split at
//! whitespace and punctuation, and each word into the longest pieces in the vocabulary. A word that cannot be split
//! this way is dropped.

use std::collections::VecDeque;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

/// Longer words count as unknown.
const WORD_CHARS_MAX: usize = 100;

/// A tree of the pieces, byte by byte: one walk from a root finds the longest. It is small enough for an L2 cache.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Level by level, so that the children of a node are adjacent; one more at the end.
    nodes: Vec<Node>,
    bytes: Vec<u8>,
}

/// The nodes of pieces that begin a word, and of those that continue one, without their `##`.
const FIRST: usize = 1;
const FURTHER: usize = 2;
const NO_PIECE: u32 = u32::MAX;

#[derive(Debug)]
struct Node {
    /// The children end where those of the next node begin.
    children: u32,
    id: u32,
}

impl Vocabulary {
    /// From tokens ordered by id. Names in brackets (`[UNK]`) are not text.
    pub(super) fn of<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        // Both roots are there even if nothing begins at them.
        let mut pieces = vec![(vec![0], NO_PIECE), (vec![1], NO_PIECE)];
        for (id, token) in (0..).zip(tokens) {
            match token.strip_prefix("##") {
                Some(piece) if !piece.is_empty() => pieces.push(([&[1], piece.as_bytes()].concat(), id)),
                Some(_) | None if matches!(token, "[PAD]" | "[UNK]" | "[CLS]" | "[SEP]" | "[MASK]") => {}
                Some(_) | None => pieces.push(([&[0], token.as_bytes()].concat(), id)),
            }
        }
        pieces.sort();
        let (mut nodes, mut bytes) = (Vec::new(), vec![0]);
        let mut waiting = VecDeque::from([(&pieces[..], 0)]);
        while let Some((below, depth)) = waiting.pop_front() {
            let n_here = below.iter().take_while(|(piece, _)| piece.len() == depth).count();
            let (here, below) = below.split_at(n_here);
            let id = here.iter().map(|(_, id)| *id).rfind(|&id| id != NO_PIECE).unwrap_or(NO_PIECE);
            nodes.push(Node { children: u32::try_from(bytes.len()).unwrap_or(u32::MAX), id });
            for child in below.chunk_by(|(a, _), (b, _)| a[depth] == b[depth]) {
                bytes.push(child[0].0[depth]);
                waiting.push_back((child, depth + 1));
            }
        }
        nodes.push(Node { children: u32::try_from(bytes.len()).unwrap_or(u32::MAX), id: NO_PIECE });
        Self { nodes, bytes }
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
        scratch.push_str(run);
        scratch.make_ascii_lowercase();
        if scratch.bytes().any(|byte| byte.is_ascii_control()) {
            scratch.retain(|c| !c.is_ascii_control() || matches!(c, '\u{b}' | '\u{c}'));
        }
        let (bytes, mut start) = (scratch.as_bytes(), 0);
        for (at, byte) in bytes.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() {
                self.word(&bytes[start..at], ids);
                start = at + 1;
                if byte.is_ascii_punctuation() {
                    self.word(&bytes[at..start], ids);
                }
            }
        }
        self.word(&bytes[start..], ids);
    }

    fn cut_other(&self, run: &str, scratch: &mut String, ids: &mut Vec<u32>) {
        scratch.clear();
        for c in run.chars().filter(|&c| !is_cleaned_away(c)) {
            let is_alone = is_han(c);
            if c.is_whitespace() || is_alone {
                self.word(scratch.as_bytes(), ids);
                scratch.clear();
            }
            if c.is_whitespace() {
                continue;
            }
            let plain = std::iter::once(c).nfd().filter(|&c| !is_accent(c)).flat_map(char::to_lowercase);
            for c in plain {
                if is_mark(c) {
                    self.word(scratch.as_bytes(), ids);
                    scratch.clear();
                    self.word(c.encode_utf8(&mut [0; 4]).as_bytes(), ids);
                } else {
                    scratch.push(c);
                }
            }
            if is_alone {
                self.word(scratch.as_bytes(), ids);
                scratch.clear();
            }
        }
        self.word(scratch.as_bytes(), ids);
    }

    fn word(&self, word: &[u8], ids: &mut Vec<u32>) {
        let is_start = |byte: &&u8| !matches!(byte, 0x80..0xc0);
        if word.len() > WORD_CHARS_MAX && word.iter().filter(is_start).count() > WORD_CHARS_MAX {
            return;
        }
        let n_before = ids.len();
        let (mut rest, mut root) = (word, FIRST);
        while !rest.is_empty() {
            let Some((id, n_bytes)) = self.longest(root, rest) else {
                ids.truncate(n_before);
                return;
            };
            ids.push(id);
            (rest, root) = (&rest[n_bytes..], FURTHER);
        }
    }

    /// The longest piece that a text begins with, and its length.
    fn longest(&self, root: usize, text: &[u8]) -> Option<(u32, usize)> {
        let (mut node, mut found) = (root, None);
        for (n_bytes, &byte) in (1..).zip(text) {
            let [first, end] = [node, node + 1].map(|node| self.nodes[node].children as usize);
            let Some(child) = memchr::memchr(byte, &self.bytes[first..end]) else { break };
            node = first + child;
            if self.nodes[node].id != NO_PIECE {
                found = Some((self.nodes[node].id, n_bytes));
            }
        }
        found
    }
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

#[cfg(test)]
mod tests;
