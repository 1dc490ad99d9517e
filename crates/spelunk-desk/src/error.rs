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
    #[error("`{path}` is there already")]
    Exists { path: DeskPath },
    #[error("`{path}` is a directory that is not empty")]
    NotEmpty { path: DeskPath },
    #[error(
        "`{path}` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`"
    )]
    ReadOnly { path: DeskPath },
    #[error("`{path}` only grows through the {tool} tool; call that instead")]
    ToolOnly { path: DeskPath, tool: &'static str },
    #[error(
        "`{path}` would have {bytes} bytes, and a file has at most {bytes_max}; split it into several files"
    )]
    FileTooLarge { path: DeskPath, bytes: u64, bytes_max: u64 },
    #[error(
        "the desk would hold {bytes} bytes, and it holds at most {bytes_max}; remove files under `scratch/`"
    )]
    Full { bytes: u64, bytes_max: u64 },
    #[error("the desk holds at most {files_max} files and directories; remove some under `scratch/`")]
    TooManyFiles { files_max: u64 },
    #[error("`{path}` is not text; it has {bytes} bytes")]
    NotText { path: DeskPath, bytes: u64 },
    #[error(
        "`{path}` has {bytes} bytes, and at most {bytes_max} are read at once; use Grep, or Read with `offset` and `limit`"
    )]
    TooLarge { path: DeskPath, bytes: u64, bytes_max: u64 },
    #[error("`{path}` has no line {line}: it has {n_lines}")]
    LineOutOfRange { path: DeskPath, line: u64, n_lines: u64 },
    #[error("there is no tool `{name}`; there are {known}")]
    UnknownTool { name: String, known: String },
    #[error("the arguments of {tool} are wrong: {why}")]
    Arguments { tool: &'static str, why: String },
    #[error("`{old}` is not in `{path}`{near}")]
    EditMiss { path: DeskPath, old: String, near: String },
    #[error(
        "`{old}` is {n_found} times in `{path}`, on lines {lines}; give more of the text around it, or set `all`"
    )]
    EditAmbiguous { path: DeskPath, old: String, n_found: u64, lines: String },
    #[error("`{glob}` is no glob: {why}")]
    Glob { glob: String, why: String },
    #[error("there is no buffer `{name}`{there}")]
    NoBuffer { name: String, there: String },
    #[error("{what} holds at most {max}; it would hold {would}")]
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
        return format!("{error}; correct it, or set `literal` to find it as it is");
    }
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

impl Explain for DeskError {
    /// Whoever wrote the arguments has to act; the message says how, so there is no separate hint.
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::SourceNotFound,
            Self::Read(error) => error.code(),
            Self::NotText { .. } | Self::Damaged { .. } => ErrorCode::SourceUnreadable,
            Self::Path(_)
            | Self::IsDirectory { .. }
            | Self::NotDirectory { .. }
            | Self::Exists { .. }
            | Self::NotEmpty { .. }
            | Self::ReadOnly { .. }
            | Self::ToolOnly { .. }
            | Self::FileTooLarge { .. }
            | Self::Full { .. }
            | Self::TooManyFiles { .. }
            | Self::TooLarge { .. }
            | Self::LineOutOfRange { .. }
            | Self::UnknownTool { .. }
            | Self::Arguments { .. }
            | Self::EditMiss { .. }
            | Self::EditAmbiguous { .. }
            | Self::Glob { .. }
            | Self::NoBuffer { .. }
            | Self::TooMuch { .. }
            | Self::Shell { .. } => ErrorCode::UsageWrong,
        }
    }
}
