//! Mounts: documents that appear on a desk but stay where they are. The engine mounts its contexts this way. They are
//! searched and read in place, so a gigabyte costs nothing until someone looks at it.

mod mounted;
mod view;

use std::fmt;
use std::ops::Range;

use spelunk_context::{GrepQuery, ReadError};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory,
    /// A file of the desk.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A mounted document, which is read-only.
    Document {
        /// Its size at its source.
        bytes: u64,
    },
}

pub(crate) use self::mounted::Mounted;
pub use self::view::ViewMount;

/// A mounted document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedDocument {
    /// A relative path, as its owner names it. It need not be a valid desk path: one is derived from it.
    pub name: String,
    /// Its size at its source.
    pub bytes: u64,
}

/// A range of lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountedLines {
    /// The lines without their line endings; empty if the range is past the end.
    pub lines: Vec<String>,
    /// The number of lines of the whole text.
    pub n_lines: u64,
}

/// The matches in one document.
#[derive(Debug)]
pub struct MountedMatches {
    /// The index of the document.
    pub document: usize,
    /// Its first matches; fewer than `n_matches`, or none, if other documents filled the report.
    pub matches: Vec<spelunk_context::GrepMatch>,
    /// How many of its lines match.
    pub n_matches: u64,
}

/// The result of searching a mount.
#[derive(Debug, Default)]
pub struct MountReport {
    /// The documents with matches, in order.
    pub documents: Vec<MountedMatches>,
    /// Documents that could not be read, and why.
    pub unreadable: Vec<(usize, ReadError)>,
}

/// Documents that stay where they are, identified by a fixed index. Methods block.
pub trait Mount: fmt::Debug + Send + Sync {
    /// Every document, in the order of the index.
    fn documents(&self) -> Vec<MountedDocument>;

    /// Lines numbered from 1. A range past the end returns no lines, but still the line count.
    fn read_lines(&self, document: usize, first: u64, n_max: u64) -> Result<MountedLines, ReadError>;

    /// The text between two offsets, narrowed to whole characters and to the end of the text.
    fn read_bytes(&self, document: usize, range: Range<u64>) -> Result<String, ReadError>;

    /// The whole text, if it is no larger than `bytes_max`.
    fn read_all(&self, document: usize, bytes_max: u64) -> Result<String, ReadError>;

    /// Searches these documents. The query's `matches_max` applies to all of them together.
    fn grep(&self, query: &GrepQuery, documents: &[usize]) -> Result<MountReport, ReadError>;
}

#[cfg(test)]
pub(crate) mod tests;
