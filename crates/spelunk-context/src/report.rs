//! The scan report: what a source gave and what was left out, by reason. Nothing is dropped without a count.

use std::collections::BTreeMap;

use crate::NotText;

/// Why a file did not become a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// It is not text.
    Binary,
    /// The same file came with an earlier source.
    Duplicate,
    /// It has no bytes.
    Empty,
    /// It is text in an encoding we do not read.
    Encoding,
    /// A default exclusion: dependencies, build output, lock files, media.
    Excluded,
    /// Its name begins with a dot.
    Hidden,
    /// A `.gitignore` or `.ignore` file names it.
    Ignored,
    /// Its name is one that secrets are kept under.
    Secret,
    /// It is a pipe, a socket or a device.
    Special,
    /// It is a symbolic link.
    Symlink,
    /// The system would not let us read it.
    Unreadable,
}

impl SkipReason {
    /// The name in reports and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Duplicate => "duplicate",
            Self::Empty => "empty",
            Self::Encoding => "encoding",
            Self::Excluded => "excluded",
            Self::Hidden => "hidden",
            Self::Ignored => "ignored",
            Self::Secret => "secret",
            Self::Special => "special",
            Self::Symlink => "symlink",
            Self::Unreadable => "unreadable",
        }
    }
}

impl From<NotText> for SkipReason {
    fn from(why: NotText) -> Self {
        match why {
            NotText::Binary => Self::Binary,
            NotText::Encoding => Self::Encoding,
        }
    }
}

/// What one source gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// The source, as its documents are prefixed.
    pub source: String,
    /// Documents taken.
    pub documents: u64,
    /// Their size on disk.
    pub bytes: u64,
    /// What was left out, by the name of the reason. A directory that was not entered counts once.
    pub skipped: BTreeMap<String, u64>,
    /// The first few names for each reason; directories end in `/`.
    pub skipped_examples: BTreeMap<String, Vec<String>>,
}

impl ScanReport {
    /// Names kept per reason.
    pub const EXAMPLES_MAX: usize = 5;

    pub(crate) fn skip(&mut self, reason: SkipReason, name: &str) {
        *self.skipped.entry(reason.name().to_owned()).or_default() += 1;
        let examples = self.skipped_examples.entry(reason.name().to_owned()).or_default();
        if examples.len() < Self::EXAMPLES_MAX {
            examples.push(name.to_owned());
        }
    }
}
