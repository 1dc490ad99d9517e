//! What a strategy records besides its calls: notes, warnings, cells, an agent's files and tool calls, findings of
//! earlier runs, and observations that another process might make differently. On replay, existing records are kept and
//! not repeated: cells and tools run again, and their effects are checked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use spelunk_index::{IndexProgress, Notice};
use spelunk_journal::{Blobs, JournalError, ReplyCache};
use spelunk_types::{
    AnalystReport, BlobId, CallId, CellOutcome, Confidence, Durability, EffectId, EventKind, FileChange, Text,
};

use super::failure::durable;
use super::{Counters, Frame};
use crate::journal::replay::{CellRecord, Ordinals, is_text};
use crate::journal::wire;
use crate::sync::blocking;
use crate::{JournalResult, Result, Stop};

/// How many times its limit recorded work may take on replay: the machine may be slower or busier
/// now, and the journal has the outcome.
pub(crate) const REPLAY_TIME_FACTOR: u64 = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolRecord {
    pub(crate) name: String,
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
    pub(crate) fn show(&self, kind: EventKind) {
        self.run().writer.show(self.id(), kind);
    }

    /// Reports indexing progress at most a thousand times; the index itself reports every few passages.
    pub(crate) fn show_indexing(&self) -> impl FnMut(IndexProgress) {
        let mut shown = None;
        move |so_far| {
            let IndexProgress { bytes_done: done, bytes_total: total, .. } = so_far;
            let share = done.saturating_mul(1000) / total.max(1);
            if shown.replace(share) == Some(share) {
                return;
            }
            self.show(EventKind::ProgressTicked {
                what: "indexing".to_owned(),
                done,
                total,
                documents_done: Some(so_far.documents_done),
                documents_total: Some(so_far.documents_total),
            });
        }
    }

    /// Records an event that refers to long texts. It is queued, not written, when this returns.
    pub(super) async fn record_texts(
        &self,
        draft: impl FnOnce(&Blobs) -> Result<EventKind, JournalError> + Send + 'static,
    ) -> JournalResult {
        self.run().writer.record_draft(self.id(), Durability::Buffered, Box::new(draft)).await
    }

    /// Records something that the strategy learnt and that has no outcome of its own.
    pub(crate) async fn note(&self, kind: EventKind) -> Result<()> {
        let past = self.move_past_failures();
        let idx = self.shared.counters.notes.fetch_add(1, Ordering::Relaxed);
        durable(past).await?;
        if idx >= self.run().replay.n_noted(self.id()) {
            self.run().writer.record(self.id(), kind).await?;
        }
        Ok(())
    }

    /// Warns the user. A resumed run warns again, because it may still matter.
    pub(crate) async fn warn(&self, message: String, hint: String) -> Result<()> {
        Ok(self.run().writer.record(self.id(), EventKind::WarningRaised { message, hint }).await?)
    }

    pub(crate) async fn warn_of(&self, notice: &Notice) -> Result<()> {
        self.warn(notice.to_string(), notice.hint().unwrap_or_default().to_owned()).await
    }

    /// Access to everything from outside that is neither a reply nor a child: the remaining budget,
    /// search results. It is read once and then taken from the journal. The ordinal is taken now,
    /// before anything is awaited, and on replay the request must be the recorded one.
    pub(crate) fn observe<R>(
        &self,
        what: &str,
        reading: R,
    ) -> impl Future<Output = Result<String>> + Send + use<R>
    where
        R: Future<Output = Result<String>> + Send,
    {
        let (frame, what, past) = (self.clone(), asked_for(what), self.move_past_failures());
        let ordinal = self.shared.counters.observed.fetch_add(1, Ordering::Relaxed);
        async move {
            let run = frame.run();
            durable(past).await?;
            if let Some(recorded) = run.replay.observed(frame.id(), ordinal) {
                if recorded.what != what {
                    let (frame, recorded) = (frame.id().clone(), recorded.what.clone());
                    return Err(Stop::ObservationDiverged { frame, recorded, now: what }.into());
                }
                return Ok(run.blobs.text(&recorded.value).map_err(Arc::new)?);
            }
            let value = reading.await?;
            let kept = value.clone();
            let draft = move |blobs: &Blobs| {
                let value = blobs.keep(&kept)?;
                Ok(EventKind::ValueObserved { ordinal: Some(ordinal), what, value })
            };
            frame.record_texts(draft).await?;
            Ok(value)
        }
    }

    pub(crate) fn observes_next(&self, what: &str) -> bool {
        let ordinal = self.shared.counters.observed.load(Ordering::Relaxed);
        self.run().replay.observed(self.id(), ordinal).is_some_and(|recorded| recorded.what == what)
    }

    /// The next cell, if the journal records it as stopped by a sandbox limit: it is not run again,
    /// because a clock could decide differently. The ordinals that it used are taken.
    pub(crate) fn limited_cell(&self) -> Option<CellRecord> {
        let idx = self.shared.counters.cells.load(Ordering::Relaxed);
        let recorded = self.run().replay.cell(self.id(), idx)?;
        if !matches!(recorded.outcome, CellOutcome::Limited { .. }) {
            return None;
        }
        let (taken, counters) = (recorded.taken, &self.shared.counters);
        counters.calls.fetch_add(taken.calls, Ordering::Relaxed);
        counters.children.fetch_add(taken.children, Ordering::Relaxed);
        counters.observed.fetch_add(taken.observed, Ordering::Relaxed);
        counters.effects.fetch_add(taken.effects, Ordering::Relaxed);
        let text = |text: &Text| self.run().blobs.text(text).ok();
        Some(CellRecord {
            code: text(&recorded.code)?,
            outcome: recorded.outcome.clone(),
            output: text(&recorded.output)?,
            taken,
            took_ms: recorded.took_ms,
        })
    }

    /// Whether the journal contains something that this frame has not reached yet. Until then, no
    /// timeout may stop what did not time out before.
    pub(crate) fn is_replaying(&self) -> bool {
        let (replay, ordinals) = (&self.run().replay, self.ordinals());
        let call = CallId { frame: self.id().clone(), ordinal: ordinals.calls };
        replay.cell(self.id(), self.shared.counters.cells.load(Ordering::Relaxed)).is_some()
            || replay.tool(self.id(), self.shared.counters.tools.load(Ordering::Relaxed)).is_some()
            || replay.has_call(&call)
            || replay.has_frame(&self.id().child(ordinals.children))
            || replay.observed(self.id(), ordinals.observed).is_some()
            || replay.has_effect(&EffectId { frame: self.id().clone(), ordinal: ordinals.effects })
    }

    /// Skips the ids of children that are not opened, so that later children keep theirs if a
    /// raised limit opens these.
    pub(crate) fn pass_over(&self, n_children: usize) {
        let n_children = u32::try_from(n_children).unwrap_or(u32::MAX);
        self.shared.counters.children.fetch_add(n_children, Ordering::Relaxed);
    }

    pub(crate) fn ordinals(&self) -> Ordinals {
        let count = |n: &AtomicU32| n.load(Ordering::Relaxed);
        let Counters { calls, children, observed, effects, .. } = &self.shared.counters;
        Ordinals {
            calls: count(calls),
            children: count(children),
            observed: count(observed),
            effects: count(effects),
        }
    }

    /// Records a cell, or checks it against the journal: the same code on the same text must end the same way.
    pub(crate) async fn record_cell(&self, record: CellRecord) -> Result<()> {
        // The output may depend on a failure, so the failure is recorded first.
        let past = self.move_past_failures();
        let cell = self.shared.counters.cells.fetch_add(1, Ordering::Relaxed);
        durable(past).await?;
        if let Some(recorded) = self.run().replay.cell(self.id(), cell) {
            let is_same = recorded.outcome == record.outcome
                && is_text(&recorded.code, &record.code)
                && is_text(&recorded.output, &record.output);
            return same_or(is_same, || format!("cell {cell} of frame `{}` ended differently", self.id()));
        }
        let draft = move |blobs: &Blobs| {
            let CellRecord { code, outcome, output, taken, took_ms } = record;
            let Ordinals { calls, children, observed, effects } = taken;
            let (code, output) = (blobs.keep(&code)?, blobs.keep(&output)?);
            Ok(EventKind::CellRan {
                cell,
                code,
                outcome,
                output,
                calls,
                children,
                observed,
                effects,
                took_ms,
            })
        };
        Ok(self.record_texts(draft).await?)
    }

    /// Records an agent's initial files, or checks them against the journal.
    pub(crate) async fn lay_desk(&self, files: Vec<ChangedFile>, desk: BlobId) -> Result<()> {
        if let Some(recorded) = self.run().replay.laid.get(self.id()) {
            return same_or(*recorded == desk, || format!("the files of frame `{}` differ", self.id()));
        }
        let draft = move |blobs: &Blobs| {
            let files = files.into_iter().map(|file| file.keep(blobs)).collect::<Result<_, _>>()?;
            Ok(EventKind::DeskLaid { files, desk })
        };
        Ok(self.record_texts(draft).await?)
    }

    /// Records a tool call, or checks it against the journal: the same call on the same files must have the same
    /// effect.
    pub(crate) async fn record_tool(&self, record: ToolRecord) -> Result<()> {
        // The effect may depend on a failure, so the failure is recorded first.
        let past = self.move_past_failures();
        let tool = self.shared.counters.tools.fetch_add(1, Ordering::Relaxed);
        durable(past).await?;
        if let Some(recorded) = self.run().replay.tool(self.id(), tool) {
            let is_same = recorded.name == record.name
                && recorded.failed == record.failed
                && recorded.desk == record.desk
                && is_text(&recorded.arguments, &record.arguments)
                && is_text(&recorded.output, &record.output);
            return same_or(is_same, || format!("tool call {tool} of frame `{}` differs", self.id()));
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
        let recorded =
            self.run().replay.tool(self.id(), self.shared.counters.tools.load(Ordering::Relaxed))?;
        let is_refused = recorded.failed && recorded.name == name;
        is_refused.then(|| self.run().blobs.text(&recorded.output).ok())?
    }

    pub(crate) fn more_questions(&self) -> Result<Vec<String>> {
        let run = self.run();
        let texts = run.replay.added.iter().map(|text| run.blobs.text(text));
        Ok(texts.collect::<Result<_, _>>().map_err(Arc::new)?)
    }

    /// The reports under these keys, by position. The keys are computed only if the cache is used.
    pub(crate) async fn recall(
        &self,
        keys: impl FnOnce() -> Vec<BlobId>,
    ) -> Result<BTreeMap<u64, AnalystReport>> {
        let run = self.run();
        if let Some(recorded) = run.replay.recalled.get(self.id()) {
            let text = run.blobs.text(recorded).map_err(Arc::new)?;
            return Ok(wire::read_reports(&text));
        }
        // The previous process used no cache and recorded what followed, so this one must not use it either.
        let went_without = run.replay.n_noted(self.id()) > 0;
        if went_without || !run.settings.cache_replies {
            return Ok(BTreeMap::new());
        }
        let (replies, keys) = (run.replies.clone(), keys());
        let found = blocking(move || {
            let report = |(idx, key)| Some((idx as u64, serde_json::from_slice(&replies.get(key)?).ok()?));
            keys.iter().enumerate().filter_map(report).collect::<BTreeMap<_, _>>()
        })
        .await;
        let (units, text) = (found.len() as u64, wire::write_reports(&found));
        let confidence = Confidence::merged(found.values().filter_map(AnalystReport::confidence));
        let draft = move |blobs: &Blobs| {
            Ok(EventKind::FindingsRecalled { units, reports: blobs.keep(&text)?, confidence })
        };
        self.record_texts(draft).await?;
        Ok(found)
    }

    /// Caches reports for later runs. A failure costs money later, not correctness now.
    pub(crate) fn keep_findings(&self, records: impl FnOnce() -> Vec<(BlobId, AnalystReport)>) -> Result<()> {
        if !self.run().settings.cache_replies {
            return Ok(());
        }
        let records = records();
        let chore = move |replies: &ReplyCache| {
            for (key, report) in &records {
                let record = serde_json::to_vec(report).expect("texts and numbers always serialise");
                drop(replies.put(key, &record));
            }
        };
        Ok(self.run().writer.chore(Box::new(chore))?)
    }
}

fn same_or(is_same: bool, what: impl FnOnce() -> String) -> Result<()> {
    if is_same { Ok(()) } else { Err(Stop::Diverged { what: what() }.into()) }
}

/// The request as recorded: a long one is shortened to its beginning and its hash.
fn asked_for(what: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 160;
    match what.char_indices().nth(SHOWN_CHARS_MAX) {
        None => what.to_owned(),
        Some((at, _)) => {
            let shown = what.get(..at).unwrap_or_default();
            format!("{shown}… {}", spelunk_journal::digest(what.as_bytes()))
        }
    }
}
