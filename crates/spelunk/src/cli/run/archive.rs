//! `spelunk run archive` and `unarchive`: a run as one file, and back.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use spelunk_app::app::App;
use spelunk_app::failure::Failure;
use spelunk_app::runs::row;
use spelunk_app::units::{bytes, count, head};
use spelunk_journal::{ArchiveReport, JournalError, Workspace, archive, archives, unarchive};
use spelunk_types::RunId;

use crate::cli::app::{print, print_line};

const QUESTION_CHARS_MAX: usize = 500;

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The run, by the beginning of its name
    run: String,
}

pub(crate) fn archive_run(app: &App, args: &ArchiveArgs) -> Result<ExitCode, Failure> {
    let Some(workspace) = app.own_workspace()? else { return Err(JournalError::NoRuns.into()) };
    let run = workspace.find(Some(&args.run))?;
    let row = row(&workspace, run.clone())?;
    let summary = json!({
        "schema_version": 1,
        "run": run,
        "state": row.state,
        "question": head(&row.question, QUESTION_CHARS_MAX),
        "calls": row.n_calls,
        "cost_microusd": row.cost_microusd,
    });
    let report = archive(&workspace, &run, summary.to_string().as_bytes())?;
    say(app, "archived", &run, &report);
    app.say("run `spelunk gc` to remove what only this run needed");
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn unarchive_run(app: &App, args: &ArchiveArgs) -> Result<ExitCode, Failure> {
    let Some(workspace) = app.own_workspace()? else { return Err(JournalError::NoRuns.into()) };
    let run = find_archived(&workspace, &args.run)?;
    let report = unarchive(&workspace, &run)?;
    say(app, "unarchived", &run, &report);
    Ok(ExitCode::SUCCESS)
}

fn find_archived(workspace: &Workspace, name: &str) -> Result<RunId, JournalError> {
    let mut runs = archives(workspace)?;
    runs.retain(|run| run.short().starts_with(name) || run.as_str().starts_with(name));
    match runs.len() {
        0 => Err(JournalError::NotFound { name: name.to_owned() }),
        1 => Ok(runs.remove(0)),
        _ => Err(JournalError::Ambiguous { name: name.to_owned(), runs }),
    }
}

fn say(app: &App, what: &str, run: &RunId, report: &ArchiveReport) {
    let ArchiveReport { files, bytes: n_bytes, bytes_packed, name } = report;
    if app.json {
        let shown = json!({
            "run": run, "archive": name, "files": files, "bytes": n_bytes, "bytes_packed": bytes_packed,
        });
        print_line(shown);
    } else {
        let (files, whole, packed) = (count(*files, "file"), bytes(*n_bytes), bytes(*bytes_packed));
        print(&format!("{what} {} · {files} · {whole} · {packed} in {name}\n", run.short()));
    }
}
