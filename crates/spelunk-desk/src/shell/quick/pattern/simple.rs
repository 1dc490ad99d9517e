//! Simple patterns: a text with at most a repeated set behind it, which is found without a regular expression.

use memchr::memmem::Finder;

use super::super::text::part;
use super::Piece;

/// A text, and bytes of a set behind it: `error`, `user=[0-9]*`.
#[derive(Debug)]
pub(super) struct Simple {
    text: Finder<'static>,
    tail: Option<Tail>,
}

#[derive(Debug)]
pub(super) struct SimpleText {
    text: String,
    tail: Option<Tail>,
}

impl SimpleText {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), tail: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

#[derive(Debug)]
struct Tail {
    set: Box<[bool; 256]>,
    n_least: usize,
}

impl Simple {
    pub(super) fn new(simple: SimpleText) -> Self {
        Self { text: Finder::new(simple.text.as_bytes()).into_owned(), tail: simple.tail }
    }

    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let mut from = from;
        loop {
            let start = from + self.text.find(part(bytes, from, bytes.len()))?;
            let behind = start + self.text.needle().len();
            let Some(tail) = &self.tail else { return Some((start, behind)) };
            let is_in = |byte: &&u8| tail.set.get(usize::from(**byte)).copied().unwrap_or_default();
            let n_more = part(bytes, behind, bytes.len()).iter().take_while(is_in).count();
            if n_more >= tail.n_least {
                return Some((start, behind + n_more));
            }
            from = start + 1;
        }
    }
}

/// How simple a pattern is, as far as it was read.
pub(super) enum Simplicity {
    Text(String),
    /// A text and a set that must be repeated.
    Set(String, Box<[bool; 256]>),
    Repeated(SimpleText),
    None,
}

impl Default for Simplicity {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Simplicity {
    pub(super) fn with(self, piece: &Piece) -> Self {
        match (self, piece) {
            (Self::Text(mut text), Piece::Char(c)) => {
                text.push(*c);
                Self::Text(text)
            }
            (Self::Text(text), Piece::Class(_, Some(set))) => Self::Set(text, set.clone()),
            (Self::Set(text, set), Piece::Repeat(how, _)) if matches!(how.as_str(), "*" | "+") => {
                Self::Repeated(SimpleText {
                    text,
                    tail: Some(Tail { set, n_least: usize::from(how == "+") }),
                })
            }
            _ => Self::None,
        }
    }

    pub(super) fn known(self) -> Option<SimpleText> {
        match self {
            Self::Text(text) => Some(SimpleText { text, tail: None }),
            Self::Repeated(simple) => Some(simple),
            Self::Set(..) | Self::None => None,
        }
    }
}
