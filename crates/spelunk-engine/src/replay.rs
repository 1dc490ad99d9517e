//! Replay: the recorded outcomes of a run, by call and by frame. A resumed strategy runs from its first line again; what
//! it asked before is answered from here, and no request is sent.

use std::collections::HashMap;

use spelunk_types::{BlobId, CallId, CallOutcome, Event, EventKind, FrameId, FrameOutcome, Strategy, Text};

use crate::Task;

/// What the journal already knows.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    prompts: HashMap<CallId, BlobId>,
    settled: HashMap<CallId, CallOutcome>,
    opened: HashMap<FrameId, OpenedFrame>,
    closed: HashMap<FrameId, FrameOutcome>,
    /// Facts without an outcome that a strategy records on its way, such as checked citations: how many each frame has.
    noted: HashMap<FrameId, usize>,
}

/// The task of a frame, as recorded.
#[derive(Debug)]
pub(crate) struct OpenedFrame {
    strategy: Strategy,
    question: Text,
    view: BlobId,
}

impl OpenedFrame {
    /// Whether this is the task that the frame is given now.
    pub(crate) fn is(&self, task: &Task) -> bool {
        let is_question = match &self.question {
            Text::Inline { text } => *text == task.question,
            Text::Blob { blob, .. } => *blob == spelunk_journal::digest(task.question.as_bytes()),
        };
        is_question && self.strategy == task.strategy && self.view == task.view.digest()
    }
}

impl Replay {
    pub(crate) fn from_events(events: &[Event]) -> Self {
        let mut replay = Self::default();
        for Event { frame, kind, .. } in events {
            match kind {
                EventKind::CallStarted { call, prompt, .. } => {
                    replay.prompts.insert(call.clone(), prompt.clone());
                }
                EventKind::CallSettled { call, outcome, .. } => {
                    replay.settled.insert(call.clone(), outcome.clone());
                }
                EventKind::FrameOpened { strategy, question, view } => {
                    let (strategy, question, view) = (*strategy, question.clone(), view.clone());
                    replay.opened.insert(frame.clone(), OpenedFrame { strategy, question, view });
                }
                EventKind::FrameClosed { outcome } => {
                    replay.closed.insert(frame.clone(), outcome.clone());
                }
                EventKind::CitationChecked { .. } | EventKind::PassagesChosen { .. } => {
                    *replay.noted.entry(frame.clone()).or_default() += 1;
                }
                EventKind::RunStarted { .. }
                | EventKind::RunResumed { .. }
                | EventKind::RunFinished { .. }
                | EventKind::SourceScanned { .. }
                | EventKind::CallRetried { .. }
                | EventKind::LimitReached { .. }
                | EventKind::WarningRaised { .. }
                | EventKind::CallStreamed { .. }
                | EventKind::ProgressTicked { .. } => {}
            }
        }
        replay
    }

    /// The prompt a call was started with.
    pub(crate) fn prompt(&self, call: &CallId) -> Option<&BlobId> {
        self.prompts.get(call)
    }

    /// How a call ended.
    pub(crate) fn settled(&self, call: &CallId) -> Option<&CallOutcome> {
        self.settled.get(call)
    }

    /// What a frame was opened with.
    pub(crate) fn opened(&self, frame: &FrameId) -> Option<&OpenedFrame> {
        self.opened.get(frame)
    }

    /// How a frame ended.
    pub(crate) fn closed(&self, frame: &FrameId) -> Option<&FrameOutcome> {
        self.closed.get(frame)
    }

    /// How many notes a frame has on record.
    pub(crate) fn n_noted(&self, frame: &FrameId) -> usize {
        self.noted.get(frame).copied().unwrap_or(0)
    }
}
