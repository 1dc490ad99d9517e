//! The characters of a pattern, with an escape as one token, and positions counted in characters as in Python.

use super::PatternFault;

/// A character, or a backslash with the character it escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    Escape(char),
}

impl Token {
    pub(crate) fn chars(self) -> usize {
        match self {
            Self::Char(_) => 1,
            Self::Escape(_) => 2,
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Char(c) => c.to_string(),
            Self::Escape(c) => format!("\\{c}"),
        }
    }
}

pub(crate) struct Source {
    chars: Vec<char>,
    /// The offset after the next token.
    index: usize,
    next: Option<Token>,
}

impl Source {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternFault> {
        let mut source = Self { chars: pattern.chars().collect(), index: 0, next: None };
        source.advance()?;
        Ok(source)
    }

    pub(crate) fn next(&self) -> Option<Token> {
        self.next
    }

    pub(crate) fn advance(&mut self) -> Result<(), PatternFault> {
        self.next = match self.chars.get(self.index) {
            None => None,
            Some('\\') => match self.chars.get(self.index + 1) {
                None => {
                    let position = self.chars.len() - 1;
                    return Err(self.fault_at("bad escape (end of pattern)".to_owned(), position));
                }
                Some(&c) => Some(Token::Escape(c)),
            },
            Some(&c) => Some(Token::Char(c)),
        };
        self.index += self.next.map_or(0, Token::chars);
        Ok(())
    }

    pub(crate) fn get(&mut self) -> Result<Option<Token>, PatternFault> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    /// Consumes the next token if it is this character.
    pub(crate) fn take(&mut self, c: char) -> Result<bool, PatternFault> {
        let is_it = self.next == Some(Token::Char(c));
        if is_it {
            self.advance()?;
        }
        Ok(is_it)
    }

    pub(crate) fn take_while(
        &mut self,
        chars_max: usize,
        is_wanted: impl Fn(char) -> bool,
    ) -> Result<String, PatternFault> {
        let mut taken = String::new();
        while let Some(Token::Char(c)) = self.next.filter(|_| taken.len() < chars_max) {
            if !is_wanted(c) {
                break;
            }
            taken.push(c);
            self.advance()?;
        }
        Ok(taken)
    }

    /// The text before the terminator, which is consumed too.
    pub(crate) fn take_until(&mut self, terminator: char, what: &str) -> Result<String, PatternFault> {
        let mut taken = String::new();
        loop {
            match self.get()? {
                None if taken.is_empty() => return Err(self.fault(format!("missing {what}"), 0)),
                None => {
                    let message = format!("missing {terminator}, unterminated name");
                    return Err(self.fault(message, taken.chars().count()));
                }
                Some(Token::Char(c)) if c == terminator => {
                    if taken.is_empty() {
                        return Err(self.fault(format!("missing {what}"), 1));
                    }
                    return Ok(taken);
                }
                Some(other) => taken.push_str(&other.text()),
            }
        }
    }

    pub(crate) fn tell(&self) -> usize {
        self.index - self.next.map_or(0, Token::chars)
    }

    pub(crate) fn seek(&mut self, index: usize) -> Result<(), PatternFault> {
        self.index = index;
        self.advance()
    }

    /// A fault at `back` characters before the next token.
    pub(crate) fn fault(&self, message: impl Into<String>, back: usize) -> PatternFault {
        self.fault_at(message.into(), self.tell().saturating_sub(back))
    }

    pub(crate) fn fault_at(&self, message: String, position: usize) -> PatternFault {
        let before = self.chars.get(..position).unwrap_or(&self.chars);
        let line = before.iter().filter(|&&c| c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|&&c| c != '\n').count() + 1;
        let has_lines = self.chars.contains(&'\n');
        PatternFault {
            message,
            position: Some(position),
            line_and_column: has_lines.then_some((line, column)),
        }
    }
}
