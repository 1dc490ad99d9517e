//! Failures that a strategy has seen. Each is recorded when the strategy moves past it: with its next call,
//! its next child or its answer. A failure that ends the run is not recorded, so a resumed run tries again.

use std::sync::Arc;

use spelunk_journal::JournalError;
use spelunk_types::{CallId, CallOutcome, ErrorCode, EventKind, FrameId, FrameOutcome, Served};

use super::Frame;
use crate::FrameError;
use crate::journal::writer::Receipt;
use crate::sync::lock;

#[derive(Debug)]
pub(super) enum Failure {
    Call { call: CallId, code: ErrorCode, message: String },
    Child { frame: FrameId, code: ErrorCode, message: String },
}

impl Frame {
    /// Why this frame has no answer.
    pub(crate) fn failure(&self, code: ErrorCode, message: String) -> FrameError {
        FrameError::Child { frame: self.id().clone(), code, message }
    }

    /// Why this frame could not do something.
    pub(crate) fn refusal(&self, code: ErrorCode, message: String) -> FrameError {
        FrameError::Refused { frame: self.id().clone(), code, message }
    }

    pub(super) fn remember(&self, failure: Failure) {
        lock(&self.shared.unsettled).push(failure);
    }

    /// Queues the failures that the strategy has seen for the journal, ahead of everything the
    /// strategy does next, even if it never awaits that.
    pub(super) fn move_past_failures(&self) -> Vec<Receipt> {
        let seen = std::mem::take(&mut *lock(&self.shared.unsettled));
        let post = |failure| {
            let (frame, kind) = match failure {
                Failure::Call { call, code, message } => {
                    let outcome = CallOutcome::Failed { code, message };
                    (call.frame.clone(), EventKind::CallSettled { call, outcome, served: Served::Live })
                }
                Failure::Child { frame, code, message } => {
                    (frame, EventKind::FrameClosed { outcome: FrameOutcome::Failed { code, message } })
                }
            };
            self.run().writer.post_event(&frame, kind)
        };
        seen.into_iter().map(post).collect()
    }
}

/// Waits until everything is written.
pub(super) async fn durable(receipts: Vec<Receipt>) -> Result<(), Arc<JournalError>> {
    for receipt in receipts {
        receipt.written().await?;
    }
    Ok(())
}
