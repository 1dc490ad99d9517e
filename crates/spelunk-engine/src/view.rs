//! `RunView`: the state of a run, folded from its events. This is the only reducer; every front end renders it. Pure
//! and total: any prefix of a journal yields a view.

mod again;
mod effects;
mod reading;
mod tree;

use std::collections::BTreeMap;

use spelunk_types::{
    CallId, CellOutcome, Citation, Confidence, Durability, EffectId, Event, EventKind, FileChange, Found,
    FrameId, FrameOutcome, Grounding, Limits, ModelRef, RunOutcome, Served, SourceSpec, Strategy, Text,
    Usage,
};

pub(crate) use self::again::{SetAside, still_counts};
pub use self::effects::{ConsentView, EffectView};
use self::reading::ReadAmounts;
pub(crate) use self::tree::error_of;
pub use self::tree::{CallState, CallView, FrameView, ReportError};

const EVIDENCE: &str = "state/evidence.jsonl";

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RunView {
    /// The last event applied.
    pub seq_last: u64,
    pub question: Option<Text>,
    /// The strategy of the root frame.
    pub strategy: Option<Strategy>,
    /// Whether it is a turn of a caller that runs its own tools.
    pub is_turn: bool,
    /// The strategy that `auto` continued with.
    pub chosen: Option<Strategy>,
    /// The model of the root frame.
    pub model: Option<ModelRef>,
    /// The model for sub-calls, if different.
    pub sub_model: Option<ModelRef>,
    /// The model that merges findings, if not the root's.
    pub synthesis_model: Option<ModelRef>,
    pub sources: Vec<SourceSpec>,
    pub limits: Option<Limits>,
    pub n_documents: u64,
    pub corpus_bytes: u64,
    /// Skipped files, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Redacted secrets, by rule.
    pub redacted: BTreeMap<String, u64>,
    /// Bytes of documents that were shown to a model that answered.
    pub bytes_read: u64,
    /// Documents read this way; for analysts, those read completely.
    pub documents_read: u64,
    reading: ReadAmounts,
    pub frames: BTreeMap<FrameId, FrameView>,
    pub calls: BTreeMap<CallId, CallView>,
    /// The code cells that ran, by frame.
    pub cells: BTreeMap<FrameId, Vec<CellView>>,
    /// Tools that agents called, by name: calls and failures.
    pub tools: BTreeMap<String, (u64, u64)>,
    /// Calls of external tools.
    pub effects: BTreeMap<EffectId, EffectView>,
    /// The descriptions of these tools for the model, as JSON.
    pub tools_told: Option<Text>,
    pub tasks: Option<TasksView>,
    /// Progress of long work that is not recorded; cleared by the next recorded event.
    pub ticked: Option<Ticked>,
    pub spent: Usage,
    /// Warnings for the user, with hints.
    pub warnings: Vec<(String, String)>,
    /// Checked citations and the results.
    pub citations: Vec<(Citation, Found)>,
    /// The evidence saved by the root agent: JSON lines, in pieces as they were appended.
    pub facts: Vec<Text>,
    /// Errors of calls, frames and the run.
    pub errors: Vec<ReportError>,
    /// Limits that were reached and not raised since.
    pub limits_reached: Vec<ReachedLimit>,
    /// How it ended; `None` while it runs or after a crash.
    pub outcome: Option<RunOutcome>,
    pub started_at_ms: u64,
    /// When the last event happened.
    pub updated_at_ms: u64,
    pub n_resumed: u64,
    aside: SetAside,
    /// Paid calls that were replaced by others.
    n_requests_aside: u64,
    citation_places: Vec<(u64, FrameId)>,
    fact_seqs: Vec<u64>,
    earlier_ms: u64,
    segment_at_ms: u64,
    ticked_since_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ReachedLimit {
    pub limit: String,
    pub value: u64,
    /// The event that recorded it; no earlier event depends on it.
    pub seq: u64,
}

/// Progress of long work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Ticked {
    pub what: String,
    /// Documents done, and their total.
    pub documents: Option<(u64, u64)>,
    /// Bytes.
    pub done: u64,
    pub total: u64,
    /// Time since the first report.
    pub took_ms: u64,
}

/// Progress of analysts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TasksView {
    /// Tasks of the plan.
    pub planned: u64,
    /// Documents of the plan.
    pub documents: u64,
    /// Parts whose findings were recalled from earlier runs.
    pub recalled: u64,
    /// Tasks with a report.
    pub done: u64,
    /// Tasks without one.
    pub failed: u64,
    /// Findings so far, by severity; `unrated` if it has none.
    pub findings: BTreeMap<String, u64>,
    /// The analysts' confidence, if any of them stated it.
    pub confidence: Option<Confidence>,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CellView {
    /// Its index in the frame, from 0.
    pub cell: u32,
    pub code: Text,
    pub outcome: CellOutcome,
    pub output: Text,
    /// How long it took, including waits for models.
    pub took_ms: u64,
    pub seq: u64,
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

    /// Applies one event.
    pub fn apply(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::RunResumed { .. }) {
            // The pause between two processes does not count.
            self.earlier_ms = self.active_ms();
        }
        (self.updated_at_ms, self.seq_last) = (event.at_ms, self.seq_last.max(event.seq));
        self.errors.extend(error_of(event));
        if event.kind.durability() != Durability::Ephemeral {
            self.ticked = None;
        }
        match &event.kind {
            EventKind::RunStarted { .. } => self.start(&event.kind, event.at_ms),
            EventKind::RunResumed { again_from, .. } => self.resume(event, *again_from),
            EventKind::RunFinished { outcome } => {
                self.outcome = Some(outcome.clone());
                // Requests in flight were abandoned and counted before.
                self.calls.values_mut().for_each(|call| call.is_awaited = false);
            }
            EventKind::SourceScanned { .. } => self.scan(&event.kind),
            EventKind::FrameOpened { strategy, question, .. } => self.open_frame(event, *strategy, question),
            EventKind::FrameClosed { outcome } => self.close_frame(event, outcome),
            EventKind::StrategyChosen { strategy, .. } => self.chosen = Some(*strategy),
            EventKind::PassagesChosen { documents, bytes, .. } => {
                self.reading.show(&event.frame, *documents, *bytes);
            }
            EventKind::CallStarted { .. } => self.start_call(event),
            EventKind::CallRetried { call, code, .. } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.retry(*code);
                }
            }
            EventKind::CallWasted { call, usage } => {
                self.spent = self.spent.plus(*usage);
                if let Some(call) = self.calls.get_mut(call) {
                    call.is_awaited = false;
                }
            }
            EventKind::CallSettled { call, outcome, served } => {
                if let Some(view) = self.calls.get_mut(call) {
                    self.spent = self.spent.plus(view.settle(outcome.clone(), *served, event));
                }
            }
            EventKind::CitationChecked { citation, found } => {
                self.citations.push((citation.clone(), *found));
                self.citation_places.push((event.seq, event.frame.clone()));
            }
            EventKind::LimitReached { limit, value } => {
                let (limit, value, seq) = (limit.clone(), *value, event.seq);
                self.limits_reached.push(ReachedLimit { limit, value, seq });
            }
            EventKind::WarningRaised { message, hint } => self.warn(message, hint),
            EventKind::CellRan { .. } => self.add_cell(event),
            EventKind::ToolRan { name, failed, files, .. } => {
                let (n_calls, n_failed) = self.tools.entry(name.clone()).or_default();
                *n_calls += 1;
                *n_failed += u64::from(*failed);
                self.add_facts(event, files);
            }
            EventKind::EffectAsked { .. }
            | EventKind::EffectDecided { .. }
            | EventKind::EffectStarted { .. }
            | EventKind::EffectSettled { .. } => self.act(event),
            EventKind::QuestionAdded { question } => self.ask_more(event, question),
            EventKind::FindingsRecalled { .. }
            | EventKind::TasksPlanned { .. }
            | EventKind::TaskReported { .. } => self.tasks.get_or_insert_default().apply(&event.kind),
            EventKind::ValueObserved { .. } | EventKind::DeskLaid { .. } | EventKind::CallStreamed { .. } => {
            }
            EventKind::ProgressTicked { .. } => self.tick(event),
        }
    }

    /// Another process continues the run; if a limit was raised, from the first refusal.
    fn resume(&mut self, event: &Event, again_from: Option<u64>) {
        if let Some(from) = again_from {
            self.aside.apply(event);
            self.set_aside(from);
        }
        self.forget_asked();
        self.outcome = None;
        self.n_resumed += 1;
        self.segment_at_ms = event.at_ms;
    }

    fn scan(&mut self, kind: &EventKind) {
        let EventKind::SourceScanned { documents, bytes, skipped, redacted, .. } = kind else { return };
        self.n_documents = self.n_documents.saturating_add(*documents);
        self.corpus_bytes = self.corpus_bytes.saturating_add(*bytes);
        add(&mut self.skipped, skipped);
        add(&mut self.redacted, redacted);
    }

    /// Opens a frame, unless one that still counts has its id.
    fn open_frame(&mut self, event: &Event, strategy: Strategy, question: &Text) {
        let is_taken = self.frames.get(&event.frame).is_some_and(|frame| !self.aside.holds(frame.seq));
        if !is_taken {
            let frame = FrameView::opened(strategy, question.clone(), event);
            self.frames.insert(event.frame.clone(), frame);
        }
    }

    fn close_frame(&mut self, event: &Event, outcome: &FrameOutcome) {
        self.count_failed_task(event, outcome);
        self.count_read(event, outcome);
        if let Some(frame) = self.frames.get_mut(&event.frame) {
            frame.close(outcome.clone(), event);
        }
    }

    /// Starts a call, possibly replacing one that was set aside.
    fn start_call(&mut self, event: &Event) {
        let EventKind::CallStarted { call, model, text, reserved, .. } = &event.kind else { return };
        let is_taken = self.calls.get(call).is_some_and(|call| !self.aside.holds(call.seq));
        if !is_taken {
            let started = CallView::started(model.clone(), text.clone(), event);
            let before = self.calls.insert(call.clone(), started);
            // A replacement does not undo what was paid.
            self.n_requests_aside += before.map_or(0, |before| before.n_requests);
        }
        if let Some(call) = self.calls.get_mut(call) {
            call.send(*reserved);
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
            question,
            strategy,
            sources,
            model,
            sub_model,
            other_models,
            turn,
            tools,
            limits,
            ..
        } = kind
        else {
            return;
        };
        self.synthesis_model = other_models.as_ref().and_then(|others| others.synthesis.clone());
        self.sub_model = sub_model.as_deref().cloned();
        self.question = Some(question.clone());
        self.strategy = Some(*strategy);
        self.is_turn = turn.is_some();
        self.tools_told.clone_from(tools);
        self.sources.clone_from(sources);
        self.model = Some(model.clone());
        self.limits = Some(limits.as_ref().clone());
        (self.started_at_ms, self.segment_at_ms) = (at_ms, at_ms);
    }

    /// Opens the frame again with another question.
    fn ask_more(&mut self, event: &Event, question: &Text) {
        self.outcome = None;
        // The answer that a limit cut short is now part of the conversation.
        self.limits_reached.clear();
        self.question = Some(question.clone());
        if let Some(frame) = self.frames.get_mut(&event.frame) {
            frame.question = question.clone();
            (frame.outcome, frame.closed_at_ms, frame.closed_seq) = (None, None, None);
        }
    }

    /// The evidence log is append-only; the log of a sub-agent is not the run's.
    fn add_facts(&mut self, event: &Event, files: &[FileChange]) {
        if event.frame != FrameId::root() {
            return;
        }
        for file in files.iter().filter(|file| file.path() == EVIDENCE) {
            match file {
                FileChange::Written { content, .. } => self.facts = vec![content.clone()],
                FileChange::Appended { content, .. } => self.facts.push(content.clone()),
                FileChange::Removed { .. } => self.facts.clear(),
            }
            self.fact_seqs.resize(self.facts.len(), event.seq);
        }
    }

    fn count_failed_task(&mut self, event: &Event, outcome: &FrameOutcome) {
        let is_task = self.frames.get(&event.frame).is_some_and(|frame| frame.strategy == Strategy::Analyst);
        if let (true, FrameOutcome::Failed { .. }, Some(tasks)) = (is_task, outcome, &mut self.tasks) {
            tasks.failed += 1;
        }
    }

    fn count_read(&mut self, event: &Event, outcome: &FrameOutcome) {
        if matches!(outcome, FrameOutcome::Failed { .. }) {
            return;
        }
        let Some((before, after)) = self.reading.answer(&event.frame) else { return };
        let change = |sum: u64, before: u64, after: u64| sum.saturating_sub(before).saturating_add(after);
        self.documents_read = change(self.documents_read, before.0, after.0);
        self.bytes_read = change(self.bytes_read, before.1, after.1);
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
            let cells = self.cells.entry(event.frame.clone()).or_default();
            // A cell with the same index was set aside, with all that came after it.
            cells.retain(|before| before.cell < cell.cell);
            cells.push(cell);
        }
    }

    /// The time in which a process worked on the run.
    pub fn active_ms(&self) -> u64 {
        self.earlier_ms.saturating_add(self.updated_at_ms.saturating_sub(self.segment_at_ms))
    }

    /// Requests that were sent: answered, failed and retried, or abandoned. Calls answered from the cache do not
    /// count.
    pub fn n_paid_calls(&self) -> u64 {
        self.n_requests_aside + self.calls.values().map(|call| call.n_requests).sum::<u64>()
    }

    /// Calls that have ended, including cached ones.
    pub fn n_settled_calls(&self) -> u64 {
        self.calls.values().filter(|call| call.state != CallState::Open).count() as u64
    }

    /// Requests without a recorded end, with the reservation of each: they were in flight when the process died.
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

    /// The answer of the root frame, its evidence, and how well the sources support it.
    pub fn answer(&self) -> Option<(&Text, &[Citation], Grounding)> {
        match self.frames.get(&FrameId::root())?.outcome.as_ref()? {
            FrameOutcome::Answered { answer, citations, grounding } => Some((answer, citations, *grounding)),
            FrameOutcome::Failed { .. } => None,
        }
    }

    /// How certain the answer is, from 0 to 1: what analysts stated, times the share of parts that
    /// they read; without analysts, the share of its quotes that were found in the sources.
    #[expect(clippy::cast_precision_loss, reason = "parts and quotes are few")]
    pub fn confidence(&self) -> Option<f64> {
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let certainty = match &self.tasks {
            Some(tasks) => {
                let read = tasks.done + tasks.recalled;
                // A run that has ended starts no further tasks.
                let ended = if self.outcome.is_some() { tasks.planned } else { tasks.done + tasks.failed };
                tasks.confidence?.mean * share(read, ended + tasks.recalled)
            }
            None => {
                let n_found = self.citations.iter().filter(|(_, found)| *found != Found::Missing).count();
                self.answer().filter(|_| !self.citations.is_empty())?;
                share(n_found as u64, self.citations.len() as u64)
            }
        };
        Some((certainty * 1000.0).round() / 1000.0)
    }

    /// A resumed run repeats its warnings; each is listed once.
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
        if let EventKind::FindingsRecalled { units, confidence, .. } = kind {
            (self.recalled, self.confidence) = (*units, *confidence);
        } else if let EventKind::TasksPlanned { tasks, documents, .. } = kind {
            (self.planned, self.documents) = (*tasks, *documents);
        } else if let EventKind::TaskReported { findings, confidence, .. } = kind {
            self.done += 1;
            self.confidence = Confidence::merged(self.confidence.into_iter().chain(*confidence));
            add(&mut self.findings, findings);
        }
    }
}

#[cfg(test)]
mod tests;
