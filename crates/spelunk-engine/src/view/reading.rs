//! What was read: text counts once the frame that was shown it has answered, so a failed part does
//! not count. If a frame reports its own amount after its children, that replaces their sum.

use std::collections::BTreeMap;

use spelunk_types::FrameId;

/// Documents and their bytes.
type Amount = (u64, u64);

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ReadAmounts {
    /// What unanswered frames were shown last.
    shown: BTreeMap<FrameId, Amount>,
    read: BTreeMap<FrameId, Amount>,
}

impl ReadAmounts {
    pub(super) fn show(&mut self, frame: &FrameId, documents: u64, bytes: u64) {
        self.shown.insert(frame.clone(), (documents, bytes));
    }

    /// Records that a frame has answered; returns the changed amount before and after.
    pub(super) fn answer(&mut self, frame: &FrameId) -> Option<(Amount, Amount)> {
        let own = self.shown.remove(frame)?;
        let depth = frame.depth();
        let is_below = |other: &FrameId| {
            let mut above = other.clone();
            while above.depth() > depth {
                let Some(parent) = above.parent() else { return false };
                above = parent;
            }
            above == *frame
        };
        // Frames are in tree order: descendants follow their ancestor.
        let below: Vec<FrameId> = self
            .read
            .range(frame.clone()..)
            .map(|(id, _)| id.clone())
            .take_while(|id| is_below(id))
            .collect();
        let mut before = (0_u64, 0_u64);
        for id in &below {
            let (documents, bytes) = self.read.remove(id).unwrap_or_default();
            before = (before.0.saturating_add(documents), before.1.saturating_add(bytes));
        }
        self.read.insert(frame.clone(), own);
        Some((before, own))
    }
}
