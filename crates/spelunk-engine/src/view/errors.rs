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
    /// The call, if it was one.
    pub call: Option<CallId>,
    /// The error code.
    pub code: ErrorCode,
    /// The message.
    pub message: String,
}

/// The error in an event, if it is one.
pub(crate) fn error_of(event: &Event) -> Option<ReportError> {
    let (call, code, message) = match &event.kind {
        EventKind::CallSettled { call, outcome: CallOutcome::Failed { code, message }, .. } => {
            (Some(call.clone()), *code, message.clone())
        }
        EventKind::FrameClosed { outcome: FrameOutcome::Failed { code, message } }
        | EventKind::RunFinished { outcome: RunOutcome::Failed { code, message } } => {
            (None, *code, message.clone())
        }
        EventKind::RunFinished { outcome: RunOutcome::Partial { stopped_by } } => {
            (None, *stopped_by, stopped_by.meaning().to_owned())
        }
        EventKind::RunStarted { .. }
        | EventKind::RunResumed { .. }
        | EventKind::RunFinished { .. }
        | EventKind::SourceScanned { .. }
        | EventKind::FrameOpened { .. }
        | EventKind::FrameClosed { .. }
        | EventKind::StrategyChosen { .. }
        | EventKind::PassagesChosen { .. }
        | EventKind::CallStarted { .. }
        | EventKind::CallRetried { .. }
        | EventKind::CallWasted { .. }
        | EventKind::CallSettled { .. }
        | EventKind::CellRan { .. }
        | EventKind::DeskLaid { .. }
        | EventKind::ToolRan { .. }
        | EventKind::QuestionAdded { .. }
        | EventKind::ValueObserved { .. }
        | EventKind::TasksPlanned { .. }
        | EventKind::FindingsRecalled { .. }
        | EventKind::TaskReported { .. }
        | EventKind::CitationChecked { .. }
        | EventKind::LimitReached { .. }
        | EventKind::WarningRaised { .. }
        | EventKind::CallStreamed { .. }
        | EventKind::ProgressTicked { .. } => return None,
    };
    Some(ReportError { seq: event.seq, at_ms: event.at_ms, frame: event.frame.clone(), call, code, message })
}
