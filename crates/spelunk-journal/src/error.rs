//! Errors of durable state, identified by run, line and file name.

use std::io;
use std::path::Path;

use spelunk_types::{BlobId, ErrorCode, Explain, JOURNAL_FORMAT, RunId};

/// Durable state that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum JournalError {
    #[error("could not write `{name}`")]
    Write {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("could not read `{name}`")]
    Read {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("journal line {line} of run `{}` is damaged: {what}", run.short())]
    Damaged { run: RunId, line: u64, what: String },
    #[error("run `{}` has a journal of format {format}; this engine reads up to {JOURNAL_FORMAT}", run.short())]
    Newer { run: RunId, format: u64 },
    #[error("run `{}` holds an event `{name}` (line {line}) that this engine does not know", run.short())]
    UnknownEvent { run: RunId, line: u64, name: String },
    #[error("no run is called `{name}`")]
    NotFound { name: String },
    #[error("there are no runs here")]
    NoRuns,
    #[error("{} runs are called `{name}…`", runs.len())]
    Ambiguous { name: String, runs: Vec<RunId> },
    #[error("another process{} is working on run `{}`", pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(), run.short())]
    Locked { run: RunId, pid: Option<u32> },
    #[error("runs are active in this workspace")]
    WorkspaceBusy,
    #[error("blob `{blob}` is {what}")]
    Blob { blob: BlobId, what: &'static str },
    #[error("run `{}` is here already", run.short())]
    RunExists { run: RunId },
    #[error("the archive `{name}` {what}")]
    Archive { name: String, what: String },
    #[error("run `{}` is too large for an archive: {what}", run.short())]
    ArchiveTooLarge { run: RunId, what: String },
    #[error("could not use the workspace `{path}`")]
    Workspace {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the workspace `{path}` says `{format}`, which this engine does not know")]
    WorkspaceNewer { path: String, format: String },
}

impl JournalError {
    /// The error for a workspace that cannot be used.
    pub fn unusable(root: &Path, source: io::Error) -> Self {
        Self::Workspace { path: root.display().to_string(), source }
    }
}

impl Explain for JournalError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Write { .. } => ErrorCode::JournalUnwritable,
            Self::Damaged { .. } => ErrorCode::JournalDamaged,
            Self::Newer { .. } | Self::UnknownEvent { .. } => ErrorCode::JournalNewer,
            Self::NotFound { .. } | Self::NoRuns => ErrorCode::RunNotFound,
            Self::Ambiguous { .. } => ErrorCode::RunAmbiguous,
            Self::Locked { .. } | Self::WorkspaceBusy => ErrorCode::RunLocked,
            Self::Blob { .. } => ErrorCode::BlobDamaged,
            Self::RunExists { .. } | Self::ArchiveTooLarge { .. } => ErrorCode::UsageWrong,
            Self::Archive { .. } => ErrorCode::ArchiveDamaged,
            Self::Read { .. } | Self::Workspace { .. } | Self::WorkspaceNewer { .. } => {
                ErrorCode::WorkspaceUnusable
            }
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Write { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("ask again: what was recorded of the run is gone".into())
            }
            Self::Write { source, .. } => {
                let is_limited = source.kind() == io::ErrorKind::FileTooLarge;
                let step = if is_limited { "raise `ulimit -f`" } else { "free some space" };
                Some(format!("{step}, then run `spelunk resume`: nothing acknowledged is lost"))
            }
            Self::Damaged { run, line, .. } => {
                let short = run.short();
                Some(format!(
                    "run `spelunk repair {short}` to keep the first {} events",
                    line.saturating_sub(1)
                ))
            }
            Self::Newer { .. } | Self::UnknownEvent { .. } | Self::WorkspaceNewer { .. } => {
                Some("use the engine that wrote it, or a newer one".into())
            }
            Self::NotFound { .. } => Some("run `spelunk run list` to see the runs of this workspace".into()),
            Self::NoRuns => Some("ask something first, such as `spelunk ask \"what is this?\" .`".into()),
            Self::Ambiguous { runs, .. } => {
                let names: Vec<&str> = runs.iter().map(RunId::short).collect();
                Some(format!("name one of {}", names.join(", ")))
            }
            Self::Locked { run, .. } => Some(format!("watch it with `spelunk tail {}`", run.short())),
            Self::WorkspaceBusy => Some("try again when they have finished".into()),
            Self::RunExists { run } => Some(format!(
                "look at it with `spelunk run show {}`; its archive is left as it is",
                run.short()
            )),
            Self::Archive { .. } => Some("restore it from a backup: nothing was unpacked".into()),
            Self::ArchiveTooLarge { .. } => {
                Some("leave the run where it is, or remove it with `spelunk run clean`".into())
            }
            Self::Blob { .. } => Some("restore the workspace from a backup, or ask again".into()),
            Self::Workspace { .. } => {
                Some("name a directory you may write to with `--set workspace.path=DIR`".into())
            }
            Self::Read { .. } => None,
        }
    }
}
