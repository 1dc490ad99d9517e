//! The report of a run: everything that a reader wants to know of it, folded from its journal and the blobs it names.
//! It works for runs of every strategy and in every state: what has not happened yet is empty.

use std::collections::BTreeMap;

use spelunk_journal::{Blobs, JournalError, Record, Workspace};
use spelunk_types::{
    AnalystReport, BlobId, CallId, CallOutcome, ErrorCode, Event, EventKind, Finding, Focus, Found, FrameId,
    FrameOutcome, Location, RunId, RunOutcome, ScanOptions, SourceSpec, Strategy, Text,
};

use crate::report::gather;
use crate::{Answer, FrameState, RunView, wire};

/// What is known of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// Which run.
    pub run: RunId,
    /// The engine that started it.
    pub engine: String,
    /// What was asked.
    pub question: String,
    /// What an analysis looked for first.
    pub focus: Focus,
    /// How the sources were read.
    pub scan: ScanOptions,
    /// The corpus it was asked about.
    pub corpus_digest: Option<BlobId>,
    /// Calls, costs, times, frames.
    pub view: RunView,
    /// The answer, where there is one.
    pub answer: Option<Answer>,
    /// What analysts said, recalled ones first, then by task.
    pub reports: Vec<AnalystReport>,
    /// What they found, the gravest first, each once.
    pub findings: Vec<MergedFinding>,
    /// Values that were counted over all parts of a document.
    pub distributions: Vec<CountedValues>,
    /// The sum of the counts of all parts, where any part has one.
    pub count: Option<u64>,
    /// What was read, and what was not.
    pub coverage: ReportCoverage,
    /// What went wrong, in the order in which it did.
    pub errors: Vec<ReportError>,
}

/// A finding, and everywhere it was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedFinding {
    /// The one that stands for all.
    pub finding: Finding,
    /// Everywhere; never empty.
    pub places: Vec<Location>,
    /// What was read: `source_code`, `log`.
    pub content_type: String,
}

/// Values of one column or path of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedValues {
    /// The document.
    pub file: String,
    /// The column or path.
    pub name: String,
    /// How often each value occurs.
    pub values: BTreeMap<String, u64>,
    /// Of how many.
    pub total: Option<u64>,
}

/// What was read, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportCoverage {
    /// Documents of the corpus.
    pub documents: u64,
    /// Those that were read and answered; by analysts, those that were read whole.
    pub documents_read: u64,
    /// Bytes that were put before a model and answered by it.
    pub bytes_read: u64,
    /// Tasks of analysts.
    pub tasks: u64,
    /// Those with a report.
    pub tasks_done: u64,
    /// Those without one: what they were about, and why.
    pub failed: Vec<(String, ErrorCode)>,
    /// Parts whose findings were at hand from earlier runs.
    pub units_recalled: u64,
    /// Findings that could not be used.
    pub rejected: u64,
    /// Findings whose quote is not in the text that their analyst was shown.
    pub unverified: u64,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportError {
    /// The event that says so.
    pub seq: u64,
    /// When.
    pub at_ms: u64,
    /// In which frame.
    pub frame: FrameId,
    /// In which call, if it was one.
    pub call: Option<CallId>,
    /// What kind.
    pub code: ErrorCode,
    /// In words.
    pub message: String,
}

impl RunReport {
    /// The report of a run as its journal is now. Events of a newer engine are passed over.
    pub fn read(workspace: &Workspace, run: &RunId) -> Result<Self, JournalError> {
        let blobs = workspace.blobs();
        let mut fold = Fold::default();
        for record in workspace.read_journal(run)? {
            if let Record::Known(event) = record {
                fold.apply(&event, &blobs)?;
            }
        }
        fold.finish(run, &blobs)
    }

    /// Where the documents came from.
    pub fn sources(&self) -> &[SourceSpec] {
        &self.view.sources
    }
}

/// What of an event is an error, if it is one.
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

/// What a task is about, by its note: the documents it lists, or else its first line.
pub(crate) fn label_of(note: &str) -> String {
    let name = |line: &str| {
        let (_, rest) = line.strip_prefix("--- FILE ")?.strip_suffix(" ---")?.split_once(": ")?;
        rest.rsplit_once(" (").map(|(name, _)| name.to_owned())
    };
    let names: Vec<String> = note.lines().filter_map(name).collect();
    match names.as_slice() {
        [] => note.lines().next().unwrap_or_default().to_owned(),
        [only] => only.clone(),
        [first, other] => format!("{first} and {other}"),
        [first, others @ ..] => format!("{first} and {} others", others.len()),
    }
}

/// What has been seen of a journal.
#[derive(Default)]
struct Fold {
    view: RunView,
    engine: String,
    focus: Focus,
    scan: ScanOptions,
    corpus_digest: Option<BlobId>,
    recalled: Vec<AnalystReport>,
    /// By task: frames are numbered in the order in which tasks were given out.
    reported: BTreeMap<FrameId, AnalystReport>,
    notes: BTreeMap<FrameId, Text>,
    failed: BTreeMap<FrameId, ErrorCode>,
    errors: Vec<ReportError>,
}

impl Fold {
    fn apply(&mut self, event: &Event, blobs: &Blobs) -> Result<(), JournalError> {
        self.errors.extend(error_of(event));
        if let EventKind::RunResumed { again_from: Some(from), .. } = event.kind {
            self.errors.retain(|error| error.seq < from);
        }
        if let EventKind::RunStarted { engine, focus, scan, corpus_digest, .. } = &event.kind {
            (self.engine, self.focus, self.scan) = (engine.clone(), *focus, scan.as_ref().clone());
            self.corpus_digest = Some(corpus_digest.clone());
        } else if let EventKind::FindingsRecalled { reports, .. } = &event.kind {
            self.recalled = wire::read_reports(&blobs.text(reports)?).into_values().collect();
        } else if let EventKind::FrameOpened { strategy: Strategy::Analyst, note: Some(note), .. } =
            &event.kind
        {
            self.notes.insert(event.frame.clone(), note.clone());
        } else if let EventKind::FrameClosed { outcome } = &event.kind {
            self.close(event, outcome, blobs)?;
        }
        self.view.apply(event);
        Ok(())
    }

    fn close(&mut self, event: &Event, outcome: &FrameOutcome, blobs: &Blobs) -> Result<(), JournalError> {
        let is_task =
            self.view.frames.get(&event.frame).is_some_and(|frame| frame.strategy == Strategy::Analyst);
        match outcome {
            FrameOutcome::Answered { answer, .. } if is_task => {
                let report = serde_json::from_str(&blobs.text(answer)?).ok();
                self.reported.extend(report.map(|report| (event.frame.clone(), report)));
            }
            FrameOutcome::Failed { code, .. } if is_task => {
                self.failed.insert(event.frame.clone(), *code);
            }
            FrameOutcome::Answered { .. } | FrameOutcome::Failed { .. } => {}
        }
        Ok(())
    }

    fn finish(self, run: &RunId, blobs: &Blobs) -> Result<RunReport, JournalError> {
        let view = self.view;
        let question = view.question.as_ref().map(|question| blobs.text(question)).transpose()?;
        let answer = match view.answer() {
            Some((text, citations, grounding)) => {
                Some(Answer { text: blobs.text(text)?, citations: citations.to_vec(), grounding })
            }
            None => None,
        };
        let mut failed = Vec::new();
        // A task that was given out again may have a report now.
        let is_failed = |frame: &FrameId| {
            let state = view.frames.get(frame).map(|frame| &frame.state);
            matches!(state, Some(FrameState::Failed { .. }))
        };
        for (frame, code) in self.failed.iter().filter(|(frame, _)| is_failed(frame)) {
            let note = self.notes.get(frame).map(|note| blobs.text(note)).transpose()?.unwrap_or_default();
            failed.push((label_of(&note), *code));
        }
        let tasks = view.tasks.clone().unwrap_or_default();
        let reports: Vec<AnalystReport> =
            self.recalled.into_iter().chain(self.reported.into_values()).collect();
        let gathered = gather(&reports);
        let is_unverified = |finding: &MergedFinding| finding.finding.quote == Some(Found::Missing);
        let findings: Vec<MergedFinding> = gathered
            .items
            .into_iter()
            .map(|item| MergedFinding {
                finding: item.finding,
                places: item.places,
                content_type: item.content_type,
            })
            .collect();
        let coverage = ReportCoverage {
            documents: view.n_documents,
            documents_read: view.documents_read,
            bytes_read: view.bytes_read,
            tasks: tasks.planned,
            tasks_done: tasks.done,
            failed,
            units_recalled: tasks.recalled,
            rejected: gathered.rejected,
            unverified: findings.iter().filter(|finding| is_unverified(finding)).count() as u64,
        };
        let distributions = gathered.distributions.into_iter().map(|sum| CountedValues {
            file: sum.file,
            name: sum.name,
            values: sum.values,
            total: sum.total,
        });
        Ok(RunReport {
            run: run.clone(),
            engine: self.engine,
            question: question.unwrap_or_default(),
            focus: self.focus,
            scan: self.scan,
            corpus_digest: self.corpus_digest,
            answer,
            distributions: distributions.collect(),
            count: gathered.count,
            findings,
            reports,
            coverage,
            errors: self.errors,
            view,
        })
    }
}
