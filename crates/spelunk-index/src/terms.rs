//! Terms: what an index stores of a text, and what is looked up. A term is a word in lower case, without accents and,
//! if English, without its suffix. `HttpServer2` is `http`, `server`, `2` and, as a whole, `httpserver2`. Scripts
//! without spaces between words give pairs of adjacent characters, and single ones.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::stem::stem;
use crate::words::{Form, Kind, WORD_BYTES_MAX, is_unspaced};

/// A name with more parts than this is a hash or encoded data; it is stored only as a whole.
const PARTS_MAX: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term<'a> {
    pub(crate) text: &'a str,
    /// Counted in words. A name and the first of its parts share a position.
    pub(crate) position: usize,
    pub(crate) at: Range<usize>,
    pub(crate) form: Form,
}

pub(crate) fn terms(text: &str, on_term: &mut dyn FnMut(Term<'_>)) {
    let mut cutter = Cutter { on_term, position: 0, folded: String::new() };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_inside(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let mut is_ascii = true;
        while at < bytes.len() && is_inside(bytes[at]) {
            is_ascii &= bytes[at].is_ascii();
            at += 1;
        }
        let run = text.get(start..at).unwrap_or_default();
        if is_ascii { cutter.name(run, start) } else { cutter.other(run, start) }
    }
}

fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

struct Cutter<'c> {
    on_term: &'c mut dyn FnMut(Term<'_>),
    position: usize,
    folded: String,
}

impl Cutter<'_> {
    fn name(&mut self, run: &str, start: usize) {
        let bytes = run.as_bytes();
        if bytes.iter().all(u8::is_ascii_lowercase) || bytes.iter().all(u8::is_ascii_digit) {
            self.word(run, start..start + run.len(), Form::Plain);
            self.position += 1;
            return;
        }
        let parts = parts(bytes);
        let first_position = self.position;
        if (1..=PARTS_MAX).contains(&parts.len()) {
            for part in &parts {
                let text = run.get(part.clone()).unwrap_or_default();
                self.word(text, start + part.start..start + part.end, Form::Plain);
                self.position += 1;
            }
        }
        if parts.len() > 1 && run.len() <= WORD_BYTES_MAX {
            let joined: String = run.chars().filter(|&c| c != '_').map(|c| c.to_ascii_lowercase()).collect();
            let at = start..start + run.len();
            (self.on_term)(Term { text: &joined, position: first_position, at, form: Form::Joined });
            self.position = self.position.max(first_position + 1);
        }
    }

    fn other(&mut self, run: &str, start: usize) {
        let mut rest = run;
        while let Some(c) = rest.chars().next() {
            let at = start + run.len() - rest.len();
            let kind = kind_of(c);
            let n_bytes = rest.find(|c| kind_of(c) != kind).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(n_bytes);
            rest = behind;
            match kind {
                Kind::Mark => {}
                Kind::Unspaced => self.unspaced(part, at),
                Kind::Letters if part.is_ascii() => self.name(part, at),
                Kind::Letters => self.letters(part, at),
            }
        }
    }

    /// Non-ASCII letters, split at underscores and without accents.
    fn letters(&mut self, part: &str, start: usize) {
        let mut at = start;
        for word in part.split('_') {
            if !word.is_empty() {
                let mut folded = std::mem::take(&mut self.folded);
                folded.clear();
                fold(word, &mut folded);
                self.word(&folded, at..at + word.len(), Form::Plain);
                self.folded = folded;
                self.position += 1;
            }
            at += word.len() + 1;
        }
    }

    fn unspaced(&mut self, part: &str, start: usize) {
        let is_alone = part.chars().nth(1).is_none();
        let mut chars = part.char_indices().peekable();
        while let Some((idx, c)) = chars.next() {
            let at = start + idx..start + idx + c.len_utf8();
            let form = if is_alone { Form::Plain } else { Form::Single };
            let text = c.encode_utf8(&mut [0; 4]).to_owned();
            (self.on_term)(Term { text: &text, position: self.position, at: at.clone(), form });
            if let Some(&(_, next)) = chars.peek() {
                let pair = part.get(idx..idx + c.len_utf8() + next.len_utf8()).unwrap_or_default();
                let at = at.start..at.end + next.len_utf8();
                (self.on_term)(Term { text: pair, position: self.position, at, form: Form::Plain });
            }
            self.position += 1;
        }
    }

    /// Lowercases and stems a word and passes it on. Words that are too long are dropped: nobody asks for them.
    fn word(&mut self, word: &str, at: Range<usize>, form: Form) {
        let mut buffer = [0; WORD_BYTES_MAX];
        let Some(room) = buffer.get_mut(..word.len()) else { return };
        room.copy_from_slice(word.as_bytes());
        room.make_ascii_lowercase();
        let n = stem(room);
        let text = room.get(..n).and_then(|stem| std::str::from_utf8(stem).ok()).unwrap_or(word);
        if !text.is_empty() {
            (self.on_term)(Term { text, position: self.position, at, form });
        }
    }
}

/// The parts of a name: `a_b`, `aB`, `ABc` and `a1` have two.
fn parts(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for next in 1..=bytes.len() {
        if next < bytes.len() && !is_part_end(bytes, next) {
            continue;
        }
        while start < next && bytes[start] == b'_' {
            start += 1;
        }
        let end =
            bytes[start..next].iter().rposition(|&byte| byte != b'_').map_or(start, |idx| start + idx + 1);
        if start < end {
            parts.push(start..end);
        }
        start = next;
    }
    parts
}

fn is_part_end(bytes: &[u8], next: usize) -> bool {
    let (before, here) = (bytes[next - 1], bytes[next]);
    let is_acronym_end = before.is_ascii_uppercase()
        && here.is_ascii_uppercase()
        && bytes.get(next + 1).is_some_and(u8::is_ascii_lowercase);
    here == b'_'
        || (before.is_ascii_lowercase() && here.is_ascii_uppercase())
        || before.is_ascii_digit() != here.is_ascii_digit()
        || is_acronym_end
}

/// A word without accents, vowel points and case, and with variant letters unified.
fn fold(word: &str, folded: &mut String) {
    let plain = word.nfkd().filter(|&c| !is_accent(c)).flat_map(char::to_lowercase);
    for c in plain.filter(|&c| !is_accent(c)) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            'ـ' => {}
            _ => folded.push(c),
        }
    }
}

/// Marks that people omit when typing: accents, and the vowels of Hebrew and Arabic.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036f}' | '\u{0591}'..='\u{05c7}' | '\u{064b}'..='\u{065f}' | '\u{0670}')
}

/// Unlike in `words`, an accent or a vowel sign belongs to the letters around it.
fn kind_of(c: char) -> Kind {
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() || c == '_' { Kind::Letters } else { Kind::Mark }
    } else if is_unspaced(c) {
        Kind::Unspaced
    } else if c.is_alphanumeric() || is_combining_mark(c) {
        Kind::Letters
    } else {
        Kind::Mark
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct TermTokenizer {
    /// Reused from text to text, to keep the memory of the strings.
    tokens: Vec<Token>,
}

#[derive(Debug)]
pub(crate) struct TermStream<'a> {
    tokens: &'a mut [Token],
    n_passed: usize,
}

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        let mut n_tokens = 0;
        terms(text, &mut |term| {
            if n_tokens == self.tokens.len() {
                self.tokens.push(Token::default());
            }
            let token = &mut self.tokens[n_tokens];
            token.text.clear();
            token.text.push_str(term.text);
            token.position = term.position;
            (token.offset_from, token.offset_to) = (term.at.start, term.at.end);
            n_tokens += 1;
        });
        TermStream { tokens: &mut self.tokens[..n_tokens], n_passed: 0 }
    }
}

impl TokenStream for TermStream<'_> {
    fn advance(&mut self) -> bool {
        self.n_passed += 1;
        self.n_passed <= self.tokens.len()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.n_passed - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.n_passed - 1]
    }
}

#[cfg(test)]
mod tests;
