//! Python's regular expressions: parsed as Python parses them and written in the syntax of Rust's engines. Searching
//! is left to the crates that hold text: `spelunk-context` (documents) and `spelunk-sandbox` (strings in cells).

mod ast;
mod emit;
mod expand;
mod flags;
mod parse;

pub use self::ast::{Assertion, Category, Fold, Item, Kind, Node, Width, Words};
pub use self::emit::{Emitter, Target};
pub use self::expand::Replacement;
pub use self::flags::Flags;
pub use self::parse::{Parsed, parse};

/// An invalid pattern or replacement, worded as in Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", Position(*position, *line_and_column))]
pub struct PatternFault {
    /// Python's message: `unterminated character set`.
    pub message: String,
    /// In characters from 0; `None` if Python reports no position.
    pub position: Option<usize>,
    /// The line and column, from 1; only for a pattern with several lines.
    pub line_and_column: Option<(usize, usize)>,
}

impl PatternFault {
    /// A fault without a position.
    pub fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), position: None, line_and_column: None }
    }
}

struct Position(Option<usize>, Option<(usize, usize)>);

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(position) = self.0 {
            write!(f, " at position {position}")?;
        }
        if let Some((line, column)) = self.1 {
            write!(f, " (line {line}, column {column})")?;
        }
        Ok(())
    }
}
