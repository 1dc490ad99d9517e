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
    #[error("run `{}` has a journal of format {format}; this version reads formats up to {JOURNAL_FORMAT}", run.short())]
    Newer { run: RunId, format: u64 },
    #[error("run `{}` contains an event `{name}` (line {line}) that this version does not support", run.short())]
    UnknownEvent { run: RunId, line: u64, name: String },
    #[error("there is no run `{name}`")]
    NotFound { name: String },
    #[error("there are no runs here")]
    NoRuns,
    #[error("{} runs begin with `{name}`", runs.len())]
    Ambiguous { name: String, runs: Vec<RunId> },
    #[error("another process{} is working on run `{}`", pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(), run.short())]
    Locked { run: RunId, pid: Option<u32> },
    #[error("node `{node}` is working on run `{}`", run.short())]
    Leased { run: RunId, node: String },
    #[error("runs are active in this workspace")]
    WorkspaceBusy,
    #[error("blob `{blob}` is {what}")]
    Blob { blob: BlobId, what: &'static str },
    #[error("run `{}` already exists", run.short())]
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
    #[error("the workspace `{path}` has the format `{format}`, which this version does not support")]
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
            Self::Locked { .. } | Self::Leased { .. } | Self::WorkspaceBusy => ErrorCode::RunLocked,
            Self::Blob { .. } => ErrorCode::BlobDamaged,
            Self::RunExists { .. } | Self::ArchiveTooLarge { .. } => ErrorCode::UsageWrong,
            Self::Archive { .. } => ErrorCode::ArchiveDamaged,
            Self::Read { .. } | Self::Workspace { .. } | Self::WorkspaceNewer { .. } => {
                ErrorCode::WorkspaceUnusable
            }
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Write { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "ask again: the record of the run is lost".to_owned()
            }
            Self::Write { source, .. } => {
                let is_limited = source.kind() == io::ErrorKind::FileTooLarge;
                let step = if is_limited { "raise `ulimit -f`" } else { "free some space" };
                format!("{step}, then run `spelunk resume`: nothing acknowledged is lost")
            }
            Self::Damaged { run, line, .. } => {
                let n_kept = line.saturating_sub(1);
                format!("run `spelunk repair {}` to keep the first {n_kept} events", run.short())
            }
            Self::Newer { .. } | Self::UnknownEvent { .. } | Self::WorkspaceNewer { .. } => {
                "use the version that wrote it, or a newer one".to_owned()
            }
            Self::NotFound { .. } => "run `spelunk run list` to see the runs of this workspace".to_owned(),
            Self::NoRuns => "ask something first, such as `spelunk ask \"what is this?\" .`".to_owned(),
            Self::Ambiguous { runs, .. } => {
                let names: Vec<&str> = runs.iter().map(RunId::short).collect();
                format!("choose one of {}", names.join(", "))
            }
            Self::Locked { run, .. } | Self::Leased { run, .. } => {
                format!("watch it with `spelunk tail {}`", run.short())
            }
            Self::WorkspaceBusy => "try again when they have ended".to_owned(),
            Self::RunExists { run } => {
                format!("see it with `spelunk run show {}`; its archive was not changed", run.short())
            }
            Self::Archive { .. } => "restore it from a backup: nothing was unpacked".to_owned(),
            Self::ArchiveTooLarge { .. } => {
                "keep the run as it is, or remove it with `spelunk run clean`".to_owned()
            }
            Self::Blob { .. } => "restore the workspace from a backup, or ask again".to_owned(),
            Self::Workspace { .. } => {
                "choose a writable directory with `--set workspace.path=DIR`".to_owned()
            }
            Self::Read { .. } => return None,
        })
    }
}
