//! The projection: a run as a folder of plain files for people and other tools, derived from its journal. It is never
//! read back and can be deleted at any time; the same journal always yields the same bytes.

mod desk;
mod files;
mod live;

use std::collections::{BTreeMap, BTreeSet};

use spelunk_journal::{Blobs, DerivedFiles, JournalError, Record, Workspace};
use spelunk_types::{
    AnalystReport, BlobId, CallOutcome, Citation, ErrorCode, Event, EventKind, FrameId, FrameOutcome, RunId,
    Strategy, Text, Unit,
};

pub use self::live::Projector;
use crate::RunView;
use crate::findings::label_of;
use crate::journal::wire;
use crate::run_start::RunStart;
use crate::view::{SetAside, error_of, still_counts};

const EVIDENCE: &str = "state/evidence.jsonl";
const ERRORS: &str = "state/errors.jsonl";

/// The state from which the files of a run are written.
pub struct Projection {
    workspace: Workspace,
    run: RunId,
    files: DerivedFiles,
    blobs: Blobs,
    view: RunView,
    start: Option<RunStart>,
    workers: BTreeMap<FrameId, Worker>,
    chunks: Vec<ChunkRow>,
    /// Content types that were read.
    types: BTreeSet<String>,
    tokens: BTreeMap<FrameId, u64>,
    /// How many workers each frame opened.
    nested: BTreeMap<FrameId, u64>,
    /// For each worker that reports a confidence: that, and the tokens it used.
    confidences: Vec<(f64, u64)>,
    /// Lines to be appended, by file.
    lines: BTreeMap<&'static str, String>,
    /// Files that have been appended to.
    appended: BTreeSet<&'static str>,
    /// Hashes of the files as last written.
    written: BTreeMap<&'static str, BlobId>,
    /// What the agent counted, as it stands on its desk.
    counted: serde_json::Map<String, serde_json::Value>,
    /// Whether the run has a desk: then some files belong to the agent.
    has_desk: bool,
    /// Whether `context.txt` is a copy of the text.
    has_copy: bool,
}

/// A child frame.
struct Worker {
    /// Starts at 1, in order of opening.
    number: usize,
    strategy: Strategy,
    question: Text,
    note: Option<Text>,
    opened_at_ms: u64,
    /// Its row in the manifest.
    chunk_idx: Option<usize>,
}

/// What one task reads, by reference.
struct ChunkRow {
    worker: Option<usize>,
    /// A label for people.
    label: String,
    /// Known once its report exists.
    units: Vec<Unit>,
    content_type: Option<String>,
    state: &'static str,
}

/// How a worker ended.
enum Ending {
    Reported(Box<AnalystReport>),
    Answered { text: String, citations: Vec<Citation> },
    Failed { code: ErrorCode, message: String },
}

impl Projection {
    /// Creates an empty projection; nothing is written yet.
    pub fn new(workspace: &Workspace, run: &RunId, files: DerivedFiles) -> Self {
        Self {
            workspace: workspace.clone(),
            run: run.clone(),
            files,
            blobs: workspace.blobs_of(run),
            view: RunView::default(),
            start: None,
            workers: BTreeMap::new(),
            chunks: Vec::new(),
            types: BTreeSet::new(),
            tokens: BTreeMap::new(),
            nested: BTreeMap::new(),
            confidences: Vec::new(),
            lines: BTreeMap::from([(EVIDENCE, String::new()), (ERRORS, String::new())]),
            appended: BTreeSet::new(),
            written: BTreeMap::new(),
            counted: serde_json::Map::new(),
            has_desk: false,
            has_copy: false,
        }
    }

    /// Writes all files of a run from its current journal.
    pub fn rebuild(workspace: &Workspace, run: &RunId, files: DerivedFiles) -> Result<(), JournalError> {
        files.remove_leftovers();
        let mut projection = Self::new(workspace, run, files);
        for record in workspace.read_journal(run)? {
            projection.apply(&record)?;
        }
        projection.flush()
    }

    /// Applies one event. Files of single tasks are written at once, the others by `flush`.
    pub fn apply(&mut self, record: &Record) -> Result<(), JournalError> {
        let Record::Known(event) = record else { return Ok(()) };
        self.take_in(event)?;
        self.view.apply(event);
        Ok(())
    }

    fn take_in(&mut self, event: &Event) -> Result<(), JournalError> {
        if let Some(error) = error_of(event) {
            self.line(ERRORS, &files::error_line(&error));
        }
        match &event.kind {
            EventKind::RunStarted { .. } => self.start = RunStart::of(&event.kind),
            EventKind::FrameOpened { strategy, question, note, .. } => {
                self.open(event, *strategy, question, note.as_ref())?;
            }
            EventKind::FrameClosed { outcome } => self.close(event, outcome)?,
            EventKind::FindingsRecalled { reports, .. } => self.recall(event, reports)?,
            EventKind::TasksPlanned { by_type, .. } => self.types.extend(by_type.keys().cloned()),
            EventKind::CitationChecked { citation, found } => {
                self.line(EVIDENCE, &files::citation_line(event, citation, *found));
            }
            EventKind::DeskLaid { files, .. } => self.lay(event, files)?,
            EventKind::ToolRan { files, .. } => self.change(event, files)?,
            EventKind::CallSettled { call, outcome: CallOutcome::Replied { usage, .. }, .. } => {
                let tokens = self.tokens.entry(call.frame.clone()).or_default();
                *tokens = tokens.saturating_add(usage.tokens());
            }
            EventKind::RunResumed { again_from: Some(_), .. } => self.set_aside(event)?,
            EventKind::RunResumed { again_from: None, .. }
            | EventKind::RunFinished { .. }
            | EventKind::SourceScanned { .. }
            | EventKind::StrategyChosen { .. }
            | EventKind::PassagesChosen { .. }
            | EventKind::CallStarted { .. }
            | EventKind::CallRetried { .. }
            | EventKind::CallWasted { .. }
            | EventKind::CallSettled { .. }
            | EventKind::CellRan { .. }
            | EventKind::QuestionAdded { .. }
            | EventKind::ValueObserved { .. }
            | EventKind::TaskReported { .. }
            | EventKind::LimitReached { .. }
            | EventKind::WarningRaised { .. }
            | EventKind::CallStreamed { .. }
            | EventKind::ProgressTicked { .. } => {}
        }
        Ok(())
    }

    /// Starts over with the events that still count after a limit was raised. Costs stay counted.
    fn set_aside(&mut self, resumed: &Event) -> Result<(), JournalError> {
        let records = self.workspace.read_journal(&self.run)?;
        let events = records.iter().filter_map(|record| match record {
            Record::Known(event) => Some(event.as_ref()),
            Record::Unknown { .. } => None,
        });
        let before: Vec<&Event> = events.filter(|event| event.seq <= resumed.seq).collect();
        let aside = SetAside::of(before.iter().copied());
        for stale in desk::ANSWERS {
            self.files.remove(stale)?;
        }
        let mut anew = Self::new(&self.workspace, &self.run, self.files.clone());
        for event in before.iter().filter(|event| event.seq < resumed.seq) {
            let counts = !aside.holds(event.seq) || still_counts(&event.kind);
            if counts && !matches!(event.kind, EventKind::RunResumed { .. }) {
                anew.take_in(event)?;
            }
        }
        anew.view = std::mem::take(&mut self.view);
        *self = anew;
        Ok(())
    }

    /// Updates the files about the whole run. The answer is written last: if it exists, the others are complete.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        for (name, lines) in std::mem::take(&mut self.lines) {
            if self.appended.insert(name) {
                self.files.replace(name, lines.as_bytes())?;
            } else if !lines.is_empty() {
                self.files.append(name, lines.as_bytes())?;
            }
        }
        let Some(start) = &self.start else { return Ok(()) };
        let question = self.blobs.text(&start.question)?;
        let corpus = start.corpus.as_deref();
        let kept = |text: Option<&Text>| text.map(|text| self.blobs.text(text)).transpose();
        let listed = files::documents(start, kept(corpus.map(|corpus| &corpus.documents))?.as_deref());
        let copy = corpus.and_then(|corpus| corpus.context.as_ref()).filter(|_| !self.has_copy);
        let copy = match kept(copy) {
            // A power cut may have lost it, and at the start it is not written yet.
            Err(JournalError::Blob { .. }) => None,
            read => read?,
        };
        let has_copy = self.has_copy || copy.is_some();
        let mut whole = vec![
            ("chunks/manifest.json", files::manifest(&self.chunks)),
            ("state/metrics.json", files::metrics(self)),
            ("metadata.json", files::metadata(self, start, has_copy)),
        ];
        if !self.has_copy {
            whole.push(("context.txt", copy.unwrap_or_else(|| listed.clone())));
        }
        whole.push(("input/documents.txt", listed));
        if !self.has_desk {
            whole.push(("input/prompt.md", format!("{question}\n")));
            whole.push(("state/job.json", files::job(start, &self.run)));
        }
        if let Some((answer, ..)) = self.view.answer().filter(|_| !self.has_desk) {
            let answer = format!("{}\n", self.blobs.text(answer)?.trim_end());
            whole.extend(desk::ANSWERS.map(|name| (name, answer.clone())));
        }
        for (name, text) in whole {
            let digest = spelunk_journal::digest(text.as_bytes());
            if self.written.get(name) != Some(&digest) {
                self.files.replace(name, text.as_bytes())?;
                self.written.insert(name, digest);
            }
        }
        self.has_copy = has_copy;
        Ok(())
    }

    fn open(
        &mut self,
        event: &Event,
        strategy: Strategy,
        question: &Text,
        note: Option<&Text>,
    ) -> Result<(), JournalError> {
        let is_worker = event.frame.parent().is_some() && strategy != Strategy::Synthesis;
        if !is_worker || self.workers.contains_key(&event.frame) {
            return Ok(());
        }
        let number = self.workers.len() + 1;
        if let Some(parent) = event.frame.parent() {
            *self.nested.entry(parent).or_default() += 1;
        }
        let note_text = note.map(|note| self.blobs.text(note)).transpose()?.unwrap_or_default();
        let chunk_idx = (strategy == Strategy::Analyst).then_some(self.chunks.len());
        if chunk_idx.is_some() {
            let label = label_of(&note_text);
            let row = ChunkRow {
                worker: Some(number),
                label,
                units: Vec::new(),
                content_type: None,
                state: "pending",
            };
            self.chunks.push(row);
        }
        let worker = Worker {
            number,
            strategy,
            question: question.clone(),
            note: note.cloned(),
            opened_at_ms: event.at_ms,
            chunk_idx,
        };
        let task = files::task(&worker, &self.blobs.text(question)?, &note_text, None);
        self.files.replace(&task_name(number), task.as_bytes())?;
        self.workers.insert(event.frame.clone(), worker);
        Ok(())
    }

    fn close(&mut self, event: &Event, outcome: &FrameOutcome) -> Result<(), JournalError> {
        if self.has_desk && event.frame == FrameId::root() {
            return self.answer_desk(outcome);
        }
        let Some(worker) = self.workers.get(&event.frame) else { return Ok(()) };
        let ending = match outcome {
            FrameOutcome::Failed { code, message } => {
                Ending::Failed { code: *code, message: message.clone() }
            }
            FrameOutcome::Answered { answer, citations, .. } => {
                let text = self.blobs.text(answer)?;
                let report = (worker.strategy == Strategy::Analyst).then(|| serde_json::from_str(&text).ok());
                match report.flatten() {
                    Some(report) => Ending::Reported(Box::new(report)),
                    None => Ending::Answered { text, citations: citations.clone() },
                }
            }
        };
        let question = self.blobs.text(&worker.question)?;
        let note = worker.note.as_ref().map(|note| self.blobs.text(note)).transpose()?.unwrap_or_default();
        let result = files::worker(self, worker, event, &question, &ending);
        let task = files::task(worker, &question, &note, Some(&ending));
        let (number, chunk_idx) = (worker.number, worker.chunk_idx);
        self.files.replace(&worker_name(number), result.as_bytes())?;
        self.files.replace(&task_name(number), task.as_bytes())?;
        if let Some(row) = chunk_idx.and_then(|idx| self.chunks.get_mut(idx)) {
            row.state = if matches!(ending, Ending::Failed { .. }) { "failed" } else { "analysed" };
        }
        if let Ending::Reported(report) = &ending {
            if let Some(row) = chunk_idx.and_then(|idx| self.chunks.get_mut(idx)) {
                (row.units, row.content_type) = (report.units.clone(), Some(report.content_type.clone()));
            }
            let tokens = self.tokens.get(&event.frame).copied().unwrap_or_default();
            self.confidences.extend(files::confidence(report).map(|confidence| (confidence, tokens)));
            self.add_findings(event, Some(number), report);
        }
        Ok(())
    }

    fn recall(&mut self, event: &Event, reports: &Text) -> Result<(), JournalError> {
        for report in wire::read_reports(&self.blobs.text(reports)?).into_values() {
            self.types.insert(report.content_type.clone());
            let label = report.units.first().map(|unit| unit.file.clone()).unwrap_or_default();
            self.add_findings(event, None, &report);
            let content_type = Some(report.content_type);
            self.chunks.push(ChunkRow {
                worker: None,
                label,
                units: report.units,
                content_type,
                state: "recalled",
            });
        }
        Ok(())
    }

    fn add_findings(&mut self, event: &Event, worker: Option<usize>, report: &AnalystReport) {
        for finding in &report.findings {
            self.line(EVIDENCE, &files::finding_line(event, worker, report, finding));
        }
    }

    fn line(&mut self, name: &'static str, line: &str) {
        let lines = self.lines.entry(name).or_default();
        lines.push_str(line);
        lines.push('\n');
    }
}

fn task_name(number: usize) -> String {
    format!("tasks/task_{number:04}.md")
}

fn worker_name(number: usize) -> String {
    format!("results/worker_{number:04}.json")
}
