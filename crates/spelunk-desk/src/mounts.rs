//! A shelf: documents that are shown on a desk and stay where they are. The engine puts its contexts there; they are
//! searched and read in place, so a gigabyte costs nothing until somebody looks at it.

mod mounted;
mod view;

use std::fmt;
use std::ops::Range;

use spelunk_context::{GrepQuery, ReadError};

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory,
    /// A file of the desk.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A document on the shelf, which nobody can change.
    Document {
        /// Its size at its origin.
        bytes: u64,
    },
}

pub(crate) use self::mounted::Mounted;
pub use self::view::ViewMount;

/// A document on a shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedDocument {
    /// A relative path, as its owner calls it. It need not be a path on a desk: that is made from it.
    pub name: String,
    /// Its size at its origin.
    pub bytes: u64,
}

/// Some lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountedLines {
    /// The lines without their ends; none where the text is shorter than was asked.
    pub lines: Vec<String>,
    /// How many the whole text has.
    pub n_lines: u64,
}

/// What a search found in one document.
#[derive(Debug)]
pub struct MountedMatches {
    /// Which document.
    pub document: usize,
    /// Its first matches; fewer than `n_matches`, or none, where others have filled the report.
    pub matches: Vec<spelunk_context::GrepMatch>,
    /// Lines of it that match.
    pub n_matches: u64,
}

/// What a search of a shelf found.
#[derive(Debug, Default)]
pub struct MountReport {
    /// The documents with matches, in their order.
    pub documents: Vec<MountedMatches>,
    /// Documents that could not be read, and why.
    pub unreadable: Vec<(usize, ReadError)>,
}

/// Documents that stay where they are. They are named by their position, which does not change. Methods block.
pub trait Mount: fmt::Debug + Send + Sync {
    /// Every document, in the order of their positions.
    fn documents(&self) -> Vec<MountedDocument>;

    /// Lines counted from 1. A range beyond the end gives no lines, and says how many there are.
    fn read_lines(&self, document: usize, first: u64, n_max: u64) -> Result<MountedLines, ReadError>;

    /// The text between two offsets, cut inwards to whole characters and to the end.
    fn read_bytes(&self, document: usize, range: Range<u64>) -> Result<String, ReadError>;

    /// The whole text, where it is no larger than `bytes_max`.
    fn read_all(&self, document: usize, bytes_max: u64) -> Result<String, ReadError>;

    /// Searches these documents. `matches_max` of the query counts over all of them.
    fn grep(&self, query: &GrepQuery, documents: &[usize]) -> Result<MountReport, ReadError>;
}

#[cfg(test)]
pub(crate) mod tests;
