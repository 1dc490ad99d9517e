//! What an agent records: its initial files, and each tool call with its changes. On replay a tool runs again, and
//! its effect is checked against the journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{BlobId, EventKind, FileChange};

use super::Frame;
use super::failure::durable;
use crate::journal::replay::is_text;
use crate::{FrameError, Stop};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolRecord {
    pub(crate) name: String,
    /// JSON as the model wrote it.
    pub(crate) arguments: String,
    pub(crate) failed: bool,
    pub(crate) output: String,
    pub(crate) files: Vec<ChangedFile>,
    /// The digest of all files afterwards.
    pub(crate) desk: BlobId,
    pub(crate) took_ms: u64,
}

/// A changed file, with what the journal needs to restore it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangedFile {
    Written { path: String, bytes: Arc<[u8]> },
    Appended { path: String, bytes: Arc<[u8]> },
    Removed { path: String },
}

impl ChangedFile {
    fn keep(self, blobs: &Blobs) -> Result<FileChange, JournalError> {
        Ok(match self {
            Self::Written { path, bytes } => FileChange::Written { path, content: blobs.keep_bytes(&bytes)? },
            Self::Appended { path, bytes } => {
                FileChange::Appended { path, content: blobs.keep_bytes(&bytes)? }
            }
            Self::Removed { path } => FileChange::Removed { path },
        })
    }
}

impl Frame {
    /// Records an agent's initial files, or checks them against the journal.
    pub(crate) async fn lay_desk(&self, files: Vec<ChangedFile>, desk: BlobId) -> Result<(), FrameError> {
        if let Some(recorded) = self.run().replay.laid(self.id()) {
            let diverged = Stop::DeskDiverged { frame: self.id().clone() };
            return if *recorded == desk { Ok(()) } else { Err(diverged.into()) };
        }
        let draft = move |blobs: &Blobs| {
            let files = files.into_iter().map(|file| file.keep(blobs)).collect::<Result<_, _>>()?;
            Ok(EventKind::DeskLaid { files, desk })
        };
        Ok(self.record_texts(draft).await?)
    }

    /// Records a tool call, or checks it against the journal: the same call on the same files must have the same
    /// effect.
    pub(crate) async fn record_tool(&self, record: ToolRecord) -> Result<(), FrameError> {
        // The effect may depend on a failure, so the failure is recorded first.
        let past = self.move_past_failures();
        let tool = self.shared.n_tools.fetch_add(1, Ordering::Relaxed);
        durable(past).await?;
        if let Some(recorded) = self.run().replay.tool(self.id(), tool) {
            let is_same = recorded.name == record.name
                && recorded.failed == record.failed
                && recorded.desk == record.desk
                && is_text(&recorded.arguments, &record.arguments)
                && is_text(&recorded.output, &record.output);
            let diverged = Stop::ToolDiverged { frame: self.id().clone(), tool };
            return if is_same { Ok(()) } else { Err(diverged.into()) };
        }
        let draft = move |blobs: &Blobs| {
            let ToolRecord { name, arguments, failed, output, files, desk, took_ms } = record;
            let files = files.into_iter().map(|file| file.keep(blobs)).collect::<Result<_, _>>()?;
            let (arguments, output) = (blobs.keep(&arguments)?, blobs.keep(&output)?);
            Ok(EventKind::ToolRan { tool, name, arguments, failed, output, files, desk, took_ms })
        };
        Ok(self.record_texts(draft).await?)
    }

    /// The recorded refusal of the next tool call, if any: it changed nothing, and a clock could
    /// decide differently now.
    pub(crate) fn refused_tool(&self, name: &str) -> Option<String> {
        let recorded = self.run().replay.tool(self.id(), self.shared.n_tools.load(Ordering::Relaxed))?;
        let is_refused = recorded.failed && recorded.name == name;
        is_refused.then(|| self.run().blobs.text(&recorded.output).ok())?
    }

    /// Questions that were asked after the first answer.
    pub(crate) fn more_questions(&self) -> Result<Vec<String>, FrameError> {
        let run = self.run();
        let texts = run.replay.added().iter().map(|text| run.blobs.text(text));
        Ok(texts.collect::<Result<_, _>>().map_err(Arc::new)?)
    }
}
