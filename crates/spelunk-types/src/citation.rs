//! Citations: a place in a source document together with the text that must be there.

use serde::{Deserialize, Serialize};

use crate::ErrorCode;

/// A quote and its claimed location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The document, as the corpus names it, or the address of a row of a database: `shop.db:orders?id=4711`.
    pub document: String,
    /// The line on which the quote begins, from 1; 0 for a row of a database.
    pub line: u64,
    /// The quoted text.
    pub quote: String,
}

impl Citation {
    /// Where the quote is, in one word.
    pub fn place(&self) -> String {
        match self.line {
            0 => self.document.clone(),
            line => format!("{}:{line}", self.document),
        }
    }
}

names! { "result of a check",
/// The result of checking a citation against its source.
pub enum Found {
    /// The quote begins on the cited line.
    Exact = "exact",
    /// The quote is in the document, on another line; the citation was corrected.
    Moved = "moved",
    /// The quote is not in the document, or the document is not in the corpus.
    Missing = "missing",
}
}

/// How well an answer is supported by the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Grounding {
    /// At least one citation, and every one was found.
    Cited,
    /// A query over rows computed it or chose it among them, and no row proves it. The answer shows the query.
    Computed,
    /// No citation was found in the sources.
    Uncited,
    /// The run stopped early; this is the answer it had.
    Partial {
        /// What stopped it.
        stopped_by: ErrorCode,
    },
}

impl Grounding {
    /// The name in results and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cited => "cited",
            Self::Computed => "computed",
            Self::Uncited => "uncited",
            Self::Partial { .. } => "partial",
        }
    }
}
