//! Splits questions and text into words. A word is a run of letters and digits in lower case. `maxRetryCount` and
//! `max_retry_count` are `max`, `retry`, `count` and, joined, `maxretrycount`. Scripts without spaces between words
//! (Chinese, Japanese, Korean, Thai, ...) give pairs of adjacent characters, and single ones.

use std::ops::Range;

/// Longer runs (hashes, encoded data) are ignored: nobody asks for them.
pub(crate) const WORD_BYTES_MAX: usize = 64;

pub(crate) struct Token<'a> {
    /// In lower case, not stemmed. The callee may modify it in place.
    pub(crate) word: &'a mut [u8],
    pub(crate) at: Range<usize>,
    /// How many words came before it. Parts and their joined form share ordinals.
    pub(crate) ordinal: u64,
    pub(crate) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A whole word, or a part of a name.
    Plain,
    /// All parts of a name together.
    Joined,
    /// One character of an unspaced script that has a neighbour.
    Single,
}

/// Splits a text into words. `wanted` is asked first, with the first two bytes of a word (0 if there is no second):
/// almost all words of a text are rejected there, which makes it fast.
pub(crate) fn scan(text: &str, wanted: impl Fn(u8, u8) -> bool, on_token: impl FnMut(Token<'_>)) {
    let mut scanner = Scanner { wanted, on_token, buffer: [0; WORD_BYTES_MAX], ordinal: 0 };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if class(bytes[at]) == SEPARATOR {
            at += 1;
            continue;
        }
        let start = at;
        let mut seen = class(bytes[at]) & !UPPER;
        at += 1;
        while at < bytes.len() && class(bytes[at]) != SEPARATOR {
            seen |= class(bytes[at]);
            at += 1;
        }
        if seen & (UPPER | UNDERSCORE | OTHER) == 0 {
            scanner.plain(bytes, start..at);
        } else if seen & OTHER == 0 {
            scanner.name(bytes, start..at);
        } else {
            scanner.other(text, start..at);
        }
    }
}

const SEPARATOR: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const UNDERSCORE: u8 = 4;
const OTHER: u8 = 8;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "`try_from` is not const, and the loop ends at 255"
        )]
        let c = byte as u8;
        classes[byte] = match c {
            b'a'..=b'z' | b'0'..=b'9' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'_' => UNDERSCORE,
            0x80.. => OTHER,
            _ => SEPARATOR,
        };
        byte += 1;
    }
    classes
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES[byte as usize]
}

struct Scanner<W, T> {
    wanted: W,
    on_token: T,
    buffer: [u8; WORD_BYTES_MAX],
    ordinal: u64,
}

impl<W: Fn(u8, u8) -> bool, T: FnMut(Token<'_>)> Scanner<W, T> {
    #[inline]
    fn plain(&mut self, bytes: &[u8], at: Range<usize>) {
        let first = bytes[at.start].to_ascii_lowercase();
        let second = if at.len() > 1 { bytes[at.start + 1].to_ascii_lowercase() } else { 0 };
        if (self.wanted)(first, second) && at.len() <= WORD_BYTES_MAX {
            self.emit_ascii(bytes, at);
        }
        self.ordinal += 1;
    }

    #[cold]
    fn emit_ascii(&mut self, bytes: &[u8], at: Range<usize>) {
        let word = &mut self.buffer[..at.len()];
        word.copy_from_slice(&bytes[at.clone()]);
        word.make_ascii_lowercase();
        (self.on_token)(Token { word, at, ordinal: self.ordinal, form: Form::Plain });
    }

    /// A run of ASCII with underscores or changes of case.
    fn name(&mut self, bytes: &[u8], at: Range<usize>) {
        let ordinal = self.ordinal;
        let (mut n_parts, mut start) = (0, at.start);
        for next in at.start + 1..=at.end {
            if next < at.end && !is_part_end(bytes, next, at.end) {
                continue;
            }
            // The underscores between two parts belong to neither.
            let mut part = start..next;
            while part.start < part.end && bytes[part.start] == b'_' {
                part.start += 1;
            }
            start = next;
            if part.start < part.end {
                n_parts += 1;
                self.plain(bytes, part);
            }
        }
        if n_parts > 1 {
            self.joined(bytes, at, ordinal);
        }
    }

    fn joined(&mut self, bytes: &[u8], at: Range<usize>, ordinal: u64) {
        let mut letters = bytes[at.clone()].iter().filter(|&&byte| byte != b'_').map(u8::to_ascii_lowercase);
        let first = letters.next().unwrap_or(0);
        let second = letters.next().unwrap_or(0);
        if !(self.wanted)(first, second) || at.len() > WORD_BYTES_MAX {
            return;
        }
        let mut n = 0;
        for byte in [first, second].into_iter().chain(letters) {
            self.buffer[n] = byte;
            n += 1;
        }
        let word = &mut self.buffer[..n];
        (self.on_token)(Token { word, at, ordinal, form: Form::Joined });
    }

    /// A run with non-ASCII bytes: letters of other scripts, or just a dash or a quotation mark.
    fn other(&mut self, text: &str, at: Range<usize>) {
        let mut rest = text.get(at.clone()).unwrap_or_default();
        while let Some(c) = rest.chars().next() {
            let start = at.end - rest.len();
            let kind = kind_of(c);
            let n_bytes = rest.find(|c| kind_of(c) != kind).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(n_bytes);
            rest = behind;
            match kind {
                Kind::Mark => {}
                Kind::Unspaced => self.unspaced(part, start),
                Kind::Letters if part.is_ascii() => self.name(text.as_bytes(), start..start + part.len()),
                Kind::Letters => self.letters(part, start),
            }
        }
    }

    /// A word with non-ASCII letters, split at underscores.
    fn letters(&mut self, part: &str, start: usize) {
        let mut at = start;
        for word in part.split('_') {
            if !word.is_empty() {
                self.emit_chars(word.chars(), at..at + word.len(), Form::Plain);
                self.ordinal += 1;
            }
            at += word.len() + 1;
        }
    }

    fn unspaced(&mut self, part: &str, start: usize) {
        let mut chars = part.char_indices().peekable();
        let is_alone = part.chars().nth(1).is_none();
        while let Some((idx, c)) = chars.next() {
            let at = start + idx..start + idx + c.len_utf8();
            let form = if is_alone { Form::Plain } else { Form::Single };
            self.emit_chars([c].into_iter(), at.clone(), form);
            if let Some(&(_, next)) = chars.peek() {
                self.emit_chars([c, next].into_iter(), at.start..at.end + next.len_utf8(), Form::Plain);
            }
            self.ordinal += 1;
        }
    }

    fn emit_chars(&mut self, chars: impl Iterator<Item = char>, at: Range<usize>, form: Form) {
        let mut n = 0;
        for c in chars.flat_map(char::to_lowercase) {
            if n + c.len_utf8() > WORD_BYTES_MAX {
                return;
            }
            n += c.encode_utf8(&mut self.buffer[n..]).len();
        }
        let second = if n > 1 { self.buffer[1] } else { 0 };
        if (self.wanted)(self.buffer[0], second) {
            let word = &mut self.buffer[..n];
            (self.on_token)(Token { word, at, ordinal: self.ordinal, form });
        }
    }
}

/// Whether a part of a name ends before `next`: `a|_b`, `a|B`, `AB|Cd`.
fn is_part_end(bytes: &[u8], next: usize, end: usize) -> bool {
    let (before, here) = (class(bytes[next - 1]), class(bytes[next]));
    match (before, here) {
        (LOWER | UPPER, UNDERSCORE) | (LOWER, UPPER) => true,
        (UPPER, UPPER) => next + 1 < end && bytes[next + 1].is_ascii_lowercase(),
        _ => false,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Letters,
    Unspaced,
    Mark,
}

fn kind_of(c: char) -> Kind {
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() || c == '_' { Kind::Letters } else { Kind::Mark }
    } else if !c.is_alphanumeric() {
        Kind::Mark
    } else if is_unspaced(c) {
        Kind::Unspaced
    } else {
        Kind::Letters
    }
}

/// Scripts without spaces between words, and Korean, whose words have grammatical suffixes.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Burmese
        | '\u{1100}'..='\u{11ff}'   // Hangul letters
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3040}'..='\u{30ff}'   // Japanese syllables
        | '\u{3130}'..='\u{318f}'   // Hangul letters
        | '\u{31f0}'..='\u{31ff}'   // Japanese syllables
        | '\u{3400}'..='\u{4dbf}'   // Han
        | '\u{4e00}'..='\u{9fff}'   // Han
        | '\u{ac00}'..='\u{d7af}'   // Hangul
        | '\u{f900}'..='\u{faff}'   // Han
        | '\u{20000}'..='\u{323af}' // Han
    )
}

#[cfg(test)]
mod tests;
