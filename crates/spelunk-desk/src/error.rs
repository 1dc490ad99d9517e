//! Errors of a desk or a tool. The model reads these messages, so each names the object and what to do instead.

use spelunk_context::ReadError;
use spelunk_types::{ErrorCode, Explain};

use crate::{DeskPath, PathError};

/// An operation that a desk refused.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DeskError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("`{path}` does not exist{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    NotFound { path: DeskPath, nearest: Option<DeskPath> },
    #[error("`{path}` is a directory; name a file in it")]
    IsDirectory { path: DeskPath },
    #[error("`{path}` is a file, not a directory")]
    NotDirectory { path: DeskPath },
    #[error("`{path}` already exists")]
    Exists { path: DeskPath },
    #[error("`{path}` is a directory that is not empty")]
    NotEmpty { path: DeskPath },
    #[error(
        "`{path}` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`"
    )]
    ReadOnly { path: DeskPath },
    #[error("`{path}` can only be appended to with the {tool} tool")]
    ToolOnly { path: DeskPath, tool: &'static str },
    #[error(
        "`{path}` would have {bytes} bytes; the maximum per file is {bytes_max}; split it into several files"
    )]
    FileTooLarge { path: DeskPath, bytes: u64, bytes_max: u64 },
    #[error("the folder would have {bytes} bytes; the maximum is {bytes_max}; remove files under `scratch/`")]
    Full { bytes: u64, bytes_max: u64 },
    #[error("the folder can have at most {files_max} files and directories; remove some under `scratch/`")]
    TooManyFiles { files_max: u64 },
    #[error("`{path}` is a binary file of {bytes} bytes")]
    NotText { path: DeskPath, bytes: u64 },
    #[error(
        "`{path}` has {bytes} bytes; at most {bytes_max} can be read at once; use Grep, or Read with `offset` and `limit`"
    )]
    TooLarge { path: DeskPath, bytes: u64, bytes_max: u64 },
    #[error("`{path}` has no line {line}: it has {n_lines}")]
    LineOutOfRange { path: DeskPath, line: u64, n_lines: u64 },
    #[error("there is no tool `{name}`; the tools are {known}")]
    UnknownTool { name: String, known: String },
    #[error("invalid arguments for {tool}: {why}")]
    Arguments { tool: &'static str, why: String },
    #[error("`{old}` was not found in `{path}`{near}")]
    EditMiss { path: DeskPath, old: String, near: String },
    #[error(
        "`{old}` occurs {n_found} times in `{path}`, on lines {lines}; include more of the text around it, or set `all`"
    )]
    EditAmbiguous { path: DeskPath, old: String, n_found: u64, lines: String },
    #[error("`{glob}` is not a valid glob: {why}")]
    Glob { glob: String, why: String },
    #[error("there is no buffer `{name}`{there}")]
    NoBuffer { name: String, there: String },
    #[error("{what} can have at most {max}; it would have {would}")]
    TooMuch { what: String, max: u64, would: u64 },
    #[error("`{path}` is damaged: {why}")]
    Damaged { path: DeskPath, why: String },
    #[error("{}", read_message(.0))]
    Read(#[from] ReadError),
    #[error("the shell could not run: {why}")]
    Shell { why: String },
}

/// The message of a read error with its hint, which the model cannot ask for.
fn read_message(error: &ReadError) -> String {
    if let ReadError::Pattern(error) = error {
        return format!("{error}; correct it, or set `literal` to search for a literal string");
    }
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

impl Explain for DeskError {
    /// Whoever wrote the arguments has to act; the message says how, so there is no separate hint.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other operation was asked for wrongly")]
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::SourceNotFound,
            Self::Read(error) => error.code(),
            Self::NotText { .. } | Self::Damaged { .. } => ErrorCode::SourceUnreadable,
            _ => ErrorCode::UsageWrong,
        }
    }
}
