//! Replay: the recorded outcomes of a run, by call and by frame. A resumed strategy runs again from the start; its
//! earlier calls are answered from here without a request. Of the events set aside by a raised limit, only those that
//! were paid for are kept, for calls that repeat the same prompt under the same id (`view/again.rs`).

use std::collections::{BTreeMap, HashMap, HashSet};

use spelunk_sandbox::INTERPRETER_VERSION;
use spelunk_types::{
    BlobId, CallId, CallOutcome, CellOutcome, EffectClass, EffectId, EffectOutcome, ErrorCode, Event,
    EventKind, Explain, FrameId, FrameOutcome, Strategy, Text,
};

use crate::limits::budget::code_of;
use crate::view::{SetAside, still_counts};
use crate::{FrameError, Stop, Task};

#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// The format of the journal; 0 for a new run.
    format: u32,
    /// The version of the interpreter that ran its cells.
    interpreter: u32,
    prompts: HashMap<CallId, BlobId>,
    pub(crate) settled: HashMap<CallId, CallOutcome>,
    opened: HashMap<FrameId, OpenedFrame>,
    pub(crate) closed: HashMap<FrameId, FrameOutcome>,
    /// The number of recorded facts without an outcome, such as checked citations, by frame.
    noted: HashMap<FrameId, usize>,
    cells: HashMap<FrameId, Vec<CellRecord<Text>>>,
    observed: HashMap<FrameId, BTreeMap<u32, Observed>>,
    effects: HashMap<EffectId, RecordedEffect>,
    consents: HashMap<EffectId, RecordedConsent>,
    /// The digests of initial desks.
    pub(crate) laid: HashMap<FrameId, BlobId>,
    tools: HashMap<FrameId, Vec<RanTool>>,
    /// Questions asked after the first answer.
    pub(crate) added: Vec<Text>,
    pub(crate) recalled: HashMap<FrameId, Text>,
    /// The last reason why a frame had to conclude.
    limited: HashMap<FrameId, ErrorCode>,
    /// Calls and frames that were set aside: reused for identical requests, but not binding.
    calls_aside: HashSet<CallId>,
    frames_aside: HashSet<FrameId>,
}

/// A cell that ran, with its texts or with references to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellRecord<T = String> {
    pub(crate) code: T,
    pub(crate) outcome: CellOutcome,
    pub(crate) output: T,
    pub(crate) taken: Ordinals,
    pub(crate) took_ms: u64,
}

/// Counters taken in program order; a replay finds records by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordinals {
    pub(crate) calls: u32,
    pub(crate) children: u32,
    pub(crate) observed: u32,
    pub(crate) effects: u32,
}

impl Ordinals {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls - before.calls,
            children: self.children - before.children,
            observed: self.observed - before.observed,
            effects: self.effects - before.effects,
        }
    }
}

#[derive(Debug)]
pub(crate) struct RecordedEffect {
    tool: String,
    arguments: Text,
    pub(crate) class: EffectClass,
    pub(crate) is_sent: bool,
    pub(crate) outcome: Option<EffectOutcome>,
    /// Set aside: not binding if another tool is called now.
    is_aside: bool,
}

#[derive(Debug)]
struct RecordedConsent {
    tool: String,
    arguments: Text,
    allowed: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) what: String,
    pub(crate) value: Text,
}

#[derive(Debug)]
pub(crate) struct RanTool {
    pub(crate) name: String,
    pub(crate) arguments: Text,
    pub(crate) failed: bool,
    pub(crate) output: Text,
    pub(crate) desk: BlobId,
}

#[derive(Debug)]
struct OpenedFrame {
    strategy: Strategy,
    question: Text,
    view: BlobId,
    note: Option<Text>,
}

impl OpenedFrame {
    /// Whether the frame's task now is the recorded one.
    fn is(&self, task: &Task) -> bool {
        let is_note = match (&self.note, &task.note) {
            (Some(recorded), Some(now)) => is_text(recorded, now),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        is_text(&self.question, &task.question)
            && is_note
            && self.strategy == task.strategy
            && self.view == task.view.digest()
    }
}

fn ran(kind: &EventKind) -> Option<CellRecord<Text>> {
    let EventKind::CellRan { cell: _, code, outcome, output, calls, children, observed, effects, took_ms } =
        kind.clone()
    else {
        return None;
    };
    let taken = Ordinals { calls, children, observed, effects };
    Some(CellRecord { code, outcome, output, taken, took_ms })
}

fn mark<T: Clone + Eq + std::hash::Hash>(marked: &mut HashSet<T>, item: &T, is_marked: bool) {
    if is_marked {
        marked.insert(item.clone());
    } else {
        marked.remove(item);
    }
}

pub(crate) fn is_text(recorded: &Text, now: &str) -> bool {
    match recorded {
        Text::Inline { text } => text == now,
        Text::Blob { blob, .. } => *blob == spelunk_journal::digest(now.as_bytes()),
    }
}

impl Replay {
    pub(crate) fn from_events(events: &[Event]) -> Self {
        let (mut replay, aside) = (Self::default(), SetAside::of(events));
        for event in events {
            let is_aside = aside.holds(event.seq);
            if is_aside && !still_counts(&event.kind) {
                continue;
            }
            let Event { frame, kind, .. } = event;
            match kind {
                EventKind::CallStarted { call, prompt, .. } => {
                    // If it replaces one that was set aside, it has no outcome yet.
                    replay.settled.remove(call);
                    replay.prompts.insert(call.clone(), prompt.clone());
                    mark(&mut replay.calls_aside, call, is_aside);
                }
                EventKind::CallSettled { call, outcome, .. } => {
                    replay.settled.insert(call.clone(), outcome.clone());
                }
                EventKind::FrameOpened { .. } => replay.open(event, is_aside),
                EventKind::FrameClosed { outcome } => {
                    replay.closed.insert(frame.clone(), outcome.clone());
                }
                EventKind::CellRan { .. } => replay.cells.entry(frame.clone()).or_default().extend(ran(kind)),
                EventKind::EffectAsked { .. }
                | EventKind::EffectDecided { .. }
                | EventKind::EffectStarted { .. }
                | EventKind::EffectSettled { .. } => replay.act(kind, is_aside),
                EventKind::ValueObserved { ordinal, what, value } => {
                    let observed = replay.observed.entry(frame.clone()).or_default();
                    let ordinal = ordinal.unwrap_or(u32::try_from(observed.len()).unwrap_or(u32::MAX));
                    observed.insert(ordinal, Observed { what: what.clone(), value: value.clone() });
                }
                EventKind::DeskLaid { desk, .. } => {
                    replay.laid.insert(frame.clone(), desk.clone());
                }
                EventKind::ToolRan { name, arguments, failed, output, desk, .. } => {
                    let (name, arguments, output) = (name.clone(), arguments.clone(), output.clone());
                    let ran = RanTool { name, arguments, failed: *failed, output, desk: desk.clone() };
                    replay.tools.entry(frame.clone()).or_default().push(ran);
                }
                EventKind::QuestionAdded { question } => {
                    replay.added.push(question.clone());
                    // Its answer belonged to the previous question.
                    replay.closed.remove(frame);
                }
                EventKind::FindingsRecalled { reports, .. } => {
                    replay.recalled.insert(frame.clone(), reports.clone());
                }
                EventKind::LimitReached { limit, .. } => {
                    replay.limited.insert(frame.clone(), code_of(limit));
                }
                EventKind::CitationChecked { .. }
                | EventKind::StrategyChosen { .. }
                | EventKind::PassagesChosen { .. }
                | EventKind::TasksPlanned { .. }
                | EventKind::TaskReported { .. } => {
                    *replay.noted.entry(frame.clone()).or_default() += 1;
                }
                EventKind::RunStarted { format, interpreter, .. } => {
                    (replay.format, replay.interpreter) = (*format, *interpreter);
                }
                EventKind::RunResumed { .. }
                | EventKind::RunFinished { .. }
                | EventKind::SourceScanned { .. }
                | EventKind::CallRetried { .. }
                | EventKind::CallWasted { .. }
                | EventKind::WarningRaised { .. }
                | EventKind::CallStreamed { .. }
                | EventKind::ProgressTicked { .. } => {}
            }
        }
        replay
    }

    fn act(&mut self, kind: &EventKind, is_aside: bool) {
        if let EventKind::EffectStarted { effect, tool, class, arguments, sent } = kind {
            let (tool, arguments) = (tool.clone(), arguments.clone());
            let (class, is_sent, outcome) = (*class, *sent, None);
            let recorded = RecordedEffect { tool, arguments, class, is_sent, outcome, is_aside };
            self.effects.insert(effect.clone(), recorded);
        } else if let EventKind::EffectSettled { effect, outcome, .. } = kind
            && let Some(recorded) = self.effects.get_mut(effect)
        {
            recorded.outcome = Some(outcome.clone());
        } else if let EventKind::EffectAsked { effect, tool, arguments, .. } = kind {
            let asked = RecordedConsent { tool: tool.clone(), arguments: arguments.clone(), allowed: None };
            self.consents.insert(effect.clone(), asked);
        } else if let EventKind::EffectDecided { effect, allowed } = kind
            && let Some(asked) = self.consents.get_mut(effect)
        {
            asked.allowed = Some(*allowed);
        }
    }

    /// Applies the opening of a frame; if it replaces one that was set aside, it has not ended.
    fn open(&mut self, event: &Event, is_aside: bool) {
        let EventKind::FrameOpened { strategy, question, view, note } = &event.kind else { return };
        let (strategy, question, view) = (*strategy, question.clone(), view.clone());
        let opened = OpenedFrame { strategy, question, view, note: note.clone() };
        self.closed.remove(&event.frame);
        self.opened.insert(event.frame.clone(), opened);
        mark(&mut self.frames_aside, &event.frame, is_aside);
    }

    /// Whether a recorded call has this prompt; `None` if the call is not recorded.
    pub(crate) fn was_asked(&self, call: &CallId, prompt: &BlobId) -> Option<bool> {
        let is_same = self.prompts.get(call)? == prompt;
        (is_same || !self.calls_aside.contains(call)).then_some(is_same)
    }

    /// Whether a call is recorded, with any prompt.
    pub(crate) fn has_call(&self, call: &CallId) -> bool {
        self.prompts.contains_key(call) && !self.calls_aside.contains(call)
    }

    /// Whether a frame is recorded, with any task.
    pub(crate) fn has_frame(&self, frame: &FrameId) -> bool {
        self.opened.contains_key(frame) && !self.frames_aside.contains(frame)
    }

    /// Whether a recorded frame has this task; `None` if the frame is not recorded.
    pub(crate) fn was_opened(&self, frame: &FrameId, task: &Task) -> Option<bool> {
        let is_same = self.opened.get(frame)?.is(task);
        (is_same || !self.frames_aside.contains(frame)).then_some(is_same)
    }

    pub(crate) fn limited(&self, frame: &FrameId) -> Option<ErrorCode> {
        self.limited.get(frame).copied()
    }

    pub(crate) fn cell(&self, frame: &FrameId, idx: u32) -> Option<&CellRecord<Text>> {
        self.cells.get(frame)?.get(idx as usize)
    }

    pub(crate) fn observed(&self, frame: &FrameId, ordinal: u32) -> Option<&Observed> {
        self.observed.get(frame)?.get(&ordinal)
    }

    /// The record of a tool call, if there is one; an error if it is of another call.
    pub(crate) fn effect(
        &self,
        effect: &EffectId,
        tool: &str,
        arguments: &str,
    ) -> Result<Option<&RecordedEffect>, ()> {
        let Some(recorded) = self.effects.get(effect) else { return Ok(None) };
        let is_same = recorded.tool == tool && is_text(&recorded.arguments, arguments);
        match (is_same, recorded.is_aside) {
            (true, _) => Ok(Some(recorded)),
            (false, true) => Ok(None),
            (false, false) => Err(()),
        }
    }

    /// The decision about exactly this call.
    pub(crate) fn consent(&self, effect: &EffectId, tool: &str, shown: &str) -> Option<bool> {
        let asked = self.consents.get(effect)?;
        asked.allowed.filter(|_| asked.tool == tool && is_text(&asked.arguments, shown))
    }

    pub(crate) fn has_effect(&self, effect: &EffectId) -> bool {
        self.effects.get(effect).is_some_and(|recorded| !recorded.is_aside)
    }

    /// Adds the cause of a divergence if it is known: the cells ran in another version of the interpreter.
    pub(crate) fn explained(&self, error: FrameError) -> FrameError {
        match error {
            FrameError::Stopped(stop)
                if stop.code() == ErrorCode::ReplayDiverged && self.interpreter != INTERPRETER_VERSION =>
            {
                Stop::InterpreterChanged { diverged: Box::new(stop) }.into()
            }
            FrameError::Stopped(_)
            | FrameError::Call { .. }
            | FrameError::Child { .. }
            | FrameError::Refused { .. } => error,
        }
    }

    /// Whether a typed sub-call takes the id of its correction together with its own. In format 1
    /// the id was taken when the correction was needed, so it depended on the order of replies.
    pub(crate) fn reserves_corrections(&self) -> bool {
        self.format != 1
    }

    pub(crate) fn tool(&self, frame: &FrameId, idx: u32) -> Option<&RanTool> {
        self.tools.get(frame)?.get(idx as usize)
    }

    pub(crate) fn n_noted(&self, frame: &FrameId) -> usize {
        self.noted.get(frame).copied().unwrap_or(0)
    }
}
