//! Applies a raised limit to the state of a run: failures and partial answers after the first refusal are open again.
//! Costs stay counted.

use spelunk_types::{FrameId, Strategy};

use super::{CallState, FrameState, RunView};

impl RunView {
    /// Sets aside what followed from a refusal.
    pub(super) fn set_aside(&mut self, from: u64) {
        for frame in self.frames.values_mut() {
            if frame.closed_seq.is_none_or(|seq| seq < from) || frame.is_whole() {
                continue;
            }
            if let (FrameState::Failed { .. }, Strategy::Analyst, Some(tasks)) =
                (&frame.state, frame.strategy, &mut self.tasks)
            {
                tasks.failed = tasks.failed.saturating_sub(1);
            }
            (frame.state, frame.closed_at_ms, frame.closed_seq) = (FrameState::Open, None, None);
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
}

/// Keeps the items whose flag is true.
fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().copied().unwrap_or(true));
}
