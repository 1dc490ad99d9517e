//! Runs as recorded in their journals: lookup, state, summary, result.

use serde_json::{Value, json};
use spelunk_engine::{Answer, CallState, EngineError, RunResult, RunView};
use spelunk_journal::{JournalError, Record, Workspace, archive_summary};
use spelunk_types::{ErrorCode, Explain, RunId, RunOutcome, Strategy, days_since_1970};

use crate::app::App;
use crate::failure::Result;
use crate::units::{count, dollars, head};

/// The states that people see, by [`status`].
pub const STATUSES: [&str; 9] =
    ["running", "waiting", "interrupted", "limited", "answered", "failed", "cancelled", "damaged", "newer"];
pub const STATUSES_FORMER: [&str; 2] = ["open", "stopped"];

/// The states that a word selects: itself, or those that a former word covered.
pub fn statuses(word: &str) -> Option<Vec<&str>> {
    match word {
        "open" => Some(vec!["running", "waiting", "interrupted"]),
        "stopped" => Some(vec!["limited"]),
        word => STATUSES.contains(&word).then(|| vec![word]),
    }
}

/// The run with this id or prefix; without one, the latest run.
pub fn find_run(app: &App, name: Option<&str>) -> Result<(Workspace, RunId)> {
    match app.existing_workspace()? {
        Some(workspace) => {
            let run = workspace.find(name)?;
            Ok((workspace, run))
        }
        None => Err(JournalError::NoRuns.into()),
    }
}

/// The state of a run, as far as this engine understands its events.
pub fn read_view(workspace: &Workspace, run: &RunId) -> Result<RunView> {
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

/// The state of a run for people: `open` is divided by whether a process works on the run and
/// whether there is anything to do. A code follows, if there is one.
pub fn status(view: &RunView, is_locked: bool) -> String {
    match &view.outcome {
        None if !is_locked => "interrupted".to_owned(),
        None if view.pending_effects().next().is_some() => "waiting".to_owned(),
        None if is_session(view) && view.calls.values().all(|call| call.state != CallState::Open) => {
            "waiting".to_owned()
        }
        None => "running".to_owned(),
        Some(RunOutcome::Partial { stopped_by }) => format!("limited: {stopped_by}"),
        Some(RunOutcome::Answered | RunOutcome::Failed { .. } | RunOutcome::Cancelled) => state(view),
    }
}

/// Whether a person drives the run, as with `spelunk repl`.
fn is_session(view: &RunView) -> bool {
    view.strategy == Some(Strategy::Program)
}

/// The newest run that can be resumed; if there is none, the newest run. Nobody can resume a session, and a run in
/// progress needs no resuming.
pub fn find_resumable(app: &App) -> Result<(Workspace, RunId)> {
    let (workspace, newest) = find_run(app, None)?;
    for run in workspace.runs()?.into_iter().rev() {
        let Ok(view) = read_view(&workspace, &run) else { continue };
        let is_resumable =
            view.check_resumable(&run, &app.settings.limits).is_ok() && !view.has_whole_answer();
        if is_resumable && !is_session(&view) && !workspace.is_locked(&run) {
            return Ok((workspace, run));
        }
    }
    Ok((workspace, newest))
}

pub fn view_json(workspace: &Workspace, run: &RunId, view: &RunView) -> Result<Value> {
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
    let is_locked = workspace.is_locked(run);
    let mut pending = Vec::new();
    // Nobody waits for a decision unless a process works on the run.
    for (id, call, at_ms) in view.pending_effects().filter(|_| is_locked && view.outcome.is_none()) {
        let arguments: Value = serde_json::from_str(&blobs.text(&call.arguments)?).unwrap_or_default();
        pending.push(json!({
            "call": id, "tool": call.tool, "arguments": arguments, "effect": call.class.name(), "asked_at_ms": at_ms,
        }));
    }
    Ok(json!({
        "run": run,
        "status": status(view, is_locked).split(':').next(),
        "pending": pending,
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

pub fn recorded_result(workspace: &Workspace, run: RunId, view: &RunView) -> Result<RunResult> {
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
    status: String,
    pub question: String,
    /// The strategy that answers, and the model; `None` if it is unknown.
    strategy: Option<String>,
    model: Option<String>,
    pub n_calls: u64,
    pub cost_microusd: u64,
    /// `None` if it is unknown.
    pub(crate) active_ms: Option<u64>,
}

impl Row {
    /// The first word of the state; an unreadable journal is `damaged`, or from a `newer` version.
    pub fn status(&self) -> &str {
        if self.status == ErrorCode::JournalNewer.name() {
            return "newer";
        }
        let first = self.status.split(':').next().unwrap_or_default();
        STATUSES.into_iter().find(|status| *status == first).unwrap_or("damaged")
    }

    pub fn json(&self) -> Value {
        json!({
            "run": self.run,
            "lifecycle": self.lifecycle,
            "state": self.state,
            "status": self.status(),
            "question": self.question,
            "strategy": self.strategy,
            "model": self.model,
            "calls": self.n_calls,
            "cost_microusd": self.cost_microusd,
            "active_ms": self.active_ms,
        })
    }

    /// The row for a person, under [`HEADER`]. On a narrow terminal, where it is wrapped, the question has a line.
    pub fn line(&self, now_ms: u64, width: usize) -> String {
        let (when, cost) = (when(&self.run, now_ms), dollars(self.cost_microusd));
        let archived = if self.lifecycle == "archived" { "(archived) " } else { "" };
        let room = width.checked_sub(HEADER.len() - 8).filter(|room| *room >= QUESTION_CHARS_MIN);
        let question = head(&format!("{archived}{}", self.question), room.unwrap_or(width));
        let line = format!(
            "{}  {when:<11}  {:<11}  {:>5}  {cost:>8}  {question}",
            self.run.short(),
            self.status(),
            self.n_calls
        );
        format!("{}\n", line.trim_end())
    }
}

/// With less room, a question is not put beside the rest of its row.
const QUESTION_CHARS_MIN: usize = 16;
pub const HEADER: &str = "RUN       STARTED      STATE        CALLS      COST  QUESTION";

/// When a run started, in relative terms; the date if it is more than a month ago.
fn when(run: &RunId, now_ms: u64) -> String {
    const DAY_S: u64 = 86_400;
    let stamp = run.as_str().get(4..19).unwrap_or_default();
    let number = |range: std::ops::Range<usize>| stamp.get(range)?.parse::<u64>().ok();
    let ago_s = || {
        let days = days_since_1970([number(0..4)?, number(4..6)?, number(6..8)?]);
        let started_s = days * DAY_S + number(9..11)? * 3_600 + number(11..13)? * 60 + number(13..15)?;
        Some((now_ms / 1_000).saturating_sub(started_s))
    };
    match ago_s() {
        Some(0..60) => "just now".to_owned(),
        Some(ago_s @ 60..3_600) => format!("{} min ago", ago_s / 60),
        Some(ago_s @ 3_600..DAY_S) => format!("{} h ago", ago_s / 3_600),
        Some(ago_s) if ago_s < 31 * DAY_S => format!("{} ago", count(ago_s / DAY_S, "day")),
        Some(_) | None => {
            let part = |range: std::ops::Range<usize>| stamp.get(range).unwrap_or_default();
            format!("{}-{}-{}", part(0..4), part(4..6), part(6..8))
        }
    }
}

/// One row. A damaged run is listed as such: one bad journal must not hide the others.
pub fn row(workspace: &Workspace, run: RunId) -> Result<Row> {
    let (view, damage) = match workspace.read_journal(&run) {
        Ok(records) => (fold(&records), None),
        Err(error) => (RunView::default(), Some(error.code().name())),
    };
    let question = view.question.as_ref().map(|question| workspace.blobs().text(question)).transpose()?;
    Ok(Row {
        lifecycle: "active",
        state: damage.map_or_else(|| state(&view), str::to_owned),
        status: damage.map_or_else(|| status(&view, workspace.is_locked(&run)), str::to_owned),
        question: question.unwrap_or_default(),
        strategy: view.chosen.or(view.strategy).map(|strategy| strategy.name().to_owned()),
        model: view.model.as_ref().map(ToString::to_string),
        n_calls: view.n_paid_calls(),
        cost_microusd: view.spent.cost_microusd,
        active_ms: damage.is_none().then(|| view.active_ms()),
        run,
    })
}

/// The runs that are not archived, oldest first.
pub fn active_rows(workspace: &Workspace) -> Result<Vec<Row>> {
    workspace.runs()?.into_iter().map(|run| row(workspace, run)).collect()
}

/// The row that was recorded when the run was archived.
pub fn archived_row(workspace: &Workspace, run: RunId) -> Row {
    let summary: Value = archive_summary(workspace, &run)
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_else(|| json!({ "state": "archive-damaged" }));
    let text = |name: &str| summary[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| summary[name].as_u64().unwrap_or_default();
    let status = match text("state").split_once(':') {
        Some(("stopped", code)) => format!("limited:{code}"),
        Some(_) | None if text("state") == "open" => "interrupted".to_owned(),
        Some(_) | None => text("state"),
    };
    Row {
        run,
        lifecycle: "archived",
        status,
        state: text("state"),
        question: text("question"),
        strategy: summary["strategy"].as_str().map(str::to_owned),
        model: summary["model"].as_str().map(str::to_owned),
        n_calls: number("calls"),
        cost_microusd: number("cost_microusd"),
        active_ms: summary["active_ms"].as_u64(),
    }
}

pub fn fold(records: &[Record]) -> RunView {
    RunView::of(records.iter().filter_map(Record::event))
}

/// Whether `spelunk resume` would continue it.
pub fn can_go_on(view: &RunView) -> bool {
    view.outcome != Some(RunOutcome::Answered) && view.answer().is_none()
}

/// The warning about run files that could not be written. The journal is complete, so they can be rebuilt.
pub fn files_incomplete(run: &RunId, error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let again = format!("rewrite them with `spelunk run export {} --format workspace`", run.short());
    format!("the files of run {} are incomplete: {error}{cause}; {again}", run.short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_say_them() {
        let started_ms = 1_767_312_000_000;
        let run = RunId::new(started_ms, 7);
        let after_s = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 2_000_000, 2_678_400];
        let shown = after_s.map(|s| when(&run, started_ms + s * 1_000));
        let (a_day, days) = ("1 day ago", "23 days ago");
        let of_hours = ["just now", "just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago"];
        assert_eq!(shown[..6], of_hours);
        assert_eq!(shown[6..], [a_day, days, "2026-01-02"]);
    }
}
