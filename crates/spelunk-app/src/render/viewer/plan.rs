//! The documents of a run and how much of each was read, for the treemap. Folded from the journal
//! alone, because the sources may be gone.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spelunk_context::Detector;
use spelunk_engine::Noted;
use spelunk_journal::{Blobs, JournalError, Record, Workspace};
use spelunk_types::{AnalystReport, Event, EventKind, FrameId, FrameOutcome, RunId, Strategy};

/// Limited, because a browser has to lay them all out.
const DOCUMENTS_MAX: usize = 20_000;

/// How much of a document was read. If a document has several states, the last one in this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    Recalled,
    Done,
    Open,
    Failed,
}

impl Reading {
    fn name(self) -> &'static str {
        match self {
            Self::Recalled => "recalled",
            Self::Done => "done",
            Self::Open => "open",
            Self::Failed => "failed",
        }
    }
}

#[derive(Default)]
struct Fold {
    /// Name and size, in corpus order.
    documents: Vec<(String, u64)>,
    tasks: BTreeMap<FrameId, (Vec<String>, Reading)>,
    recalled: Vec<AnalystReport>,
    types: BTreeMap<String, String>,
    is_planned: bool,
    is_over: bool,
}

/// `{documents: [{path, bytes, type, tasks, state}], cut}`. The state is `none` if there are no tasks.
pub fn plan(workspace: &Workspace, run: &RunId, detector: &Detector) -> Result<Value, JournalError> {
    let blobs = workspace.blobs();
    let mut fold = Fold::default();
    for record in workspace.read_journal(run)? {
        if let Record::Known(event) = record {
            fold.apply(&event, &blobs)?;
        }
    }
    Ok(fold.finish(detector))
}

impl Fold {
    fn apply(&mut self, event: &Event, blobs: &Blobs) -> Result<(), JournalError> {
        if let EventKind::RunStarted { corpus: Some(corpus), .. } = &event.kind {
            self.documents = listed(&blobs.text(&corpus.documents)?);
        } else if let EventKind::TasksPlanned { .. } = &event.kind {
            self.is_planned = true;
        } else if let EventKind::FindingsRecalled { reports, .. } = &event.kind {
            let reports: BTreeMap<String, AnalystReport> =
                serde_json::from_str(&blobs.text(reports)?).unwrap_or_default();
            self.recalled = reports.into_values().collect();
        } else if let EventKind::FrameOpened { strategy: Strategy::Analyst, note: Some(note), .. } =
            &event.kind
        {
            let units = Noted::read(&blobs.text(note)?).units;
            let names = units.into_iter().map(|unit| unit.file).collect();
            self.tasks.entry(event.frame.clone()).or_insert((names, Reading::Open));
        } else if let EventKind::FrameClosed { outcome } = &event.kind {
            self.close(event, outcome, blobs)?;
        } else if matches!(event.kind, EventKind::RunFinished { .. } | EventKind::RunResumed { .. }) {
            self.is_over = matches!(event.kind, EventKind::RunFinished { .. });
        }
        Ok(())
    }

    fn close(&mut self, event: &Event, outcome: &FrameOutcome, blobs: &Blobs) -> Result<(), JournalError> {
        let Some((_, reading)) = self.tasks.get_mut(&event.frame) else { return Ok(()) };
        match outcome {
            FrameOutcome::Answered { answer, .. } => {
                *reading = Reading::Done;
                let report = serde_json::from_str::<AnalystReport>(&blobs.text(answer)?).ok();
                if let Some(report) = report {
                    self.tell_types(&report);
                }
            }
            FrameOutcome::Failed { .. } => *reading = Reading::Failed,
        }
        Ok(())
    }

    fn tell_types(&mut self, report: &AnalystReport) {
        for unit in &report.units {
            self.types.insert(unit.file.clone(), report.content_type.clone());
        }
    }

    fn finish(mut self, detector: &Detector) -> Value {
        let recalled = std::mem::take(&mut self.recalled);
        for report in &recalled {
            self.tell_types(report);
        }
        let mut readings: BTreeMap<&str, (u64, Reading)> = BTreeMap::new();
        let units = recalled.iter().flat_map(|report| &report.units);
        for file in units.map(|unit| unit.file.as_str()) {
            readings.entry(file).or_insert((0, Reading::Recalled));
        }
        for (names, reading) in self.tasks.values() {
            for name in names {
                let (n_tasks, told) = readings.entry(name).or_insert((0, *reading));
                *n_tasks += 1;
                *told = (*told).max(*reading);
            }
        }
        let untouched = if self.is_planned && !self.is_over { "waiting" } else { "none" };
        let documents = self.documents.iter().take(DOCUMENTS_MAX).map(|(path, bytes)| {
            let reading = readings.get(path.as_str());
            json!({
                "path": path,
                "bytes": bytes,
                "type": self.types.get(path).cloned().unwrap_or_else(|| by_name(detector, path)),
                "tasks": reading.map_or(0, |(n_tasks, _)| *n_tasks),
                "state": reading.map_or(untouched, |(_, reading)| reading.name()),
            })
        });
        json!({ "documents": documents.collect::<Vec<_>>(), "cut": self.documents.len() > DOCUMENTS_MAX })
    }
}

/// The type implied by a document's name, if it has not been read yet.
fn by_name(detector: &Detector, path: &str) -> String {
    let detected = detector.detect(path, "");
    let own = detected.custom.as_ref().map(|custom| custom.name.clone());
    own.unwrap_or_else(|| detected.content_type.name().to_owned())
}

/// Parses the lines of a corpus record: digest, bytes, name.
fn listed(text: &str) -> Vec<(String, u64)> {
    let document = |line: &str| {
        let (_, rest) = line.split_once(' ')?;
        let (bytes, name) = rest.split_once(' ')?;
        Some((name.to_owned(), bytes.parse().ok()?))
    };
    text.lines().filter_map(document).collect()
}

#[cfg(test)]
mod tests;
