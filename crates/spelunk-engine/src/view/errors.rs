//! The errors of a run, as its events record them.

use spelunk_types::{CallId, CallOutcome, ErrorCode, Event, EventKind, FrameId, FrameOutcome, RunOutcome};

/// An error in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportError {
    /// The event that recorded it.
    pub seq: u64,
    /// Unix time in milliseconds.
    pub at_ms: u64,
    /// The frame.
    pub frame: FrameId,
    /// The call, if the error is about one.
    pub call: Option<CallId>,
    /// The error code.
    pub code: ErrorCode,
    /// The message.
    pub message: String,
}

pub(crate) fn error_of(event: &Event) -> Option<ReportError> {
    let (call, code, message) = if let EventKind::CallSettled { call, outcome, .. } = &event.kind {
        let CallOutcome::Failed { code, message } = outcome else { return None };
        (Some(call.clone()), *code, message.clone())
    } else if let EventKind::FrameClosed { outcome: FrameOutcome::Failed { code, message } }
    | EventKind::RunFinished { outcome: RunOutcome::Failed { code, message } } = &event.kind
    {
        (None, *code, message.clone())
    } else if let EventKind::RunFinished { outcome: RunOutcome::Partial { stopped_by } } = &event.kind {
        (None, *stopped_by, stopped_by.meaning().to_owned())
    } else {
        return None;
    };
    Some(ReportError { seq: event.seq, at_ms: event.at_ms, frame: event.frame.clone(), call, code, message })
}
