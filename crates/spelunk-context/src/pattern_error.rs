//! Errors in the pattern of a search. An invalid pattern is shown with a caret under the error.

/// A pattern that cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PatternError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern has {bytes} bytes, and at most {bytes_max} are allowed")]
    TooLong { bytes: u64, bytes_max: u64 },
    /// `column` is counted in characters from 0.
    #[error("the pattern is not a regular expression: {why}\n    {pattern}\n    {}^", " ".repeat(*column))]
    Syntax { pattern: String, column: usize, why: String },
    #[error("the pattern `{pattern}` is too large once it is compiled")]
    TooComplex { pattern: String },
    #[error("the pattern `{pattern}` asks for a line end, and a match is within one line")]
    LineEnd { pattern: String },
}

impl PatternError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "name something to look for",
            Self::TooLong { .. } => "look for a shorter part of it",
            Self::Syntax { .. } => "correct it, or search for it as it is with `--literal`",
            Self::TooComplex { .. } => "use smaller repetition counts",
            Self::LineEnd { .. } => "look for the text of one line, with lines of context",
        }
    }
}
