//! The frames, calls and errors of a run, as its events describe them.

use spelunk_types::{
    Blame, CallId, CallOutcome, ErrorCode, Event, EventKind, FrameId, FrameOutcome, RunOutcome, Served,
    Strategy, Text, Usage,
};

use super::again::is_complete;

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct FrameView {
    pub strategy: Strategy,
    pub question: Text,
    /// How it ended; `None` while it is in progress.
    pub outcome: Option<FrameOutcome>,
    /// The event that opened it.
    pub seq: u64,
    pub opened_at_ms: u64,
    pub closed_at_ms: Option<u64>,
    pub closed_seq: Option<u64>,
}

impl FrameView {
    pub(super) fn opened(strategy: Strategy, question: Text, event: &Event) -> Self {
        let (seq, opened_at_ms) = (event.seq, event.at_ms);
        Self { strategy, question, outcome: None, seq, opened_at_ms, closed_at_ms: None, closed_seq: None }
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(self.outcome, Some(FrameOutcome::Answered { grounding, .. }) if is_complete(grounding))
    }

    pub(super) fn close(&mut self, outcome: FrameOutcome, event: &Event) {
        (self.closed_at_ms, self.closed_seq) = (Some(event.at_ms), Some(event.seq));
        self.outcome = Some(outcome);
    }
}

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CallView {
    pub model: String,
    pub prompt: Text,
    pub state: CallState,
    /// Failed requests that were retried, with the reason.
    pub retries: Vec<ErrorCode>,
    pub n_requests: u64,
    /// What was reserved for each; older engines did not record it.
    pub(super) reserved: Option<Usage>,
    /// Whether a request is in flight, as far as the journal knows.
    pub(super) is_awaited: bool,
    /// The event that started it.
    pub seq: u64,
    pub started_at_ms: u64,
    pub settled_at_ms: Option<u64>,
    pub settled_seq: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallState {
    /// In flight, or cut off by a crash.
    Open,
    Replied {
        reply: Text,
        usage: Usage,
        /// Where it came from.
        served: Served,
    },
    Failed {
        code: ErrorCode,
    },
}

impl CallView {
    pub(super) fn started(model: String, prompt: Text, event: &Event) -> Self {
        Self {
            model,
            prompt,
            state: CallState::Open,
            retries: Vec::new(),
            n_requests: 0,
            reserved: None,
            is_awaited: false,
            seq: event.seq,
            started_at_ms: event.at_ms,
            settled_at_ms: None,
            settled_seq: None,
        }
    }

    /// Counts a request, unless nothing was reserved for one.
    pub(super) fn send(&mut self, reserved: Option<Usage>) {
        if reserved.is_some() {
            self.n_requests += 1;
            (self.reserved, self.is_awaited) = (reserved, true);
        }
    }

    pub(super) fn retry(&mut self, code: ErrorCode) {
        self.retries.push(code);
        // In journals of older engines, a call counted once, however often it was tried.
        self.n_requests += u64::from(self.reserved.is_some());
        self.is_awaited = true;
    }

    /// Settles the call and returns its cost. A settled call keeps its first outcome.
    pub(super) fn settle(&mut self, outcome: CallOutcome, served: Served, event: &Event) -> Usage {
        if self.state != CallState::Open {
            return Usage::default();
        }
        (self.settled_at_ms, self.settled_seq) = (Some(event.at_ms), Some(event.seq));
        self.is_awaited = false;
        let (state, usage, is_sent) = match outcome {
            CallOutcome::Replied { reply, usage, .. } => {
                (CallState::Replied { reply, usage, served }, usage, served == Served::Live)
            }
            // A call refused by the budget was never sent.
            CallOutcome::Failed { code, .. } => {
                (CallState::Failed { code }, Usage::default(), code.blame() != Blame::Limit)
            }
        };
        // Older engines recorded only the end of a request, not when it was sent.
        self.n_requests += u64::from(is_sent && self.reserved.is_none());
        self.state = state;
        usage
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ReportError {
    pub seq: u64,
    /// Unix time in milliseconds.
    pub at_ms: u64,
    pub frame: FrameId,
    pub call: Option<CallId>,
    pub code: ErrorCode,
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
