//! The scan report: what a source contributed and what was left out, by reason. Nothing is dropped without a count.

use std::collections::BTreeMap;

use crate::Redaction;
use crate::decode::NotText;
use crate::secrets::SecretTally;

/// Why a file did not become a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// It is not text.
    Binary,
    /// The archive or document is damaged; what was readable before the damage is kept.
    Damaged,
    /// An earlier source contains the same file.
    Duplicate,
    /// It has no bytes.
    Empty,
    /// It can only be read with a password.
    Encrypted,
    /// It is text in an unsupported encoding.
    Encoding,
    /// A default exclusion: dependencies, build output, lock files, media.
    Excluded,
    /// There are more files than `files_max`.
    FilesMax,
    /// The request excludes it by its globs or by not descending into directories.
    Filtered,
    /// Its name begins with a dot.
    Hidden,
    /// A `.gitignore` or `.ignore` file excludes it.
    Ignored,
    /// An archive inside an archive; only the outer one is opened.
    NestedArchive,
    /// A document without text, such as a scanned page.
    NoText,
    /// A document that must be read in a worker process, which this program does not have.
    NoWorker,
    /// Its name is typical of files that hold secrets.
    Secret,
    /// It is a pipe, a socket or a device.
    Special,
    /// It is a symbolic link, or a link of any kind in an archive.
    Symlink,
    /// Reading the document exceeds the memory or time limit.
    TooCostly,
    /// It is larger, or would unpack to more, than an archive or document may be.
    TooLarge,
    /// The system denied access to it.
    Unreadable,
    /// A name in an archive that points outside it: `..`, an absolute path or a drive.
    UnsafeName,
}

spelunk_types::named! { SkipReason {
    Binary = "binary", Damaged = "damaged", Duplicate = "duplicate", Empty = "empty", Encrypted = "encrypted",
    Encoding = "encoding", Excluded = "excluded", FilesMax = "files-max", Filtered = "filtered",
    Hidden = "hidden", Ignored = "ignored", NestedArchive = "nested-archive", NoText = "no-text",
    NoWorker = "no-worker", Secret = "secret", Special = "special", Symlink = "symlink",
    TooCostly = "too-costly", TooLarge = "too-large", Unreadable = "unreadable", UnsafeName = "unsafe-name",
} }

impl From<NotText> for SkipReason {
    fn from(why: NotText) -> Self {
        match why {
            NotText::Binary => Self::Binary,
            NotText::Encoding => Self::Encoding,
        }
    }
}

/// What one source contributed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// The name of the source, which prefixes its documents.
    pub source: String,
    /// The number of documents taken.
    pub documents: u64,
    /// Their size on disk.
    pub bytes: u64,
    /// The number of files left out, by reason. A directory that was not entered counts once.
    pub skipped: BTreeMap<String, u64>,
    /// The first few names for each reason; directories end in `/`.
    pub skipped_examples: BTreeMap<String, Vec<String>>,
    /// The number of files beyond `files_max`. They were not opened, so some of them may not be text.
    pub left_out_total: u64,
    /// The first of them, in the order that decided.
    pub left_out: Vec<String>,
    /// Secrets redacted from the text of documents, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// `name:line` of the first few for each rule.
    pub redactions_examples: BTreeMap<String, Vec<String>>,
}

impl ScanReport {
    /// Example names kept per reason.
    pub const EXAMPLES_MAX: usize = 5;

    /// Names kept of files beyond `files_max`.
    pub const LEFT_OUT_MAX: usize = 1000;

    pub(crate) fn skip(&mut self, reason: SkipReason, name: &str) {
        *self.skipped.entry(reason.name().to_owned()).or_default() += 1;
        let examples = self.skipped_examples.entry(reason.name().to_owned()).or_default();
        if examples.len() < Self::EXAMPLES_MAX {
            examples.push(name.to_owned());
        }
    }

    pub(crate) fn leave_out(&mut self, name: &str) {
        self.skip(SkipReason::FilesMax, name);
        self.left_out_total += 1;
        if self.left_out.len() < Self::LEFT_OUT_MAX {
            self.left_out.push(name.to_owned());
        }
    }

    pub(crate) fn redact(&mut self, name: &str, secrets: &SecretTally) {
        for (rule, count) in &secrets.counts {
            *self.redactions.entry((*rule).to_owned()).or_default() += count;
        }
        for Redaction { line, rule } in &secrets.first {
            let examples = self.redactions_examples.entry((*rule).to_owned()).or_default();
            if examples.len() < Self::EXAMPLES_MAX {
                examples.push(format!("{name}:{line}"));
            }
        }
    }
}
