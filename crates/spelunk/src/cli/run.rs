//! `spelunk run`: the runs of this workspace, from their first listing to the day they are cleaned away.

mod archive;
mod clean;
mod export;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use spelunk_engine::RunView;
use spelunk_journal::{Record, Workspace, archive_summary, archives};
use spelunk_types::{Explain, RunId, RunOutcome};

use super::app::{App, Failure, Usage, print};
use super::show::{self, state};
use crate::render::units::{count, dollars, head};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    /// List the runs, newest first
    List(ListArgs),
    /// Show a run: its tree, costs and answer
    Show(show::ShowArgs),
    /// Write a report of a run, or its files for other tools
    Export(export::ExportArgs),
    /// Pack a run into one file and remove its folder
    Archive(archive::ArchiveArgs),
    /// Put an archived run back
    Unarchive(archive::ArchiveArgs),
    /// Remove runs that are older than the retention period
    Clean(clean::CleanArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only runs that are open, answered, stopped, failed, cancelled or damaged
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only runs that are active (in the workspace) or archived; all lists both [default: active]
    #[arg(long, value_name = "LIFECYCLE")]
    lifecycle: Option<String>,
}

pub(crate) const STATES: [&str; 6] = ["open", "answered", "stopped", "failed", "cancelled", "damaged"];
const LIFECYCLES: [&str; 3] = ["active", "archived", "all"];

pub(crate) fn run(app: &App, args: &RunArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        RunCommand::List(args) => list(app, args),
        RunCommand::Show(args) => show::show(app, args),
        RunCommand::Export(args) => export::export(app, args),
        RunCommand::Archive(args) => archive::archive_run(app, args),
        RunCommand::Unarchive(args) => archive::unarchive_run(app, args),
        RunCommand::Clean(args) => clean::clean(app, args),
    }
}

fn list(app: &App, args: &ListArgs) -> Result<ExitCode, Failure> {
    let state = one_of("state", args.state.as_deref(), &STATES)?;
    let lifecycle = one_of("lifecycle", args.lifecycle.as_deref(), &LIFECYCLES)?.unwrap_or("active");
    let Some(workspace) = app.existing_workspace()? else {
        if app.json {
            print("[]\n");
        }
        app.say("no runs yet: there is no workspace here");
        return Ok(ExitCode::SUCCESS);
    };
    let mut rows = Vec::new();
    if lifecycle != "archived" {
        for run in workspace.runs()? {
            rows.push(row(&workspace, run)?);
        }
    }
    if lifecycle != "active" {
        rows.extend(archives(&workspace)?.into_iter().map(|run| archived_row(&workspace, run)));
    }
    rows.retain(|row| state.is_none_or(|state| state == row.word()));
    rows.sort_by(|a, b| b.run.cmp(&a.run));
    if app.json {
        print(&format!("{}\n", json!(rows.iter().map(Row::json).collect::<Vec<_>>())));
        return Ok(ExitCode::SUCCESS);
    }
    for row in &rows {
        print(&row.line());
    }
    if rows.is_empty() {
        app.say(if state.is_some() || lifecycle != "active" { "no such runs" } else { "no runs yet" });
    }
    Ok(ExitCode::SUCCESS)
}

/// A word of a flag, held against those it may be.
fn one_of<'a>(flag: &str, word: Option<&'a str>, words: &[&str]) -> Result<Option<&'a str>, Failure> {
    match word {
        Some(word) if !words.contains(&word) => Err(Usage {
            message: format!("there is no {flag} `{word}`"),
            hint: format!("choose one of {}", words.join(", ")),
        }
        .into()),
        word => Ok(word),
    }
}

pub(crate) struct Row {
    pub(crate) run: RunId,
    lifecycle: &'static str,
    pub(crate) state: String,
    pub(crate) question: String,
    pub(crate) n_calls: u64,
    pub(crate) cost_microusd: u64,
}

impl Row {
    /// The first word of the state; a journal that cannot be read is damaged.
    pub(crate) fn word(&self) -> &str {
        let first = self.state.split([':', ' ']).next().unwrap_or_default();
        STATES.into_iter().find(|state| *state == first).unwrap_or("damaged")
    }

    /// The row for programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "run": self.run,
            "lifecycle": self.lifecycle,
            "state": self.state,
            "question": self.question,
            "calls": self.n_calls,
            "cost_microusd": self.cost_microusd,
        })
    }

    fn line(&self) -> String {
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
pub(crate) fn row(workspace: &Workspace, run: RunId) -> Result<Row, Failure> {
    let lifecycle = "active";
    let records = match workspace.read_journal(&run) {
        Ok(records) => records,
        Err(error) => {
            let state = error.code().name().to_owned();
            return Ok(Row { run, lifecycle, state, question: String::new(), n_calls: 0, cost_microusd: 0 });
        }
    };
    let view = fold(records);
    let question = view.question.as_ref().map(|question| workspace.blobs().text(question)).transpose()?;
    Ok(Row {
        state: state(&view),
        lifecycle,
        question: question.unwrap_or_default(),
        n_calls: view.n_paid_calls(),
        cost_microusd: view.spent.cost_microusd,
        run,
    })
}

/// What was written down when the run was archived.
fn archived_row(workspace: &Workspace, run: RunId) -> Row {
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
    }
}

fn fold(records: Vec<Record>) -> RunView {
    let mut view = RunView::default();
    for record in records {
        if let Record::Known(event) = record {
            view.apply(&event);
        }
    }
    view
}

/// Whether `spelunk resume` would go on with it.
fn can_go_on(view: &RunView) -> bool {
    view.outcome != Some(RunOutcome::Answered) && view.answer().is_none()
}
