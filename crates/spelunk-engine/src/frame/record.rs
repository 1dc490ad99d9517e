//! What a strategy records beside its calls: notes, warnings, cells, and values that are not the same each time. On
//! replay, what is on record stays the only record.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use spelunk_types::{CellOutcome, Durability, EventKind, Text};

use super::Frame;
use crate::replay::is_text;
use crate::{FrameError, Stop};

/// A cell that ran, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellRecord {
    pub(crate) code: String,
    pub(crate) outcome: CellOutcome,
    pub(crate) output: String,
    pub(crate) calls: u32,
    pub(crate) children: u32,
    pub(crate) took_ms: u64,
}

impl Frame {
    /// Records something the strategy learnt that has no outcome of its own.
    pub(crate) async fn note(&self, kind: EventKind) -> Result<(), FrameError> {
        let idx = self.shared.n_notes.fetch_add(1, Ordering::Relaxed);
        if idx >= self.run().replay.n_noted(self.id()) {
            self.run().scribe.record(self.id(), kind).await?;
        }
        Ok(())
    }

    /// Tells the user something. Said again by a resumed run, because it may matter again.
    pub(crate) async fn warn(&self, message: String, hint: String) -> Result<(), FrameError> {
        Ok(self.run().scribe.record(self.id(), EventKind::WarningRaised { message, hint }).await?)
    }

    /// A value that is not the same each time, such as what is left of the budget: read once, then taken from the record.
    pub(crate) async fn observe(
        &self,
        what: &str,
        read: impl FnOnce() -> String,
    ) -> Result<String, FrameError> {
        self.observe_later(what, async { Ok(read()) }).await
    }

    /// The same for what takes a while to read.
    pub(crate) async fn observe_later(
        &self,
        what: &str,
        reading: impl Future<Output = Result<String, FrameError>>,
    ) -> Result<String, FrameError> {
        let idx = self.shared.n_observed.fetch_add(1, Ordering::Relaxed);
        if let Some(value) = self.run().replay.observed(self.id(), idx) {
            return Ok(value.to_owned());
        }
        let value = reading.await?;
        let kind = EventKind::ValueObserved { what: what.to_owned(), value: value.clone() };
        self.run().scribe.record(self.id(), kind).await?;
        Ok(value)
    }

    /// The next cell, if it is on record as one that a limit of the sandbox stopped: it is not run again, because a
    /// clock may decide otherwise this time. The places its calls and children took are taken.
    pub(crate) fn limited_cell(&self) -> Option<CellRecord> {
        let idx = self.shared.n_cells.load(Ordering::Relaxed);
        let recorded = self.run().replay.cell(self.id(), idx)?;
        if !matches!(recorded.outcome, CellOutcome::Limited { .. }) {
            return None;
        }
        self.shared.n_calls.fetch_add(recorded.calls, Ordering::Relaxed);
        self.shared.n_children.fetch_add(recorded.children, Ordering::Relaxed);
        let text = |text: &Text| self.run().blobs.text(text).ok();
        Some(CellRecord {
            code: text(&recorded.code)?,
            outcome: recorded.outcome.clone(),
            output: text(&recorded.output)?,
            calls: recorded.calls,
            children: recorded.children,
            took_ms: recorded.took_ms,
        })
    }

    /// How many calls and children this frame has begun, for the record of a cell.
    pub(crate) fn n_begun(&self) -> (u32, u32) {
        (self.shared.n_calls.load(Ordering::Relaxed), self.shared.n_children.load(Ordering::Relaxed))
    }

    /// Records a cell, or holds it against the record: the same code on the same text must end in the same way.
    pub(crate) async fn record_cell(&self, record: CellRecord) -> Result<(), FrameError> {
        let cell = self.shared.n_cells.fetch_add(1, Ordering::Relaxed);
        if let Some(recorded) = self.run().replay.cell(self.id(), cell) {
            let is_same = recorded.outcome == record.outcome
                && is_text(&recorded.code, &record.code)
                && is_text(&recorded.output, &record.output);
            let diverged = Stop::CellDiverged { frame: self.id().clone(), cell };
            return if is_same { Ok(()) } else { Err(diverged.into()) };
        }
        let draft = move |blobs: &spelunk_journal::Blobs| {
            let CellRecord { code, outcome, output, calls, children, took_ms } = record;
            let (code, output) = (blobs.keep(&code)?, blobs.keep(&output)?);
            Ok(EventKind::CellRan { cell, code, outcome, output, calls, children, took_ms })
        };
        let recorded = self.run().scribe.record_draft(self.id(), Durability::Buffered, Box::new(draft)).await;
        recorded.map_err(|error: Arc<_>| error.into())
    }
}
