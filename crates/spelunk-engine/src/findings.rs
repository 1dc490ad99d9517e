//! The report of a run, folded from its journal and the blobs it refers to. It works for every
//! strategy and state: what has not happened yet is empty.

use std::collections::BTreeMap;

use spelunk_journal::{Blobs, JournalError, Record, Workspace};
use spelunk_types::{
    AnalystReport, BlobId, Event, EventKind, Focus, FrameId, FrameOutcome, RunId, ScanOptions, Strategy, Text,
};

use crate::journal::wire;
use crate::report::{CountedValues, MergedFinding, ReportCoverage, gather};
use crate::task::Noted;
use crate::{Answer, ReportError, RunView};

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RunReport {
    pub run: RunId,
    pub engine: String,
    pub question: String,
    /// What an analysis looked for first.
    pub focus: Focus,
    /// How the sources were read.
    pub scan: ScanOptions,
    /// The corpus the question is about.
    pub corpus_digest: Option<BlobId>,
    /// Calls, costs, times, frames.
    pub view: RunView,
    pub answer: Option<Answer>,
    /// Reports of analysts: recalled ones first, then by task.
    pub reports: Vec<AnalystReport>,
    /// Their findings, deduplicated, most severe first.
    pub findings: Vec<MergedFinding>,
    /// Values counted over all parts of a document.
    pub distributions: Vec<CountedValues>,
    /// The sum of the counts of all parts, if any part has one.
    pub count: Option<u64>,
    pub coverage: ReportCoverage,
    pub errors: Vec<ReportError>,
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
}

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
}

impl Fold {
    fn apply(&mut self, event: &Event, blobs: &Blobs) -> Result<(), JournalError> {
        if let EventKind::RunStarted { engine, focus, scan, corpus_digest, .. } = &event.kind {
            (self.engine, self.focus, self.scan) = (engine.clone(), *focus, scan.as_ref().clone());
            self.corpus_digest = Some(corpus_digest.clone());
        } else if let EventKind::FindingsRecalled { reports, .. } = &event.kind {
            self.recalled = wire::read_reports(&blobs.text(reports)?).into_values().collect();
        } else if let EventKind::FrameOpened { strategy: Strategy::Analyst, note: Some(note), .. } =
            &event.kind
        {
            self.notes.insert(event.frame.clone(), note.clone());
        } else if let EventKind::FrameClosed { outcome: FrameOutcome::Answered { answer, .. } } = &event.kind
            && self.view.frames.get(&event.frame).is_some_and(|frame| frame.strategy == Strategy::Analyst)
        {
            let report = serde_json::from_str(&blobs.text(answer)?).ok();
            self.reported.extend(report.map(|report| (event.frame.clone(), report)));
        }
        self.view.apply(event);
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
        for (id, frame) in view.frames.iter().filter(|(_, frame)| frame.strategy == Strategy::Analyst) {
            if let Some(FrameOutcome::Failed { code, .. }) = frame.outcome {
                let note = self.notes.get(id).map(|note| blobs.text(note)).transpose()?.unwrap_or_default();
                failed.push((Noted::read(&note).label, code));
            }
        }
        let tasks = view.tasks.clone().unwrap_or_default();
        let reports: Vec<AnalystReport> =
            self.recalled.into_iter().chain(self.reported.into_values()).collect();
        let gathered = gather(&reports);
        let coverage = ReportCoverage {
            documents: view.n_documents,
            documents_read: view.documents_read,
            bytes_read: view.bytes_read,
            tasks: tasks.planned,
            tasks_done: tasks.done,
            failed,
            units_recalled: tasks.recalled,
            rejected: gathered.rejected,
            unverified: gathered.items.iter().filter(|item| item.is_unverified()).count() as u64,
        };
        Ok(RunReport {
            run: run.clone(),
            engine: self.engine,
            question: question.unwrap_or_default(),
            focus: self.focus,
            scan: self.scan,
            corpus_digest: self.corpus_digest,
            answer,
            distributions: gathered.distributions,
            count: gathered.count,
            findings: gathered.items,
            reports,
            coverage,
            errors: view.errors.clone(),
            view,
        })
    }
}
