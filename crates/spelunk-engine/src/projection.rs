//! The projection: a run as a folder of plain files for people and other tools, derived from its journal. It is never
//! read back and can be deleted at any time; the same journal always yields the same bytes.

mod desk;
mod files;
mod live;

use std::collections::{BTreeMap, BTreeSet};

use spelunk_context::Detector;
use spelunk_journal::{Blobs, DerivedFiles, JournalError, Record, Workspace};
use spelunk_types::{
    AnalystReport, BlobId, CallOutcome, Citation, ErrorCode, Event, EventKind, FrameId, FrameOutcome, RunId,
    Strategy, Text,
};

pub use self::live::Projector;
use crate::RunView;
use crate::journal::wire;
use crate::run_start::RunStart;
use crate::task::Noted;
use crate::view::{SetAside, error_of, still_counts};

const EVIDENCE: &str = "state/evidence.jsonl";
const ERRORS: &str = "state/errors.jsonl";

/// Writes the files of a run.
pub struct Projection {
    workspace: Workspace,
    run: RunId,
    files: DerivedFiles,
    blobs: Blobs,
    /// Whether the run is about to be archived.
    is_archived: bool,
    state: State,
}

#[derive(Default)]
struct State {
    view: RunView,
    start: Option<RunStart>,
    workers: BTreeMap<FrameId, Worker>,
    chunks: Vec<ChunkRow>,
    n_chunk_files: usize,
    /// Tasks other than syntheses.
    n_tasks: usize,
    /// Content types of the documents: implied by their names until a plan has detected them.
    types: BTreeSet<String>,
    is_planned: bool,
    /// The tasks that a synthesis reads, by content type.
    reported: BTreeMap<String, Vec<String>>,
    tokens: BTreeMap<FrameId, u64>,
    /// How many workers each frame opened.
    nested: BTreeMap<FrameId, u64>,
    /// Lines to be appended, by file.
    lines: BTreeMap<&'static str, String>,
    appended: BTreeSet<&'static str>,
    written: BTreeMap<&'static str, BlobId>,
    /// The agent's metrics, as in its `metrics.json`.
    counted: serde_json::Map<String, serde_json::Value>,
    /// Whether the run has a desk, so that some files belong to the agent.
    has_desk: bool,
    /// Whether `context.txt` is a copy of the text.
    has_copy: bool,
}

/// A child frame, or a part whose report was recalled.
struct Worker {
    /// `task_0001`, in order of opening, or `synth-code`.
    task: String,
    /// `results/worker_0001.json`, or `results/synth-code.json`.
    result: String,
    frame: FrameId,
    strategy: Strategy,
    question: Text,
    note: Option<Text>,
    blocked_by: Vec<String>,
    opened_at_ms: u64,
    /// Its row in the manifest.
    chunk_idx: Option<usize>,
}

/// What one task reads, by reference.
struct ChunkRow {
    result: String,
    noted: Noted,
    state: &'static str,
}

enum Ending {
    Recalled(Box<AnalystReport>),
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
            is_archived: false,
            state: State::default(),
        }
    }

    /// Writes all files of a run from its current journal.
    pub fn rebuild(workspace: &Workspace, run: &RunId, files: DerivedFiles) -> Result<(), JournalError> {
        Self::new(workspace, run, files).write_all()
    }

    /// The same for a run that is about to be archived, which its metadata records.
    pub fn rebuild_archived(
        workspace: &Workspace,
        run: &RunId,
        files: DerivedFiles,
    ) -> Result<(), JournalError> {
        Self { is_archived: true, ..Self::new(workspace, run, files) }.write_all()
    }

    fn write_all(mut self) -> Result<(), JournalError> {
        self.files.remove_leftovers();
        for record in self.workspace.read_journal(&self.run)? {
            self.apply(&record)?;
        }
        self.flush()
    }

    /// Applies one event. Files of single tasks are written at once, the others by `flush`.
    pub fn apply(&mut self, record: &Record) -> Result<(), JournalError> {
        let Record::Known(event) = record else { return Ok(()) };
        self.take_in(event)?;
        self.state.view.apply(event);
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no file tells of the other events by themselves")]
    fn take_in(&mut self, event: &Event) -> Result<(), JournalError> {
        if let Some(error) = error_of(event) {
            self.line(ERRORS, &files::error_line(&error));
        }
        match &event.kind {
            EventKind::RunStarted { corpus, .. } => {
                self.state.start = RunStart::of(&event.kind);
                if let Some(corpus) = corpus {
                    let listed = self.blobs.text(&corpus.documents)?;
                    let names = listed.lines().filter_map(|line| line.splitn(3, ' ').nth(2));
                    let detector = Detector::default();
                    let types = names.map(|name| detector.detect(name, "").content_type.name().to_owned());
                    self.state.types = types.collect();
                }
            }
            EventKind::FrameOpened { strategy, question, note, .. } => {
                self.open(event, *strategy, question, note.as_ref())?;
            }
            EventKind::FrameClosed { outcome } => self.close(event, outcome)?,
            EventKind::FindingsRecalled { reports, .. } => self.recall(event, reports)?,
            EventKind::TasksPlanned { by_type, .. } => self.plan(by_type.keys().cloned()),
            EventKind::CitationChecked { citation, found } => {
                self.line(EVIDENCE, &files::citation_line(event, citation, *found));
            }
            EventKind::DeskLaid { files, .. } => self.lay(event, files)?,
            EventKind::ToolRan { files, .. } => self.change(event, files)?,
            EventKind::CallSettled { call, outcome: CallOutcome::Replied { usage, .. }, .. } => {
                let tokens = self.state.tokens.entry(call.frame.clone()).or_default();
                *tokens = tokens.saturating_add(usage.tokens());
            }
            EventKind::RunResumed { again_from: Some(_), .. } => self.set_aside(event)?,
            _ => {}
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
        let view = std::mem::take(&mut self.state).view;
        for event in before.iter().filter(|event| event.seq < resumed.seq) {
            let counts = !aside.holds(event.seq) || still_counts(&event.kind);
            if counts && !matches!(event.kind, EventKind::RunResumed { .. }) {
                self.take_in(event)?;
            }
        }
        self.state.view = view;
        Ok(())
    }

    /// Updates the files about the whole run. The answer is written last: if it exists, the others are complete.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        for name in [EVIDENCE, ERRORS] {
            let lines = self.state.lines.remove(name).unwrap_or_default();
            if self.state.appended.insert(name) {
                self.files.replace(name, lines.as_bytes())?;
            } else if !lines.is_empty() {
                self.files.append(name, lines.as_bytes())?;
            }
        }
        let Some(start) = &self.state.start else { return Ok(()) };
        let question = self.blobs.text(&start.question)?;
        let corpus = start.corpus.as_deref();
        let kept = |text: Option<&Text>| text.map(|text| self.blobs.text(text)).transpose();
        let listed = files::documents(start, kept(corpus.map(|corpus| &corpus.documents))?.as_deref());
        let is_needed = !self.state.has_copy || self.state.n_chunk_files < self.state.chunks.len();
        let copy = corpus.and_then(|corpus| corpus.context.as_ref()).filter(|_| is_needed);
        let copy = match kept(copy) {
            // A power failure may have lost it, and at the start it is not written yet.
            Err(JournalError::Blob { .. }) => None,
            read => read?,
        };
        let has_copy = self.state.has_copy || copy.is_some();
        let n_written = if has_copy == self.state.has_copy { self.state.n_chunk_files } else { 0 };
        let texts = copy.as_deref().map(|copy| files::texts(&listed, copy));
        for (idx, row) in self.state.chunks.iter().enumerate().skip(n_written) {
            let text = files::chunk(&row.noted.units, texts.as_ref());
            self.files.replace(&files::chunk_name(idx), text.as_bytes())?;
        }
        let mut whole = vec![
            ("chunks/manifest.json", files::manifest(&self.state.chunks)),
            ("state/metrics.json", files::metrics(self)),
            ("metadata.json", files::metadata(self, start, has_copy)),
        ];
        if !self.state.has_copy {
            whole.push(("context.txt", copy.unwrap_or_else(|| listed.clone())));
        }
        whole.push(("input/documents.txt", listed));
        if !self.state.has_desk {
            whole.push(("input/prompt.md", format!("{question}\n")));
            whole.push(("state/job.json", files::job(start, &self.run)));
        }
        if let Some((answer, ..)) = self.state.view.answer().filter(|_| !self.state.has_desk) {
            let answer = format!("{}\n", self.blobs.text(answer)?.trim_end());
            whole.extend(desk::ANSWERS.map(|name| (name, answer.clone())));
        }
        let context = corpus.and_then(|corpus| corpus.context.as_ref()?.blob());
        for (name, text) in whole {
            let digest = spelunk_journal::digest(text.as_bytes());
            if self.state.written.get(name) != Some(&digest) {
                match context.filter(|blob| **blob == digest) {
                    Some(blob) => self.files.replace_by_blob(name, blob, text.as_bytes())?,
                    None => self.files.replace(name, text.as_bytes())?,
                }
                self.state.written.insert(name, digest);
            }
        }
        (self.state.has_copy, self.state.n_chunk_files) = (has_copy, self.state.chunks.len());
        Ok(())
    }

    /// Replaces the content types that names imply by those that a plan detected.
    fn plan(&mut self, types: impl Iterator<Item = String>) {
        if !std::mem::replace(&mut self.state.is_planned, true) {
            self.state.types.clear();
        }
        self.state.types.extend(types);
    }

    fn open(
        &mut self,
        event: &Event,
        strategy: Strategy,
        question: &Text,
        note: Option<&Text>,
    ) -> Result<(), JournalError> {
        let Some(parent) = event.frame.parent() else { return Ok(()) };
        if self.state.workers.contains_key(&event.frame) {
            return Ok(());
        }
        let mut worker = self.worker(event, strategy, question.clone(), note.cloned());
        let note = self.note_of(&worker)?;
        if strategy == Strategy::Synthesis {
            worker.join(&note, &self.state.reported, &self.state.workers.values());
        } else {
            *self.state.nested.entry(parent).or_default() += 1;
            self.state.n_tasks += 1;
        }
        if strategy == Strategy::Analyst {
            worker.chunk_idx = Some(self.add_chunk(&worker, Noted::read(&note), "pending"));
        }
        let task = files::task(self, &worker, &self.blobs.text(question)?, &note, None);
        self.files.replace(&worker.task_file(), task.as_bytes())?;
        self.state.workers.insert(event.frame.clone(), worker);
        Ok(())
    }

    fn worker(&self, event: &Event, strategy: Strategy, question: Text, note: Option<Text>) -> Worker {
        let number = self.state.n_tasks + 1;
        Worker {
            task: format!("task_{number:04}"),
            result: format!("results/worker_{number:04}.json"),
            frame: event.frame.clone(),
            strategy,
            question,
            note,
            blocked_by: Vec::new(),
            opened_at_ms: event.at_ms,
            chunk_idx: None,
        }
    }

    fn note_of(&self, worker: &Worker) -> Result<String, JournalError> {
        Ok(worker.note.as_ref().map(|note| self.blobs.text(note)).transpose()?.unwrap_or_default())
    }

    fn add_chunk(&mut self, worker: &Worker, noted: Noted, state: &'static str) -> usize {
        self.state.chunks.push(ChunkRow { result: worker.result.clone(), noted, state });
        self.state.chunks.len() - 1
    }

    fn close(&mut self, event: &Event, outcome: &FrameOutcome) -> Result<(), JournalError> {
        if self.state.has_desk && event.frame == FrameId::root() {
            return self.answer_desk(outcome);
        }
        let Some(worker) = self.state.workers.get(&event.frame) else { return Ok(()) };
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
        self.write_ending(worker, event.at_ms, &ending)?;
        let (task, result, chunk_idx) = (worker.task.clone(), worker.result.clone(), worker.chunk_idx);
        if let Some(row) = chunk_idx.and_then(|idx| self.state.chunks.get_mut(idx)) {
            row.state = if matches!(ending, Ending::Failed { .. }) { "failed" } else { "analysed" };
        }
        if let Ending::Reported(report) = ending {
            self.add_report(event, task, &result, &report);
        }
        Ok(())
    }

    fn write_ending(&self, worker: &Worker, at_ms: u64, ending: &Ending) -> Result<(), JournalError> {
        let (question, note) = (self.blobs.text(&worker.question)?, self.note_of(worker)?);
        let result = files::worker(self, worker, at_ms, &question, ending);
        self.files.replace(&worker.result, result.as_bytes())?;
        let task = files::task(self, worker, &question, &note, Some(ending));
        self.files.replace(&worker.task_file(), task.as_bytes())
    }

    /// Writes the files of parts whose reports were recalled; they have the same files as tasks.
    fn recall(&mut self, event: &Event, reports: &Text) -> Result<(), JournalError> {
        let Some(question) = self.state.start.as_ref().map(|start| start.question.clone()) else {
            return Ok(());
        };
        for report in wire::read_reports(&self.blobs.text(reports)?).into_values() {
            self.plan([report.content_type.clone()].into_iter());
            let mut worker = self.worker(event, Strategy::Analyst, question.clone(), None);
            self.state.n_tasks += 1;
            let noted = Noted {
                content_type: report.content_type.clone(),
                analyst: report.analyst.clone(),
                units: report.units.clone(),
                label: report.units.first().map(|unit| unit.file.clone()).unwrap_or_default(),
            };
            worker.chunk_idx = Some(self.add_chunk(&worker, noted, "recalled"));
            let ending = Ending::Recalled(Box::new(report));
            self.write_ending(&worker, event.at_ms, &ending)?;
            if let Ending::Recalled(report) = ending {
                self.add_report(event, worker.task, &worker.result, &report);
            }
        }
        Ok(())
    }

    fn add_report(&mut self, event: &Event, task: String, result: &str, report: &AnalystReport) {
        self.state.reported.entry(report.content_type.clone()).or_default().push(task);
        for finding in &report.findings {
            self.line(EVIDENCE, &files::finding_line(event, result, report, finding));
        }
    }

    fn line(&mut self, name: &'static str, line: &str) {
        let lines = self.state.lines.entry(name).or_default();
        lines.push_str(line);
        lines.push('\n');
    }
}

impl Worker {
    fn task_file(&self) -> String {
        format!("tasks/{}.md", self.task)
    }

    /// Turns the worker into a synthesis of the reports of one content type, or of the syntheses of all types.
    fn join<'a>(
        &mut self,
        note: &str,
        reported: &BTreeMap<String, Vec<String>>,
        others: &(impl Iterator<Item = &'a Worker> + Clone),
    ) {
        let what = note.strip_prefix("synthesis of ").and_then(|rest| rest.split_once(": "));
        let what = what.map_or("", |(what, _)| what);
        let syntheses = || others.clone().filter(|other| other.strategy == Strategy::Synthesis);
        self.blocked_by = match reported.get(what) {
            Some(tasks) => tasks.clone(),
            None => syntheses().map(|other| other.task.clone()).collect(),
        };
        let short = match what {
            "source_code" => "code",
            "structured_data" => "data",
            "all types" => "all",
            other => other,
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name = format!("synth-{}", short.chars().map(plain).collect::<String>());
        let again = format!("{name}-");
        let n_same = syntheses().filter(|other| other.task == name || other.task.starts_with(&again)).count();
        self.task = if n_same == 0 { name } else { format!("{name}-{}", n_same + 1) };
        self.result = format!("results/{}.json", self.task);
    }
}
