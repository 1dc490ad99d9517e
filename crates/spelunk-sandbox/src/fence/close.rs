//! Closing fences: decides by Python's own syntax which fence line ends a block. A line within a string
//! literal closes nothing, and outside of strings and comments no line of Python begins with a backtick.

use ruff_python_ast::token::{TokenFlags, TokenKind};
use ruff_python_parser::Mode;
use ruff_python_parser::lexer::{Lexer, lex};

/// The longest text passed to the tokenizer. Its offsets have 32 bits.
const LEX_BYTES_MAX: usize = 64 * 1024 * 1024;
/// After this many errors a text is not Python, and its tokens mean nothing. The tokenizer stores each error.
const FAULTS_MAX: u64 = 1_000;

/// The string literals of a text that is assumed to be Python, tokenized on demand from the beginning.
pub(super) struct Strings<'a> {
    lexer: Lexer<'a>,
    token: TokenKind,
    n_faults: u64,
    bytes: usize,
}

impl<'a> Strings<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.get(..text.floor_char_boundary(LEX_BYTES_MAX)).unwrap_or_default();
        Self { lexer: lex(text, Mode::Module), token: TokenKind::Newline, n_faults: 0, bytes: text.len() }
    }

    /// Whether an offset is in a string; `None` past the end or if it is not Python. Offsets must
    /// not decrease.
    pub(super) fn is_within(&mut self, offset: usize) -> Option<bool> {
        while self.end() <= offset {
            if self.token == TokenKind::EndOfFile || self.n_faults > FAULTS_MAX {
                return None;
            }
            self.token = self.lexer.next_token();
            self.count_faults();
        }
        Some(is_string(self.token) && self.start() < offset)
    }

    pub(super) fn bytes_read(&self) -> usize {
        self.end().min(self.bytes)
    }

    fn start(&self) -> usize {
        self.lexer.current_range().start().to_usize()
    }

    fn end(&self) -> usize {
        self.lexer.current_range().end().to_usize()
    }

    fn count_faults(&mut self) {
        let is_unclosed = self.lexer.current_flags().contains(TokenFlags::UNCLOSED_STRING);
        let is_start = matches!(self.token, TokenKind::FStringStart | TokenKind::TStringStart);
        if self.token == TokenKind::Unknown || is_unclosed || is_start {
            self.n_faults += 1;
        } else if matches!(self.token, TokenKind::FStringEnd | TokenKind::TStringEnd) {
            // A terminated interpolated string was not an error.
            self.n_faults = self.n_faults.saturating_sub(1);
        }
    }
}

fn is_string(token: TokenKind) -> bool {
    matches!(token, TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle)
}
