//! What a strategy records besides its calls: notes, warnings, cells, and observations that another
//! process might make differently. On replay, existing records are kept and not repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use spelunk_index::IndexProgress;
use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{CallId, CellOutcome, Durability, EffectId, EventKind, Text};

use super::failure::durable;
use super::{Frame, Shared};
use crate::journal::replay::{CellRecord, Ordinals, is_text};
use crate::{FrameError, Stop};

/// How many times its limit recorded work may take on replay: the machine may be slower or busier
/// now, and the journal has the outcome.
pub(crate) const REPLAY_TIME_FACTOR: u64 = 10;

impl Frame {
    /// Sends watchers an event that is not recorded.
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
    ) -> Result<(), Arc<JournalError>> {
        self.run().writer.record_draft(self.id(), Durability::Buffered, Box::new(draft)).await
    }

    /// Records something that the strategy learnt and that has no outcome of its own.
    pub(crate) async fn note(&self, kind: EventKind) -> Result<(), FrameError> {
        let past = self.move_past_failures();
        let idx = self.shared.n_notes.fetch_add(1, Ordering::Relaxed);
        durable(past).await?;
        if idx >= self.run().replay.n_noted(self.id()) {
            self.run().writer.record(self.id(), kind).await?;
        }
        Ok(())
    }

    /// Warns the user. A resumed run warns again, because it may still matter.
    pub(crate) async fn warn(&self, message: String, hint: String) -> Result<(), FrameError> {
        Ok(self.run().writer.record(self.id(), EventKind::WarningRaised { message, hint }).await?)
    }

    /// Access to everything from outside that is neither a reply nor a child: the remaining budget,
    /// search results. It is read once and then taken from the journal. The ordinal is taken now,
    /// before anything is awaited, and on replay the request must be the recorded one.
    pub(crate) fn observe<R>(
        &self,
        what: &str,
        reading: R,
    ) -> impl Future<Output = Result<String, FrameError>> + Send + use<R>
    where
        R: Future<Output = Result<String, FrameError>> + Send,
    {
        let (frame, what, past) = (self.clone(), asked_for(what), self.move_past_failures());
        let ordinal = self.shared.n_observed.fetch_add(1, Ordering::Relaxed);
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
        let ordinal = self.shared.n_observed.load(Ordering::Relaxed);
        self.run().replay.observed(self.id(), ordinal).is_some_and(|recorded| recorded.what == what)
    }

    /// The next cell, if the journal records it as stopped by a sandbox limit: it is not run again,
    /// because a clock could decide differently. The ordinals that it used are taken.
    pub(crate) fn limited_cell(&self) -> Option<CellRecord> {
        let idx = self.shared.n_cells.load(Ordering::Relaxed);
        let recorded = self.run().replay.cell(self.id(), idx)?;
        if !matches!(recorded.outcome, CellOutcome::Limited { .. }) {
            return None;
        }
        let taken = recorded.taken;
        self.shared.n_calls.fetch_add(taken.calls, Ordering::Relaxed);
        self.shared.n_children.fetch_add(taken.children, Ordering::Relaxed);
        self.shared.n_observed.fetch_add(taken.observed, Ordering::Relaxed);
        self.shared.n_effects.fetch_add(taken.effects, Ordering::Relaxed);
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
        replay.cell(self.id(), self.shared.n_cells.load(Ordering::Relaxed)).is_some()
            || replay.tool(self.id(), self.shared.n_tools.load(Ordering::Relaxed)).is_some()
            || replay.has_call(&call)
            || replay.has_frame(&self.id().child(ordinals.children))
            || replay.observed(self.id(), ordinals.observed).is_some()
            || replay.has_effect(&EffectId { frame: self.id().clone(), ordinal: ordinals.effects })
    }

    /// Skips the ids of children that are not opened, so that later children keep theirs if a
    /// raised limit opens these.
    pub(crate) fn pass_over(&self, n_children: usize) {
        let n_children = u32::try_from(n_children).unwrap_or(u32::MAX);
        self.shared.n_children.fetch_add(n_children, Ordering::Relaxed);
    }

    pub(crate) fn ordinals(&self) -> Ordinals {
        let count = |n: &AtomicU32| n.load(Ordering::Relaxed);
        let Shared { n_calls, n_children, n_observed, n_effects, .. } = &*self.shared;
        Ordinals {
            calls: count(n_calls),
            children: count(n_children),
            observed: count(n_observed),
            effects: count(n_effects),
        }
    }

    /// Records a cell, or checks it against the journal: the same code on the same text must end the same way.
    pub(crate) async fn record_cell(&self, record: CellRecord) -> Result<(), FrameError> {
        // The output may depend on a failure, so the failure is recorded first.
        let past = self.move_past_failures();
        let cell = self.shared.n_cells.fetch_add(1, Ordering::Relaxed);
        durable(past).await?;
        if let Some(recorded) = self.run().replay.cell(self.id(), cell) {
            let is_same = recorded.outcome == record.outcome
                && is_text(&recorded.code, &record.code)
                && is_text(&recorded.output, &record.output);
            let diverged = Stop::CellDiverged { frame: self.id().clone(), cell };
            return if is_same { Ok(()) } else { Err(diverged.into()) };
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
