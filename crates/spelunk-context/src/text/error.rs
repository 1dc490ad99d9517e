//! Errors of a text: the document, the pattern, or a result that is too large to return.

use spelunk_types::{ErrorCode, Explain};

use super::re::PatternFault;
use crate::ReadError;

/// An operation on a text that failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TextError {
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Worded like Python's message.
    #[error(transparent)]
    Pattern(#[from] PatternFault),
    /// Python's `ValueError` or `IndexError`, with its message.
    #[error("{message}")]
    Value { message: &'static str },
    #[error("the pattern took more than {steps_max} steps at one position in `{name}`")]
    Backtracks { name: String, steps_max: u64 },
    #[error("a match of the pattern in `{name}` may exceed {bytes_max} bytes")]
    MatchTooLong { name: String, bytes_max: u64 },
    #[error("the result has more than {bytes_max} bytes")]
    ResultTooLarge { bytes_max: u64 },
    #[error("`{name}` has no record {record}: it has {n_records}, counted from 0")]
    NoRecord { name: String, record: u64, n_records: u64 },
    #[error("`{name}` is neither JSON lines nor a JSON array: {why}")]
    NoRecords { name: String, why: &'static str },
}

impl Explain for TextError {
    fn code(&self) -> ErrorCode {
        if let Self::Read(error) = self { error.code() } else { ErrorCode::UsageWrong }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read(error) => return error.hint(),
            Self::Pattern(_) | Self::Value { .. } => return None,
            Self::Backtracks { .. } => "write it without lookaround and backreferences, or search a slice",
            Self::MatchTooLong { .. } => {
                "make the repetition lazy or bounded, for example `.{0,1000}?`, or search a slice"
            }
            Self::ResultTooLarge { .. } => "iterate over the matches, or take a slice first",
            Self::NoRecord { n_records: 0, .. } => "it has no records",
            Self::NoRecord { n_records, .. } => {
                return Some(format!("ask for a record from 0 to {}", n_records - 1));
            }
            Self::NoRecords { .. } => "use it as text",
        };
        Some(hint.to_owned())
    }
}
