//! Failures that a strategy has seen. Each is recorded when the strategy moves past it: with its next call,
//! its next child or its answer. A failure that ends the run is not recorded, so a resumed run tries again.

use spelunk_types::{ErrorCode, EventKind, FrameId};

use super::Frame;
use crate::journal::writer::Receipt;
use crate::sync::lock;
use crate::{FrameError, JournalResult};

impl Frame {
    pub(crate) fn failure(&self, code: ErrorCode, message: String) -> FrameError {
        FrameError::Child { frame: self.id().clone(), code, message }
    }

    /// Why this frame could not do something.
    pub(crate) fn refusal(&self, code: ErrorCode, message: String) -> FrameError {
        FrameError::Refused { frame: self.id().clone(), code, message }
    }

    /// Remembers the event that records a failure.
    pub(super) fn remember(&self, frame: FrameId, failure: EventKind) {
        lock(&self.shared.unsettled).push((frame, failure));
    }

    /// Queues the failures that the strategy has seen for the journal, ahead of everything the
    /// strategy does next, even if it never awaits that.
    pub(super) fn move_past_failures(&self) -> Vec<Receipt> {
        let seen = std::mem::take(&mut *lock(&self.shared.unsettled));
        seen.into_iter().map(|(frame, kind)| self.run().writer.post_event(&frame, kind)).collect()
    }
}

/// Waits until everything is written.
pub(super) async fn durable(receipts: Vec<Receipt>) -> JournalResult {
    for receipt in receipts {
        receipt.written().await?;
    }
    Ok(())
}
