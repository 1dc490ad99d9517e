//! Errors about contexts and their registry. Each error names the context and one thing to try.

use std::io;
use std::path::PathBuf;

use spelunk_types::{ErrorCode, Explain};

use crate::ReadError;
use crate::store::ContextId;

/// An operation on a context that failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("`{id}` is not a valid context id: {why}")]
    BadId { id: String, why: IdFault },
    #[error("the context `{id}` already exists")]
    Duplicate { id: String },
    #[error("there is no context `{id}`")]
    UnknownContext { id: String, nearest: Vec<String> },
    #[error("there is no kind `{kind}`")]
    UnknownKind { kind: String, known: Vec<String> },
    #[error("`{name}` is not a valid kind")]
    BadKindName { name: String },
    #[error("the {what} of `{id}` is too long: {size} {unit}; the maximum is {size_max}")]
    DescriptionTooLong { id: String, what: &'static str, size: u64, size_max: u64, unit: &'static str },
    #[error("the {what} of `{id}` is empty")]
    DescriptionEmpty { id: String, what: &'static str },
    #[error("there are already {contexts_max} contexts, the maximum")]
    Full { contexts_max: u64 },
    #[error("`{uri}` is not a URI")]
    BadUri { uri: String },
    #[error("`{path}` cannot be registered: its name is not UTF-8")]
    PathNotUnicode { path: PathBuf },
    #[error("`{path}` is outside the directories that may be read")]
    OutsideRoots { path: PathBuf, roots: Vec<PathBuf> },
    #[error("`{path}` is a directory")]
    IsDirectory { path: PathBuf },
    #[error("could not read the context `{id}`")]
    Unread {
        id: String,
        #[source]
        source: ReadError,
    },
    #[error(transparent)]
    Request(ReadError),
    #[error("the text of `{id}` is gone from the store")]
    InlineLost { id: String },
    #[error("no loader `{loader}` is registered in this process, so `{id}` cannot be read")]
    LoaderAbsent { id: String, loader: String },
    #[error("the loader `{loader}` of `{id}` returned no text: {reason}")]
    LoaderRefused { id: String, loader: String, reason: String },
    #[error("`{id}` expired")]
    Expired { id: String, expired_at_ms: u64 },
    #[error("`{id}` is too large to load in full: {size_bytes} bytes; the maximum is {bytes_max}")]
    TooLarge { id: String, size_bytes: u64, bytes_max: u64 },
    #[error("session texts use {held_bytes} of {bytes_max} bytes, and {size_bytes} more do not fit")]
    SessionFull { held_bytes: u64, size_bytes: u64, bytes_max: u64 },
    #[error("the registry `{path}` was written by a newer version of spelunk: version {version}")]
    RegistryNewer { path: PathBuf, version: u64 },
    #[error("the registry `{path}` is too large: {size_bytes} bytes; the maximum is {bytes_max}")]
    RegistryTooLarge { path: PathBuf, size_bytes: u64, bytes_max: u64 },
    #[error("{} has locked the registry `{path}` for {waited_ms} ms", holder(*pid))]
    RegistryLocked { path: PathBuf, pid: Option<u32>, waited_ms: u64 },
    #[error("could not use the registry `{path}`")]
    Registry {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is not a memory graph: {reason}")]
    BadGraph { path: PathBuf, reason: String },
    #[error("`{pattern}` is not a valid file pattern: {reason}")]
    BadGlob { pattern: String, reason: String },
}

/// Why an id is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum IdFault {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than 200 bytes")]
    TooLong,
    #[error("it contains non-printing characters or line breaks")]
    Control,
    #[error("it begins or ends with a space")]
    SpaceAtTheEnds,
    /// A word used in the URLs of the HTTP server.
    #[error("it is a reserved word")]
    Reserved,
}

impl StoreError {
    /// Distinguishes a context that cannot be read from an invalid request.
    pub(super) fn unread(id: &ContextId, source: ReadError) -> Self {
        match source {
            ReadError::TooLarge { bytes, bytes_max, .. } => {
                Self::TooLarge { id: id.to_string(), size_bytes: bytes, bytes_max }
            }
            // An inline text is read from a file with a meaningless name: use the id instead.
            ReadError::PageOutOfRange { page, n_pages, .. } => {
                Self::Request(ReadError::PageOutOfRange { name: id.to_string(), page, n_pages })
            }
            ReadError::LineOutOfRange { line, n_lines, .. } => {
                Self::Request(ReadError::LineOutOfRange { name: id.to_string(), line, n_lines })
            }
            ReadError::ValueOutOfRange { .. } | ReadError::Pattern(_) | ReadError::Cancelled => {
                Self::Request(source)
            }
            ReadError::Directory { .. }
            | ReadError::MadeTooLarge { .. }
            | ReadError::Changed { .. }
            | ReadError::Source(_) => Self::Unread { id: id.to_string(), source },
        }
    }
}

impl Explain for StoreError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unread { source, .. } | Self::Request(source) => source.code(),
            Self::Duplicate { .. } => ErrorCode::ContextExists,
            Self::BadId { .. }
            | Self::UnknownKind { .. }
            | Self::BadKindName { .. }
            | Self::DescriptionTooLong { .. }
            | Self::DescriptionEmpty { .. }
            | Self::BadUri { .. }
            | Self::BadGlob { .. } => ErrorCode::UsageWrong,
            Self::UnknownContext { .. } => ErrorCode::ContextNotFound,
            Self::PathNotUnicode { .. }
            | Self::OutsideRoots { .. }
            | Self::IsDirectory { .. }
            | Self::InlineLost { .. }
            | Self::LoaderAbsent { .. }
            | Self::LoaderRefused { .. }
            | Self::Expired { .. }
            | Self::TooLarge { .. }
            | Self::SessionFull { .. }
            | Self::BadGraph { .. } => ErrorCode::SourceUnreadable,
            Self::RegistryNewer { .. } => ErrorCode::RegistryNewer,
            Self::Full { .. }
            | Self::RegistryLocked { .. }
            | Self::RegistryTooLarge { .. }
            | Self::Registry { .. } => ErrorCode::WorkspaceUnusable,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unread { source, .. } | Self::Request(source) => return source.hint(),
            Self::BadId { why: IdFault::Reserved, .. } => "put a prefix before it, as in `document:stats`",
            Self::BadId { .. } => "use a short id on one line, such as `project:notes`",
            Self::Duplicate { .. } => "use another id, or pass `--replace` to replace the context",
            Self::UnknownContext { nearest, .. } if nearest.is_empty() => {
                "list the contexts to see their ids"
            }
            Self::UnknownContext { nearest, .. } => {
                return Some(format!("did you mean {}?", ticked(nearest, " or ")));
            }
            Self::UnknownKind { known, .. } => return Some(format!("the kinds are {}", ticked(known, ", "))),
            Self::BadKindName { .. } => {
                "use 1 to 64 lowercase letters, digits, `_`, `-`, and no built-in name"
            }
            Self::DescriptionTooLong { .. } => "shorten it, or put it in the text of the context",
            Self::DescriptionEmpty { what, .. } => return Some(format!("give the {what}")),
            Self::Full { .. } => "remove contexts that you no longer need",
            Self::BadUri { .. } => "write it with its scheme, as in `file:///tmp/a.txt`",
            Self::PathNotUnicode { .. } => "rename the file",
            // A remote client need not know where the directories are on this machine.
            Self::OutsideRoots { .. } => "choose a file below a directory of the server (`--root`)",
            Self::IsDirectory { .. } => "register the files of the directory instead",
            Self::InlineLost { .. } => "register the text again",
            Self::LoaderAbsent { loader, .. } => {
                return Some(format!("register the loader `{loader}` first"));
            }
            Self::LoaderRefused { .. } => "try again, or check the source of the loader",
            Self::Expired { .. } => "call the tool again and register its new result",
            Self::TooLarge { .. } => "grep it or read it in pages",
            Self::SessionFull { .. } => "remove session contexts that you no longer need",
            Self::RegistryNewer { .. } => "use the newer version of spelunk",
            Self::RegistryLocked { pid: Some(pid), .. } => {
                return Some(format!("wait for process {pid}, or stop it if it hangs"));
            }
            Self::RegistryLocked { pid: None, .. } => "wait for the other process, or stop it if it hangs",
            Self::RegistryTooLarge { .. } | Self::Registry { .. } => {
                "check the file, or move it away to start with an empty registry"
            }
            Self::BadGraph { .. } => {
                "give a JSON object with `nodes` and `edges`, or one node or edge per line"
            }
            Self::BadGlob { .. } => "use a pattern such as `*.md` or `**/*.md`",
        };
        Some(hint.to_owned())
    }
}

fn holder(pid: Option<u32>) -> String {
    let known = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!("another process{known}")
}

fn ticked(words: &[String], between: &str) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(between)
}
