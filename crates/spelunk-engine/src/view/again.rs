//! Resuming with a raised limit: a run that was stopped by a spending limit continues under a
//! higher one. The first refusal and everything that followed from it are set aside, and the
//! strategy runs again from there. Nothing is paid twice: a reply counts if the same prompt is sent
//! under the same call id, and a complete answer if a frame has the same task.

use std::ops::Range;

use spelunk_types::{
    CallOutcome, ErrorCode, Event, EventKind, FrameId, FrameOutcome, Grounding, Limits, RunId, RunOutcome,
    Strategy,
};

use super::{CallState, RunView};
use crate::EngineError;
use crate::limits::budget::is_about_spending;

/// The events of a journal that a raised limit set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SetAside(Vec<Range<u64>>);

impl SetAside {
    pub(crate) fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut aside = Self::default();
        for event in events {
            aside.apply(event);
        }
        aside
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        if let EventKind::RunResumed { again_from: Some(from), .. } = event.kind {
            self.0.push(from..event.seq);
        }
    }

    pub(crate) fn holds(&self, seq: u64) -> bool {
        self.0.iter().any(|seqs| seqs.contains(&seq))
    }
}

/// Whether an event counts although it was set aside: it was paid for, or does not depend on the refusal.
pub(crate) fn still_counts(kind: &EventKind) -> bool {
    match kind {
        EventKind::CallSettled { outcome, .. } => matches!(outcome, CallOutcome::Replied { .. }),
        EventKind::FrameClosed { outcome } => {
            matches!(outcome, FrameOutcome::Answered { grounding, .. } if is_complete(*grounding))
        }
        EventKind::CellRan { .. }
        | EventKind::DeskLaid { .. }
        | EventKind::ToolRan { .. }
        | EventKind::ValueObserved { .. }
        | EventKind::FindingsRecalled { .. }
        | EventKind::CitationChecked { .. }
        | EventKind::LimitReached { .. }
        | EventKind::RunFinished { .. } => false,
        EventKind::RunStarted { .. }
        | EventKind::RunResumed { .. }
        | EventKind::SourceScanned { .. }
        | EventKind::FrameOpened { .. }
        | EventKind::StrategyChosen { .. }
        | EventKind::PassagesChosen { .. }
        | EventKind::CallStarted { .. }
        | EventKind::CallRetried { .. }
        | EventKind::CallWasted { .. }
        | EventKind::QuestionAdded { .. }
        | EventKind::EffectAsked { .. }
        | EventKind::EffectDecided { .. }
        | EventKind::EffectStarted { .. }
        | EventKind::EffectSettled { .. }
        | EventKind::TasksPlanned { .. }
        | EventKind::TaskReported { .. }
        | EventKind::WarningRaised { .. }
        | EventKind::CallStreamed { .. }
        | EventKind::ProgressTicked { .. } => true,
    }
}

/// Whether an answer covers the whole task.
pub(super) fn is_complete(grounding: Grounding) -> bool {
    !matches!(grounding, Grounding::Partial { .. })
}

impl RunView {
    /// The event from which the run is repeated under these limits: the first refusal by a limit that is higher now.
    pub(crate) fn again_from(&self, now: &Limits) -> Option<u64> {
        let mut reached = self.limits_reached.iter();
        reached.find(|reached| now.get(&reached.limit) > Some(reached.value)).map(|reached| reached.seq)
    }

    /// Whether the run has a complete answer.
    pub fn has_whole_answer(&self) -> bool {
        self.outcome == Some(RunOutcome::Answered)
            || self.answer().is_some_and(|(_, _, grounding)| is_complete(grounding))
    }

    /// Rejects a run that cannot get further under these limits, and reports what would change that.
    pub fn check_resumable(&self, run: &RunId, now: &Limits) -> Result<(), EngineError> {
        let run = run.clone();
        if self.outcome == Some(RunOutcome::Answered) {
            return Err(EngineError::Finished { run });
        }
        let Some((_, _, Grounding::Partial { stopped_by })) = self.answer() else { return Ok(()) };
        if self.outcome.is_none() || self.again_from(now).is_some() {
            return Ok(());
        }
        if !is_about_spending(stopped_by) {
            return Err(EngineError::PartForGood { run, stopped_by, limit: self.path_limit(stopped_by) });
        }
        // Older journals do not record where a limit was reached, so there is nothing to continue from.
        let Some(reached) = self.limits_reached.last() else { return Err(EngineError::Finished { run }) };
        let now = now.get(&reached.limit).unwrap_or(reached.value);
        Err(EngineError::LimitNotRaised { run, limit: reached.limit.clone(), value: reached.value, now })
    }

    /// Sets aside what followed from a refusal: failures and partial answers after it are open again. Costs stay
    /// counted.
    pub(super) fn set_aside(&mut self, from: u64) {
        for frame in self.frames.values_mut() {
            if frame.closed_seq.is_none_or(|seq| seq < from) || frame.is_whole() {
                continue;
            }
            if let (Some(FrameOutcome::Failed { .. }), Strategy::Analyst, Some(tasks)) =
                (&frame.outcome, frame.strategy, &mut self.tasks)
            {
                tasks.failed = tasks.failed.saturating_sub(1);
            }
            (frame.outcome, frame.closed_at_ms, frame.closed_seq) = (None, None, None);
        }
        for call in self.calls.values_mut() {
            let is_failed = matches!(call.state, CallState::Failed { .. });
            if is_failed && call.settled_seq.is_some_and(|seq| seq >= from) {
                (call.state, call.settled_at_ms, call.settled_seq) = (CallState::Open, None, None);
            }
        }
        let is_open = |frame: &FrameId| self.frames.get(frame).is_none_or(|frame| !frame.is_whole());
        let counts: Vec<bool> =
            self.citation_places.iter().map(|(seq, frame)| *seq < from || !is_open(frame)).collect();
        retain(&mut self.citations, &counts);
        retain(&mut self.citation_places, &counts);
        self.fact_seqs.retain(|seq| *seq < from);
        self.facts.truncate(self.fact_seqs.len());
        self.limits_reached.retain(|reached| reached.seq < from);
        self.errors.retain(|error| error.seq < from);
    }

    /// The limit that shaped the course of the run and ended it, with its value.
    fn path_limit(&self, stopped_by: ErrorCode) -> Option<(&'static str, u64)> {
        let limit = if stopped_by == ErrorCode::CellsExhausted {
            "cells_max"
        } else if stopped_by == ErrorCode::TurnsExhausted {
            if self.strategy == Some(Strategy::Agent) { "agent_turns_max" } else { "turns_max" }
        } else {
            return None;
        };
        Some((limit, self.limits.as_ref()?.get(limit)?))
    }
}

/// Keeps the items whose flag is true.
fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().copied().unwrap_or(true));
}
