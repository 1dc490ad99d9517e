//! `spelunk run`: lists, shows, exports, archives and removes the runs of this workspace.

mod archive;
mod clean;
mod export;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use spelunk_app::app::App;
use spelunk_app::failure::Failure;
use spelunk_app::runs::{Row, STATES, archived_row, row};
use spelunk_journal::archives;

use super::app::{no_such, print, print_line};
use super::show;

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
        print_line(json!(rows.iter().map(Row::json).collect::<Vec<_>>()));
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

/// Validates the value of a flag against the allowed words.
fn one_of<'a>(flag: &str, word: Option<&'a str>, words: &[&str]) -> Result<Option<&'a str>, Failure> {
    match word {
        Some(word) if !words.contains(&word) => Err(no_such(flag, word, words).into()),
        word => Ok(word),
    }
}
