//! `RunView`: the state of a run, folded from its events. The only reducer; every face renders it. Pure and total: any
//! prefix of a journal gives a view.

use std::collections::BTreeMap;

use spelunk_types::{
    Blame, CallId, CallOutcome, CellOutcome, Citation, Durability, ErrorCode, Event, EventKind, FileChange,
    Found, FrameId, FrameOutcome, Grounding, Limits, ModelRef, RunOutcome, Served, SourceSpec, Strategy,
    Text, Usage,
};

use crate::findings::{ReportError, error_of};

/// The log of evidence on a desk.
const EVIDENCE: &str = "state/evidence.jsonl";

/// The state of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunView {
    /// The last event folded in.
    pub seq_last: u64,
    /// What was asked.
    pub question: Option<Text>,
    /// How.
    pub strategy: Option<Strategy>,
    /// Whom.
    pub model: Option<ModelRef>,
    /// Whom sub-calls ask, if not the same.
    pub sub_model: Option<ModelRef>,
    /// Who puts findings together, if not the root's.
    pub synthesis_model: Option<ModelRef>,
    /// Over what.
    pub sources: Vec<SourceSpec>,
    /// Under which limits.
    pub limits: Option<Limits>,
    /// Documents of the corpus.
    pub n_documents: u64,
    /// Their bytes.
    pub corpus_bytes: u64,
    /// What was left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Secrets that were blacked out, by rule.
    pub redacted: BTreeMap<String, u64>,
    /// Bytes of documents that were put before a model.
    pub bytes_read: u64,
    /// Documents of which something was put before a model.
    pub documents_read: u64,
    /// The tree.
    pub frames: BTreeMap<FrameId, FrameView>,
    /// The calls.
    pub calls: BTreeMap<CallId, CallView>,
    /// The blocks of code that ran, by frame.
    pub cells: BTreeMap<FrameId, Vec<CellView>>,
    /// The tools that agents called, by name: how often, and how often in vain.
    pub tools: BTreeMap<String, (u64, u64)>,
    /// The tasks of analysts, where there are some.
    pub tasks: Option<TasksView>,
    /// Long work that is under way and is not on record; until the next event that is.
    pub ticked: Option<Ticked>,
    /// What was paid.
    pub spent: Usage,
    /// What people should know.
    pub warnings: Vec<(String, String)>,
    /// Citations that were looked up, and what the look said.
    pub citations: Vec<(Citation, Found)>,
    /// What the agent of the root frame kept as evidence: lines of JSON, in pieces as they were added.
    pub facts: Vec<Text>,
    /// What went wrong, in calls, in frames and with the run.
    pub errors: Vec<ReportError>,
    /// Limits that were reached.
    pub limits_reached: Vec<(String, u64)>,
    /// How it ended; none while it runs or after a crash.
    pub outcome: Option<RunOutcome>,
    /// When it began.
    pub started_at_ms: u64,
    /// When the last event happened.
    pub updated_at_ms: u64,
    /// How often it was resumed.
    pub n_resumed: u64,
    /// Time spent in earlier processes.
    earlier_ms: u64,
    /// When the current process began.
    segment_at_ms: u64,
    /// When the long work that is under way was first heard of.
    ticked_since_ms: u64,
}

/// How far long work is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ticked {
    /// What is being done.
    pub what: String,
    /// Documents that are done, and all of them.
    pub documents: Option<(u64, u64)>,
    /// Bytes that are done.
    pub done: u64,
    /// All of them.
    pub total: u64,
    /// Time since the first that was heard of it.
    pub took_ms: u64,
}

/// How far analysts have come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TasksView {
    /// Tasks of the plan.
    pub planned: u64,
    /// Documents of the plan.
    pub documents: u64,
    /// Parts whose findings were at hand from earlier runs.
    pub recalled: u64,
    /// Tasks with a report.
    pub done: u64,
    /// Tasks without one.
    pub failed: u64,
    /// Findings so far, by severity; `unrated` where there is none.
    pub findings: BTreeMap<String, u64>,
}

/// The state of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameView {
    /// How it answers.
    pub strategy: Strategy,
    /// What it was asked.
    pub question: Text,
    /// Where it stands.
    pub state: FrameState,
    /// The event with which it began.
    pub seq: u64,
    /// When it began.
    pub opened_at_ms: u64,
    /// When it ended.
    pub closed_at_ms: Option<u64>,
}

/// Where a frame stands.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameState {
    /// Still at work.
    Open,
    /// With an answer.
    Answered {
        /// The answer.
        answer: Text,
        /// Its evidence.
        citations: Vec<Citation>,
        /// How far it rests on the sources.
        grounding: Grounding,
    },
    /// Without one.
    Failed {
        /// Why.
        code: ErrorCode,
        /// In words.
        message: String,
    },
}

/// A block of code that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct CellView {
    /// Which one of its frame, from 0.
    pub cell: u32,
    /// The code.
    pub code: Text,
    /// How it ended.
    pub outcome: CellOutcome,
    /// What it printed.
    pub output: Text,
    /// How long it took, waiting for models included.
    pub took_ms: u64,
    /// Its event.
    pub seq: u64,
}

/// The state of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallView {
    /// Whom it asks.
    pub model: String,
    /// What it says; a record of the prompt.
    pub prompt: Text,
    /// Where it stands.
    pub state: CallState,
    /// Requests that failed and were followed by another, with the reason.
    pub retries: Vec<ErrorCode>,
    /// Requests that were sent.
    pub n_requests: u64,
    /// What was set aside for each; older engines did not say.
    reserved: Option<Usage>,
    /// Whether a request is on its way, as far as the journal knows.
    is_awaited: bool,
    /// The event with which it began.
    pub seq: u64,
    /// When it began.
    pub started_at_ms: u64,
    /// When it ended.
    pub settled_at_ms: Option<u64>,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    /// On its way, or cut off by a crash.
    Open,
    /// Answered.
    Replied {
        /// With what.
        reply: Text,
        /// At what cost.
        usage: Usage,
        /// From where.
        served: Served,
    },
    /// Given up.
    Failed {
        /// Why.
        code: ErrorCode,
    },
}

impl RunView {
    /// The state after these events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut view = Self::default();
        for event in events {
            view.apply(event);
        }
        view
    }

    /// Folds one event in.
    pub fn apply(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::RunResumed { .. }) {
            // The pause between two processes is not time spent.
            self.earlier_ms = self.active_ms();
        }
        let at_ms = event.at_ms;
        (self.updated_at_ms, self.seq_last) = (at_ms, self.seq_last.max(event.seq));
        self.errors.extend(error_of(event));
        if event.kind.durability() != Durability::Ephemeral {
            self.ticked = None;
        }
        match &event.kind {
            EventKind::RunStarted { .. } => self.start(&event.kind, at_ms),
            EventKind::RunResumed { .. } => {
                self.outcome = None;
                self.n_resumed += 1;
                self.segment_at_ms = at_ms;
            }
            EventKind::RunFinished { outcome } => {
                self.outcome = Some(outcome.clone());
                // Requests that were on their way were given up and counted before.
                self.calls.values_mut().for_each(|call| call.is_awaited = false);
            }
            EventKind::SourceScanned { documents, bytes, skipped, redacted, .. } => {
                self.n_documents = self.n_documents.saturating_add(*documents);
                self.corpus_bytes = self.corpus_bytes.saturating_add(*bytes);
                add(&mut self.skipped, skipped);
                add(&mut self.redacted, redacted);
            }
            EventKind::FrameOpened { strategy, question, .. } => {
                let frame = FrameView::opened(*strategy, question.clone(), event);
                self.frames.entry(event.frame.clone()).or_insert(frame);
            }
            EventKind::FrameClosed { outcome } => {
                self.count_failed_task(event, outcome);
                if let Some(frame) = self.frames.get_mut(&event.frame) {
                    frame.close(outcome.clone(), at_ms);
                }
            }
            EventKind::PassagesChosen { documents, bytes, .. } => {
                self.documents_read = self.documents_read.saturating_add(*documents);
                self.bytes_read = self.bytes_read.saturating_add(*bytes);
            }
            EventKind::CallStarted { .. }
            | EventKind::CallRetried { .. }
            | EventKind::CallWasted { .. }
            | EventKind::CallSettled { .. } => self.apply_call(event),
            EventKind::CitationChecked { citation, found } => self.citations.push((citation.clone(), *found)),
            EventKind::LimitReached { limit, value } => self.limits_reached.push((limit.clone(), *value)),
            EventKind::WarningRaised { message, hint } => self.warn(message, hint),
            EventKind::CellRan { .. } => self.add_cell(event),
            EventKind::ToolRan { name, failed, files, .. } => {
                let (n_calls, n_failed) = self.tools.entry(name.clone()).or_default();
                *n_calls += 1;
                *n_failed += u64::from(*failed);
                self.add_facts(&event.frame, files);
            }
            EventKind::QuestionAdded { question } => self.ask_more(event, question),
            EventKind::FindingsRecalled { .. }
            | EventKind::TasksPlanned { .. }
            | EventKind::TaskReported { .. } => self.tasks.get_or_insert_default().apply(&event.kind),
            EventKind::ValueObserved { .. } | EventKind::DeskLaid { .. } | EventKind::CallStreamed { .. } => {
            }
            EventKind::ProgressTicked { .. } => self.tick(event),
        }
    }

    fn apply_call(&mut self, event: &Event) {
        if let EventKind::CallStarted { call, model, text, reserved, .. } = &event.kind {
            let started = || CallView::started(model.clone(), text.clone(), event);
            self.calls.entry(call.clone()).or_insert_with(started).send(*reserved);
        } else if let EventKind::CallRetried { call, code, .. } = &event.kind {
            if let Some(call) = self.calls.get_mut(call) {
                call.retry(*code);
            }
        } else if let EventKind::CallWasted { call, usage } = &event.kind {
            self.spent = self.spent.plus(*usage);
            if let Some(call) = self.calls.get_mut(call) {
                call.is_awaited = false;
            }
        } else if let EventKind::CallSettled { call, outcome, served } = &event.kind
            && let Some(view) = self.calls.get_mut(call)
        {
            self.spent = self.spent.plus(view.settle(outcome.clone(), *served, event.at_ms));
        }
    }

    fn tick(&mut self, event: &Event) {
        let EventKind::ProgressTicked { what, done, total, documents_done, documents_total } = &event.kind
        else {
            return;
        };
        let is_first = self.ticked.as_ref().is_none_or(|before| before.what != *what || before.done > *done);
        if is_first {
            self.ticked_since_ms = event.at_ms;
        }
        self.ticked = Some(Ticked {
            what: what.clone(),
            documents: documents_done.zip(*documents_total),
            done: *done,
            total: *total,
            took_ms: event.at_ms.saturating_sub(self.ticked_since_ms),
        });
    }

    fn start(&mut self, kind: &EventKind, at_ms: u64) {
        let EventKind::RunStarted {
            question, strategy, sources, model, sub_model, other_models, limits, ..
        } = kind
        else {
            return;
        };
        self.synthesis_model = other_models.as_ref().and_then(|others| others.synthesis.clone());
        self.sub_model = sub_model.as_deref().cloned();
        self.question = Some(question.clone());
        self.strategy = Some(*strategy);
        self.sources.clone_from(sources);
        self.model = Some(model.clone());
        self.limits = Some(limits.as_ref().clone());
        (self.started_at_ms, self.segment_at_ms) = (at_ms, at_ms);
    }

    /// The frame is at work again, on another question.
    fn ask_more(&mut self, event: &Event, question: &Text) {
        self.outcome = None;
        self.question = Some(question.clone());
        if let Some(frame) = self.frames.get_mut(&event.frame) {
            frame.question = question.clone();
            (frame.state, frame.closed_at_ms) = (FrameState::Open, None);
        }
    }

    /// The log of evidence only grows; a sub-agent's own is not the run's.
    fn add_facts(&mut self, frame: &FrameId, files: &[FileChange]) {
        if *frame != FrameId::root() {
            return;
        }
        for file in files.iter().filter(|file| file.path() == EVIDENCE) {
            match file {
                FileChange::Written { content, .. } => self.facts = vec![content.clone()],
                FileChange::Appended { content, .. } => self.facts.push(content.clone()),
                FileChange::Removed { .. } => self.facts.clear(),
            }
        }
    }

    fn count_failed_task(&mut self, event: &Event, outcome: &FrameOutcome) {
        let is_task = self.frames.get(&event.frame).is_some_and(|frame| frame.strategy == Strategy::Analyst);
        if let (true, FrameOutcome::Failed { .. }, Some(tasks)) = (is_task, outcome, &mut self.tasks) {
            tasks.failed += 1;
        }
    }

    fn add_cell(&mut self, event: &Event) {
        if let EventKind::CellRan { cell, code, outcome, output, took_ms, .. } = &event.kind {
            let cell = CellView {
                cell: *cell,
                code: code.clone(),
                outcome: outcome.clone(),
                output: output.clone(),
                took_ms: *took_ms,
                seq: event.seq,
            };
            self.cells.entry(event.frame.clone()).or_default().push(cell);
        }
    }

    /// Time in which a process was at work on the run.
    pub fn active_ms(&self) -> u64 {
        self.earlier_ms.saturating_add(self.updated_at_ms.saturating_sub(self.segment_at_ms))
    }

    /// Requests that were sent: answered, failed and tried again, or given up. What the cache answered is not among them.
    pub fn n_paid_calls(&self) -> u64 {
        self.calls.values().map(|call| call.n_requests).sum()
    }

    /// Calls that have ended, cached ones among them.
    pub fn n_settled_calls(&self) -> u64 {
        self.calls.values().filter(|call| call.state != CallState::Open).count() as u64
    }

    /// Requests whose end is not on record, and what was set aside for each: the process died while they were on their
    /// way.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (&CallId, Usage)> {
        let awaited = self.calls.iter().filter(|(_, call)| call.is_awaited);
        awaited.filter_map(|(id, call)| Some((id, call.reserved?)))
    }

    /// Calls answered from the cache.
    pub fn n_cached_calls(&self) -> u64 {
        let is_cached =
            |call: &&CallView| matches!(call.state, CallState::Replied { served: Served::Cache, .. });
        self.calls.values().filter(is_cached).count() as u64
    }

    /// The answer of the root frame, its evidence, and how far it rests on the sources.
    pub fn answer(&self) -> Option<(&Text, &[Citation], Grounding)> {
        match &self.frames.get(&FrameId::root())?.state {
            FrameState::Answered { answer, citations, grounding } => Some((answer, citations, *grounding)),
            FrameState::Open | FrameState::Failed { .. } => None,
        }
    }

    /// A resumed run says its warnings again; once is enough for a reader.
    fn warn(&mut self, message: &str, hint: &str) {
        let warning = (message.to_owned(), hint.to_owned());
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

fn add(sums: &mut BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) {
    for (name, n) in counts {
        let sum = sums.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*n);
    }
}

impl TasksView {
    fn apply(&mut self, kind: &EventKind) {
        if let EventKind::FindingsRecalled { units, .. } = kind {
            self.recalled = *units;
        } else if let EventKind::TasksPlanned { tasks, documents, .. } = kind {
            (self.planned, self.documents) = (*tasks, *documents);
        } else if let EventKind::TaskReported { findings, .. } = kind {
            self.done += 1;
            add(&mut self.findings, findings);
        }
    }
}

impl FrameView {
    fn opened(strategy: Strategy, question: Text, event: &Event) -> Self {
        let (seq, opened_at_ms) = (event.seq, event.at_ms);
        Self { strategy, question, state: FrameState::Open, seq, opened_at_ms, closed_at_ms: None }
    }

    fn close(&mut self, outcome: FrameOutcome, at_ms: u64) {
        self.closed_at_ms = Some(at_ms);
        self.state = match outcome {
            FrameOutcome::Answered { answer, citations, grounding } => {
                FrameState::Answered { answer, citations, grounding }
            }
            FrameOutcome::Failed { code, message } => FrameState::Failed { code, message },
        };
    }
}

impl CallView {
    fn started(model: String, prompt: Text, event: &Event) -> Self {
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
        }
    }

    /// A request is sent, unless nothing was set aside for one.
    fn send(&mut self, reserved: Option<Usage>) {
        if reserved.is_some() {
            self.n_requests += 1;
            (self.reserved, self.is_awaited) = (reserved, true);
        }
    }

    fn retry(&mut self, code: ErrorCode) {
        self.retries.push(code);
        // A journal of an older engine means what it meant: there, a call was one however often it was tried.
        self.n_requests += u64::from(self.reserved.is_some());
        self.is_awaited = true;
    }

    /// Ends the call and says what it cost. One that has ended keeps its first end.
    fn settle(&mut self, outcome: CallOutcome, served: Served, at_ms: u64) -> Usage {
        if self.state != CallState::Open {
            return Usage::default();
        }
        self.settled_at_ms = Some(at_ms);
        self.is_awaited = false;
        let (state, usage, is_sent) = match outcome {
            CallOutcome::Replied { reply, usage, .. } => {
                (CallState::Replied { reply, usage, served }, usage, served == Served::Live)
            }
            // What the purse refused was never sent.
            CallOutcome::Failed { code, .. } => {
                (CallState::Failed { code }, Usage::default(), code.blame() != Blame::Limit)
            }
        };
        // Older engines did not say when a request was sent, only that it had an end.
        self.n_requests += u64::from(is_sent && self.reserved.is_none());
        self.state = state;
        usage
    }
}

#[cfg(test)]
mod tests;
