//! Notices: what the user should know about a search that succeeded. A notice has the code of an error.

use std::fmt;

use spelunk_types::{ErrorCode, Explain as _};

use crate::{EmbedError, IndexError, Rebuilt};

const NAME_CHARS_MAX: usize = 200;

/// Something the user should know about a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The query was too long, and a part of it was ignored.
    QueryCut,
    /// The query contains no words.
    NothingAsked,
    /// The model knows no word of the query, so nothing was found by meaning.
    UnknownWords,
    /// Only words were searched.
    WordsOnly {
        /// Why it was not searched by meaning.
        code: ErrorCode,
        /// The message.
        why: String,
    },
    /// Too much text is not indexed yet, so it was read and searched by words only.
    NotIndexed {
        /// How much is not indexed.
        bytes: u64,
        /// Whether the index is being built.
        is_building: bool,
    },
    /// A document could not be read, so its hits are not shown.
    Unreadable(String),
    /// The index was rebuilt.
    Rebuilt(Rebuilt),
}

impl Notice {
    /// A search by words alone because of this error.
    pub fn words_only(error: &IndexError) -> Self {
        if let IndexError::Embed { source } = error {
            return Self::not_embedded(source);
        }
        Self::WordsOnly { code: error.code(), why: error.to_string() }
    }

    /// A search by words alone because the model failed.
    pub fn not_embedded(error: &EmbedError) -> Self {
        Self::WordsOnly { code: error.code(), why: error.to_string() }
    }

    /// The stable name, if the problem can be fixed.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::QueryCut => Some(ErrorCode::QueryTooLong),
            Self::NothingAsked => Some(ErrorCode::UsageWrong),
            Self::WordsOnly { code, .. } => Some(*code),
            Self::Unreadable(_) => Some(ErrorCode::SourceUnreadable),
            Self::Rebuilt(Rebuilt::Damaged(_)) => Some(ErrorCode::IndexDamaged),
            Self::Rebuilt(Rebuilt::OtherModel) => Some(ErrorCode::IndexOtherModel),
            Self::Rebuilt(Rebuilt::OtherCut) => Some(ErrorCode::SettingsChanged),
            Self::UnknownWords | Self::NotIndexed { .. } | Self::Rebuilt(Rebuilt::Compacted) => None,
        }
    }

    /// The next step, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::QueryCut | Self::WordsOnly { .. } => self.code()?.hint(),
            Self::UnknownWords => Some("search by words"),
            Self::NotIndexed { is_building: false, .. } => {
                Some("build the index with `spelunk index` to search by meaning as well")
            }
            Self::NotIndexed { .. } | Self::NothingAsked | Self::Unreadable(_) | Self::Rebuilt(_) => None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueryCut => f.write_str("the query is too long; only its beginning was used"),
            Self::NothingAsked => f.write_str("the query contains no words"),
            Self::UnknownWords => f.write_str("the embedding model knows no word of the query"),
            Self::WordsOnly { why, .. } => write!(f, "searched by words only: {why}"),
            Self::NotIndexed { bytes, is_building } => {
                let megabytes = bytes / 1_000_000;
                let next = if *is_building { "; the index is being built" } else { "" };
                write!(f, "searched by words only: {megabytes} MB are not indexed yet{next}")
            }
            Self::Unreadable(name) => {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
                write!(f, "`{shown}` can no longer be read")
            }
            Self::Rebuilt(why) => why.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
