//! Runs as recorded in their journals: lookup, state, summary, result.

use serde_json::{Value, json};
use spelunk_engine::{Answer, CallState, EngineError, RunResult, RunView};
use spelunk_journal::{JournalError, Record, Workspace, archive_summary};
use spelunk_types::{Explain, RunId, RunOutcome};

use crate::app::App;
use crate::failure::Failure;
use crate::units::{count, dollars, head};

pub const STATES: [&str; 6] = ["open", "answered", "stopped", "failed", "cancelled", "damaged"];

/// The run with this id or prefix; without one, the latest run.
pub fn find_run(app: &App, name: Option<&str>) -> Result<(Workspace, RunId), Failure> {
    match app.existing_workspace()? {
        Some(workspace) => {
            let run = workspace.find(name)?;
            Ok((workspace, run))
        }
        None => Err(JournalError::NoRuns.into()),
    }
}

/// The state of a run, as far as this engine understands its events.
pub fn read_view(workspace: &Workspace, run: &RunId) -> Result<RunView, Failure> {
    let of_run = |source| EngineError::Journal { run: run.clone(), source };
    Ok(fold(&workspace.read_journal(run).map_err(of_run)?))
}

/// The state of a run, in a word or two.
pub fn state(view: &RunView) -> String {
    match &view.outcome {
        None => "open".to_owned(),
        Some(RunOutcome::Answered) => "answered".to_owned(),
        Some(RunOutcome::Partial { stopped_by }) => format!("stopped: {stopped_by}"),
        Some(RunOutcome::Failed { code, .. }) => format!("failed: {code}"),
        Some(RunOutcome::Cancelled) => "cancelled".to_owned(),
    }
}

/// The state of a run as JSON.
pub fn view_json(workspace: &Workspace, run: &RunId, view: &RunView) -> Result<Value, Failure> {
    let blobs = workspace.blobs();
    let question = view.question.as_ref().map(|question| blobs.text(question)).transpose()?;
    let (answer, citations) = match view.answer() {
        Some((answer, citations, _)) => (Some(blobs.text(answer)?), Some(citations)),
        None => (None, None),
    };
    let calls = view.calls.iter().map(|(id, call)| {
        let (state, usage) = match &call.state {
            CallState::Open => ("open", None),
            CallState::Replied { usage, .. } => ("replied", Some(usage)),
            CallState::Failed { .. } => ("failed", None),
        };
        json!({ "call": id, "state": state, "usage": usage, "retries": call.retries })
    });
    let ran = view.cells.iter().flat_map(|(frame, cells)| {
        cells.iter().map(move |cell| {
            json!({ "frame": frame, "cell": cell.cell, "outcome": cell.outcome, "took_ms": cell.took_ms })
        })
    });
    Ok(json!({
        "run": run,
        "outcome": view.outcome,
        "question": question,
        "answer": answer,
        "citations": citations,
        "model": view.model,
        "documents": view.n_documents,
        "documents_read": view.documents_read,
        "corpus_bytes": view.corpus_bytes,
        "bytes_read": view.bytes_read,
        "skipped": view.skipped,
        "redacted": view.redacted,
        "usage": view.spent,
        "active_ms": view.active_ms(),
        "events": view.seq_last,
        "resumed": view.n_resumed,
        "frames": view.frames.keys().collect::<Vec<_>>(),
        "calls": calls.collect::<Vec<_>>(),
        "cells": ran.collect::<Vec<_>>(),
    }))
}

/// The result of a finished run, as recorded in its journal.
pub fn recorded_result(workspace: &Workspace, run: RunId, view: &RunView) -> Result<RunResult, Failure> {
    let answer = match view.answer() {
        Some((text, citations, grounding)) => {
            Some(Answer { text: workspace.blobs().text(text)?, citations: citations.to_vec(), grounding })
        }
        None => None,
    };
    let outcome = view.outcome.clone().unwrap_or(RunOutcome::Answered);
    Ok(RunResult { run, outcome, answer, error: None })
}

pub struct Row {
    pub run: RunId,
    lifecycle: &'static str,
    pub state: String,
    pub question: String,
    pub n_calls: u64,
    pub cost_microusd: u64,
    /// `None` if it is unknown.
    pub(crate) active_ms: Option<u64>,
}

impl Row {
    /// The first word of the state; an unreadable journal is `damaged`.
    pub fn word(&self) -> &str {
        let first = self.state.split([':', ' ']).next().unwrap_or_default();
        STATES.into_iter().find(|state| *state == first).unwrap_or("damaged")
    }

    /// The row as JSON.
    pub fn json(&self) -> Value {
        json!({
            "run": self.run,
            "lifecycle": self.lifecycle,
            "state": self.state,
            "question": self.question,
            "calls": self.n_calls,
            "cost_microusd": self.cost_microusd,
            "active_ms": self.active_ms,
        })
    }

    pub fn line(&self) -> String {
        let cost = dollars(self.cost_microusd);
        let when = self.run.as_str().get(4..20).unwrap_or_default();
        let archived = if self.lifecycle == "archived" { "archived: " } else { "" };
        let line = format!(
            "{}  {when}  {:<28} {:>10}  {cost:>8}  {archived}{}",
            self.run.short(),
            self.state,
            count(self.n_calls, "call"),
            head(&self.question, 60)
        );
        format!("{}\n", line.trim_end())
    }
}

/// A damaged run is listed as such: one bad journal must not hide the others.
pub fn row(workspace: &Workspace, run: RunId) -> Result<Row, Failure> {
    let lifecycle = "active";
    let records = match workspace.read_journal(&run) {
        Ok(records) => records,
        Err(error) => {
            let state = error.code().name().to_owned();
            let (question, active_ms) = (String::new(), None);
            return Ok(Row { run, lifecycle, state, question, n_calls: 0, cost_microusd: 0, active_ms });
        }
    };
    let view = fold(&records);
    let question = view.question.as_ref().map(|question| workspace.blobs().text(question)).transpose()?;
    Ok(Row {
        state: state(&view),
        lifecycle,
        question: question.unwrap_or_default(),
        n_calls: view.n_paid_calls(),
        cost_microusd: view.spent.cost_microusd,
        active_ms: Some(view.active_ms()),
        run,
    })
}

/// The row that was recorded when the run was archived.
pub fn archived_row(workspace: &Workspace, run: RunId) -> Row {
    let summary: Value = archive_summary(workspace, &run)
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_else(|| json!({ "state": "archive-damaged" }));
    let text = |name: &str| summary[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| summary[name].as_u64().unwrap_or_default();
    Row {
        run,
        lifecycle: "archived",
        state: text("state"),
        question: text("question"),
        n_calls: number("calls"),
        cost_microusd: number("cost_microusd"),
        active_ms: summary["active_ms"].as_u64(),
    }
}

pub fn fold(records: &[Record]) -> RunView {
    let mut view = RunView::default();
    for event in records.iter().filter_map(Record::event) {
        view.apply(event);
    }
    view
}

/// Whether `spelunk resume` would continue it.
pub fn can_go_on(view: &RunView) -> bool {
    view.outcome != Some(RunOutcome::Answered) && view.answer().is_none()
}

/// The warning about run files that could not be written. The journal is complete, so they can be rebuilt.
pub fn files_incomplete(run: &RunId, error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let again = format!("write them again with `spelunk run export {} --format workspace`", run.short());
    format!("the files of run {} are not complete: {error}{cause}; {again}", run.short())
}
