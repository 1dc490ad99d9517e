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
#[error("{message}{}", place_of(*position, *line_and_column))]
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

fn place_of(position: Option<usize>, line_and_column: Option<(usize, usize)>) -> String {
    let position = position.map(|position| format!(" at position {position}"));
    let line = line_and_column.map(|(line, column)| format!(" (line {line}, column {column})"));
    position.unwrap_or_default() + &line.unwrap_or_default()
}
