//! `spelunk run`: lists, shows, exports, archives and removes the runs of this workspace. An archive is a run as one file.

mod clean;
mod export;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use spelunk_app::runs::{HEADER, Row, STATUSES, active_rows, archived_row, row, statuses};
use spelunk_app::terminal::stdout_width;
use spelunk_app::units::{bytes, count, head};
use spelunk_engine::{Clock as _, Projection, SystemClock};
use spelunk_journal::{ArchiveReport, DerivedFiles, JournalError, Workspace, archive, archives, unarchive};
use spelunk_types::RunId;

use super::{App, CliResult, Failure, no_such, print, print_data, print_line, print_text, show};

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// List runs, newest first
    List(ListArgs),
    /// Show a run: its tree, costs and answer
    Show(show::ShowArgs),
    /// Write a report of a run, or export its files for other tools
    Export(export::ExportArgs),
    /// Pack a run into one file and remove its folder
    Archive(ArchiveArgs),
    /// Restore an archived run
    Unarchive(ArchiveArgs),
    /// Remove runs older than the retention period
    Clean(clean::CleanArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only runs in this state: running, waiting, interrupted, limited, answered, failed, cancelled,
    /// damaged or newer
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// The runs to list: active, archived or all [default: active]
    #[arg(long, value_name = "LIFECYCLE")]
    lifecycle: Option<String>,
}

/// The width of a list that is not printed to a terminal.
const WIDTH_DEFAULT: usize = 80;
const LIFECYCLES: [&str; 3] = ["active", "archived", "all"];

pub(crate) fn run(app: &App, command: &RunCommand) -> CliResult {
    match command {
        RunCommand::List(args) => list(app, args),
        RunCommand::Show(args) => show::show(app, args),
        RunCommand::Export(args) => export::export(app, args),
        RunCommand::Archive(args) => archive_run(app, args),
        RunCommand::Unarchive(args) => unarchive_run(app, args),
        RunCommand::Clean(args) => clean::clean(app, args),
    }
}

fn list(app: &App, args: &ListArgs) -> CliResult {
    let states = args.state.as_deref().map(states).transpose()?;
    let lifecycle = args.lifecycle.as_deref().unwrap_or("active");
    if !LIFECYCLES.contains(&lifecycle) {
        return Err(no_such("lifecycle", lifecycle, &LIFECYCLES).into());
    }
    let Some(workspace) = app.existing_workspace()? else {
        if app.json {
            print("[]\n");
        }
        app.say("No runs yet: there is no workspace here.");
        return Ok(ExitCode::SUCCESS);
    };
    let mut rows = Vec::new();
    if lifecycle != "archived" {
        rows = active_rows(&workspace)?;
    }
    if lifecycle != "active" {
        rows.extend(archives(&workspace)?.into_iter().map(|run| archived_row(&workspace, run)));
    }
    rows.retain(|row| states.as_ref().is_none_or(|states| states.contains(&row.status())));
    rows.sort_by(|a, b| b.run.cmp(&a.run));
    if app.json {
        print_line(json!(rows.iter().map(Row::json).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        app.say(if states.is_some() || lifecycle != "active" { "No matching runs." } else { "No runs yet." });
        return Ok(ExitCode::SUCCESS);
    }
    print_text(&format!("{HEADER}\n"));
    let (now_ms, width) = (SystemClock.now_ms(), stdout_width().unwrap_or(WIDTH_DEFAULT));
    for row in &rows {
        print_text(&row.line(now_ms, width));
    }
    Ok(ExitCode::SUCCESS)
}

fn states(word: &str) -> Result<Vec<&str>, Failure> {
    statuses(word).ok_or_else(|| no_such("state", word, &STATUSES).into())
}

const QUESTION_CHARS_MAX: usize = 500;

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The run: its id or a unique prefix
    run: String,
}

fn archive_run(app: &App, args: &ArchiveArgs) -> CliResult {
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
    let files = DerivedFiles::of_run(&workspace, &run).filter(|_| !workspace.is_locked(&run));
    if let Some(files) = &files {
        Projection::rebuild_archived(&workspace, &run, files.clone())?;
    }
    let packed = archive(&workspace, &run, summary.to_string().as_bytes());
    if let (Err(_), Some(files)) = (&packed, files) {
        Projection::rebuild(&workspace, &run, files)?;
    }
    let report = packed?;
    say_packed(app, "archived", &run, &report);
    app.say("run `spelunk gc` to remove data that only this run needed");
    Ok(ExitCode::SUCCESS)
}

fn unarchive_run(app: &App, args: &ArchiveArgs) -> CliResult {
    let Some(workspace) = app.own_workspace()? else { return Err(JournalError::NoRuns.into()) };
    let run = find_archived(&workspace, &args.run)?;
    let report = unarchive(&workspace, &run)?;
    if let Some(files) = DerivedFiles::of_run(&workspace, &run) {
        Projection::rebuild(&workspace, &run, files)?;
    }
    say_packed(app, "unarchived", &run, &report);
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

fn say_packed(app: &App, what: &str, run: &RunId, report: &ArchiveReport) {
    let ArchiveReport { files, bytes: n_bytes, bytes_packed, name } = report;
    let value = json!({
        "run": run, "archive": name, "files": files, "bytes": n_bytes, "bytes_packed": bytes_packed,
    });
    let (files, whole, packed) = (count(*files, "file"), bytes(*n_bytes), bytes(*bytes_packed));
    let text = format!("{what} {} · {files} · {whole} · {packed} in {name}\n", run.short());
    print_data(app, &value, &text);
}
