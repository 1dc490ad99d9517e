//! The report of a run: folded from its journal and the blobs it refers to. It works for every strategy and state:
//! what has not happened yet is empty.

use std::collections::BTreeMap;

use spelunk_journal::{Blobs, JournalError, Record, Workspace};
use spelunk_types::{
    AnalystReport, BlobId, ErrorCode, Event, EventKind, Finding, Focus, Found, FrameId, FrameOutcome,
    Location, RunId, ScanOptions, SourceSpec, Strategy, Text,
};

use crate::journal::wire;
use crate::report::gather;
use crate::view::error_of;
use crate::{Answer, FrameState, ReportError, RunView};

/// The report of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// The id of the run.
    pub run: RunId,
    /// The engine version that started it.
    pub engine: String,
    /// The question.
    pub question: String,
    /// What an analysis looked for first.
    pub focus: Focus,
    /// How the sources were read.
    pub scan: ScanOptions,
    /// The corpus the question is about.
    pub corpus_digest: Option<BlobId>,
    /// Calls, costs, times, frames.
    pub view: RunView,
    /// The answer, if there is one.
    pub answer: Option<Answer>,
    /// Reports of analysts: recalled ones first, then by task.
    pub reports: Vec<AnalystReport>,
    /// Their findings, deduplicated, most severe first.
    pub findings: Vec<MergedFinding>,
    /// Values counted over all parts of a document.
    pub distributions: Vec<CountedValues>,
    /// The sum of the counts of all parts, if any part has one.
    pub count: Option<u64>,
    /// What was read, and what was not.
    pub coverage: ReportCoverage,
    /// Errors in order of occurrence.
    pub errors: Vec<ReportError>,
}

/// A finding with every location.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedFinding {
    /// The representative finding.
    pub finding: Finding,
    /// All locations; never empty.
    pub places: Vec<Location>,
    /// The content type: `source_code`, `log`.
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
    /// The total they are counted from.
    pub total: Option<u64>,
}

/// What was read, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportCoverage {
    /// Documents of the corpus.
    pub documents: u64,
    /// Documents that were read and answered; for analysts, those read completely.
    pub documents_read: u64,
    /// Bytes that were shown to a model that answered.
    pub bytes_read: u64,
    /// Tasks of analysts.
    pub tasks: u64,
    /// Those with a report.
    pub tasks_done: u64,
    /// Those without one: a label and the error.
    pub failed: Vec<(String, ErrorCode)>,
    /// Parts whose findings were recalled from earlier runs.
    pub units_recalled: u64,
    /// Findings that could not be used.
    pub rejected: u64,
    /// Findings whose quote is not in the text that the analyst was shown.
    pub unverified: u64,
}

impl RunReport {
    /// Reads the report from the current journal. Events of a newer engine are skipped.
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

    /// The sources of the documents.
    pub fn sources(&self) -> &[SourceSpec] {
        &self.view.sources
    }
}

/// The label of a task, from its note: the documents it lists, or its first line.
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

/// What has been read of a journal.
#[derive(Default)]
struct Fold {
    view: RunView,
    engine: String,
    focus: Focus,
    scan: ScanOptions,
    corpus_digest: Option<BlobId>,
    recalled: Vec<AnalystReport>,
    /// By task: frames are numbered in task order.
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
        // A task that was assigned again may have a report now.
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
