//! Errors while reading a document. Each names the document and one thing to try.

use std::io;
use std::path::PathBuf;

use spelunk_types::{ErrorCode, Explain};

use crate::SourceError;

/// A document, or a part of one, that could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ReadError {
    #[error("`{path}` is a directory, not a file")]
    Directory { path: PathBuf },
    #[error("`{name}` changed while it was open")]
    Changed { name: String },
    #[error("that part of `{name}` has {bytes} bytes; at most {bytes_max} can be read at once")]
    TooLarge { name: String, bytes: u64, bytes_max: u64 },
    #[error("the text of `{name}` has {bytes} bytes; at most {bytes_max} can be unpacked for one context")]
    MadeTooLarge { name: String, bytes: u64, bytes_max: u64 },
    #[error("`{name}` has no page {page}: {}", pages_there(*n_pages))]
    PageOutOfRange { name: String, page: u64, n_pages: u64 },
    #[error("`{name}` has no line {line}: it has {n_lines}, counted from 1")]
    LineOutOfRange { name: String, line: u64, n_lines: u64 },
    #[error("{what} must be between {min} and {max}, not {value}")]
    ValueOutOfRange { what: &'static str, value: u64, min: u64, max: u64 },
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error("the search was stopped")]
    Cancelled,
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl ReadError {
    /// Refuses a value outside its bounds: the only place that validates a line count, a page size or a limit.
    pub fn check(what: &'static str, value: u64, min: u64, max: u64) -> Result<(), Self> {
        if (min..=max).contains(&value) {
            Ok(())
        } else {
            Err(Self::ValueOutOfRange { what, value, min, max })
        }
    }

    /// This error as a source error of a document.
    pub fn of_document(self, name: &str) -> SourceError {
        if let Self::Changed { name } = self {
            return SourceError::Changed { name };
        }
        SourceError::Read { path: name.into(), source: io::Error::other(self) }
    }
}

fn pages_there(n_pages: u64) -> String {
    match n_pages {
        0 | 1 => "the only page is 0".to_owned(),
        n_pages => format!("the last page is {}", n_pages - 1),
    }
}

impl Explain for ReadError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Directory { .. } | Self::MadeTooLarge { .. } => ErrorCode::SourceUnreadable,
            Self::Changed { .. } => ErrorCode::CorpusChanged,
            Self::TooLarge { .. }
            | Self::PageOutOfRange { .. }
            | Self::LineOutOfRange { .. }
            | Self::ValueOutOfRange { .. }
            | Self::Pattern(_) => ErrorCode::UsageWrong,
            Self::Cancelled => ErrorCode::Cancelled,
            Self::Source(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Directory { .. } => "pass one file in it",
            Self::Changed { .. } => "read it again",
            Self::TooLarge { .. } => "read it in pages, search it, or read a smaller part",
            Self::MadeTooLarge { .. } => "unpack it and add the directory",
            Self::PageOutOfRange { n_pages, .. } => {
                return Some(format!("ask for a page from 0 to {}", n_pages.saturating_sub(1)));
            }
            Self::LineOutOfRange { n_lines: 0, .. } => "it is empty",
            Self::LineOutOfRange { n_lines, .. } => {
                return Some(format!("ask for lines from 1 to {n_lines}"));
            }
            Self::ValueOutOfRange { min, max, .. } => {
                return Some(format!("give a value from {min} to {max}"));
            }
            Self::Pattern(error) => error.hint(),
            Self::Cancelled => return None,
            Self::Source(error) => return error.hint(),
        };
        Some(hint.to_owned())
    }
}

/// A pattern that cannot be searched for. An invalid one is shown with a caret under the error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PatternError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern has {bytes} bytes; the maximum is {bytes_max}")]
    TooLong { bytes: u64, bytes_max: u64 },
    /// `column` is counted in characters from 0.
    #[error("the pattern is not a valid regular expression: {why}\n    {pattern}\n    {}^", " ".repeat(*column))]
    Syntax { pattern: String, column: usize, why: String },
    #[error("the pattern `{pattern}` is too large when compiled")]
    TooComplex { pattern: String },
    #[error("the pattern `{pattern}` contains a line end, but a match is always within one line")]
    LineEnd { pattern: String },
}

impl PatternError {
    fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "give a pattern to search for",
            Self::TooLong { .. } => "search for a shorter part of it",
            Self::Syntax { .. } => "correct it, or search for a literal string (`literal`)",
            Self::TooComplex { .. } => "use smaller repetition counts",
            Self::LineEnd { .. } => "search for the text of one line, with context lines",
        }
    }
}

#[cfg(test)]
mod tests;
