//! `spelunk run list`: the runs of this workspace.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use spelunk_engine::RunView;
use spelunk_journal::{Record, Workspace};
use spelunk_types::{Explain, RunId};

use super::app::{App, Failure, print};
use super::show::state;
use crate::render::units::{count, dollars, head};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    /// List the runs, newest first
    List,
}

pub(crate) fn run(app: &App, args: &RunArgs) -> Result<ExitCode, Failure> {
    match args.command {
        RunCommand::List => list(app),
    }
}

fn list(app: &App) -> Result<ExitCode, Failure> {
    let Some(workspace) = app.existing_workspace()? else {
        if app.json {
            print("[]\n");
        }
        app.say("no runs yet: there is no workspace here");
        return Ok(ExitCode::SUCCESS);
    };
    let mut rows = Vec::new();
    for run in workspace.runs()?.into_iter().rev() {
        rows.push(row(&workspace, run)?);
    }
    if app.json {
        let shown: Vec<_> = rows
            .iter()
            .map(|row| json!({ "run": row.run, "state": row.state, "question": row.question, "calls": row.n_calls, "cost_microusd": row.cost_microusd }))
            .collect();
        print(&format!("{}\n", json!(shown)));
        return Ok(ExitCode::SUCCESS);
    }
    for row in &rows {
        let cost = dollars(row.cost_microusd);
        let when = row.run.as_str().get(4..20).unwrap_or_default();
        let line = format!(
            "{}  {when}  {:<28} {:>10}  {cost:>8}  {}",
            row.run.short(),
            row.state,
            count(row.n_calls, "call"),
            head(&row.question, 60)
        );
        print(&format!("{}\n", line.trim_end()));
    }
    if rows.is_empty() {
        app.say("no runs yet");
    }
    Ok(ExitCode::SUCCESS)
}

/// A run in a list.
pub(crate) struct Row {
    pub(crate) run: RunId,
    pub(crate) state: String,
    pub(crate) question: String,
    pub(crate) n_calls: u64,
    pub(crate) cost_microusd: u64,
}

/// A damaged run is listed as such: one bad journal must not hide the others.
pub(crate) fn row(workspace: &Workspace, run: RunId) -> Result<Row, Failure> {
    let records = match workspace.read_journal(&run) {
        Ok(records) => records,
        Err(error) => {
            let state = error.code().name().to_owned();
            return Ok(Row { run, state, question: String::new(), n_calls: 0, cost_microusd: 0 });
        }
    };
    let mut view = RunView::default();
    for record in records {
        if let Record::Known(event) = record {
            view.apply(&event);
        }
    }
    let question = view.question.as_ref().map(|question| workspace.blobs().text(question)).transpose()?;
    Ok(Row {
        state: state(&view),
        question: question.unwrap_or_default(),
        n_calls: view.n_paid_calls(),
        cost_microusd: view.spent.cost_microusd,
        run,
    })
}
