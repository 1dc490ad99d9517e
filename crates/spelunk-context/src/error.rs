//! Errors from naming a source to reading its text. Each error names the path and one thing to try.

mod missing_path;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use spelunk_types::{ErrorCode, Explain};

pub use self::missing_path::Nearest;
pub(crate) use self::missing_path::{is_absence, nearest};
use crate::decode::NotText;
use crate::{ExtractError, ServerError, SkipReason};

/// A source or a document that could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SourceError {
    #[error("`{path}` does not exist")]
    NotFound { path: PathBuf, nearest: Nearest },
    #[error("could not read `{path}`")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{name}` is not text: {why}")]
    NotText { name: String, why: NotText },
    #[error("`{name}` is an image, not text")]
    Image { name: String },
    #[error("`{path}` may contain secrets and was not read")]
    Secret { path: PathBuf },
    #[error("`{path}` is neither a file nor a directory")]
    Special { path: PathBuf },
    #[error("no readable documents in {}{}", listed(sources), counted(skipped))]
    Empty { sources: Vec<String>, skipped: BTreeMap<String, u64> },
    #[error("could not open the archive `{name}`")]
    Archive {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("could not extract text from `{name}`")]
    Extract {
        name: String,
        #[source]
        source: ExtractError,
    },
    #[error("could not write unpacked text to the temporary directory")]
    Scratch {
        #[source]
        source: io::Error,
    },
    #[error("could not use the database `{url}`: {why}")]
    Database {
        /// Without the password.
        url: String,
        why: String,
        hint: &'static str,
    },
    #[error("could not read `{url}`: {why}")]
    Objects { url: String, why: String, hint: &'static str },
    #[error("`{glob}` is not a valid glob: {why}")]
    Glob { glob: String, why: String },
    #[error("`{name}` changed since it was scanned")]
    Changed { name: String },
}

impl SourceError {
    /// Adds the path to an I/O error. For a path that does not exist, it looks for a similar one nearby.
    pub(crate) fn from_io(path: &Path, error: io::Error) -> Self {
        if is_absence(&error) {
            Self::NotFound { path: path.to_owned(), nearest: nearest(path) }
        } else {
            Self::Read { path: path.to_owned(), source: error }
        }
    }

    /// The error of a database server.
    pub fn database(url: &str, error: ServerError) -> Self {
        let (why, hint) = match error {
            ServerError::Unusable { why, hint } => (why, hint),
            ServerError::TooLong => (
                "it did not answer in time".to_owned(),
                "check that the server is not overloaded, and try again",
            ),
            ServerError::Rejected(why) => (why, "check what the account may read"),
        };
        Self::Database { url: url.to_owned(), why, hint }
    }
}

impl Explain for SourceError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Glob { .. } => ErrorCode::UsageWrong,
            Self::NotFound { .. } => ErrorCode::SourceNotFound,
            Self::Read { .. }
            | Self::NotText { .. }
            | Self::Image { .. }
            | Self::Secret { .. }
            | Self::Special { .. }
            | Self::Archive { .. }
            | Self::Extract { .. }
            | Self::Database { .. }
            | Self::Objects { .. }
            | Self::Scratch { .. } => ErrorCode::SourceUnreadable,
            Self::Empty { .. } => ErrorCode::SourceEmpty,
            Self::Changed { .. } => ErrorCode::CorpusChanged,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { nearest: Nearest::Sibling(path), .. } => {
                return Some(format!("try `{}`, which does exist", path.display()));
            }
            Self::NotFound { nearest: Nearest::Parent(path), .. } => {
                return Some(format!("look in `{}`, the nearest directory that exists", path.display()));
            }
            Self::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "run as a user who may read it, or exclude it"
            }
            Self::Read { .. } => "check that it is readable, or exclude it",
            Self::NotText { why: NotText::Binary, .. } => "extract its text first and pass that file",
            Self::NotText { why: NotText::Encoding, .. } => {
                "convert it to UTF-8 first, for example with `iconv`"
            }
            Self::Image { .. } => "ask about it with `spelunk ask` and a model that can see images",
            Self::Secret { .. } => "exclude it, or pass `--allow-secrets` if it must be read",
            Self::Special { .. } => "write it to a file first, or pipe it in as standard input",
            Self::Empty { skipped, .. } => hint_for_empty(skipped),
            Self::Archive { .. } => "check that it is complete, for example by unpacking it by hand",
            Self::Extract { source, .. } => source.hint(),
            Self::Database { hint, .. } | Self::Objects { hint, .. } => hint,
            Self::Scratch { .. } => "free some space there, or set `TMPDIR` to another directory",
            Self::Glob { .. } => "use `*` for part of a name, `**` for directories, `\\[` for a bracket",
            Self::Changed { .. } => "start a new run with the current text",
        };
        Some(hint.to_owned())
    }
}

/// Naming a file overrides the filters of a walk, but does not make it text or allow its secrets.
fn hint_for_empty(skipped: &BTreeMap<String, u64>) -> &'static str {
    use SkipReason::{Excluded, Filtered, Hidden, Ignored, Secret, Symlink};
    let was_skipped = |reason: SkipReason| skipped.contains_key(reason.name());
    if was_skipped(Filtered) {
        "loosen the globs, or pass a skipped file itself to read it"
    } else if [Excluded, Hidden, Ignored, Symlink].into_iter().any(was_skipped) {
        "pass a skipped file itself to read it"
    } else if was_skipped(Secret) {
        "pass `--allow-secrets` if they must be read"
    } else {
        "pass a path that contains text files"
    }
}

/// The sources of an empty corpus: the first three, then the number of the others.
fn listed(sources: &[String]) -> String {
    const SHOWN_MAX: usize = 3;
    if sources.is_empty() {
        return "no sources".to_owned();
    }
    let shown: Vec<String> = sources.iter().take(SHOWN_MAX).map(|source| format!("`{source}`")).collect();
    match sources.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn counted(skipped: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = skipped.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    if counts.is_empty() { String::new() } else { format!(": skipped {}", counts.join(", ")) }
}

#[cfg(test)]
mod tests;
