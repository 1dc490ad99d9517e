//! `spelunk repair`: keeps the intact beginning of a damaged journal and sets the rest aside.

use std::process::ExitCode;

use clap::Args;
use spelunk_app::app::App;
use spelunk_app::failure::Failure;
use spelunk_app::units::{bytes, count};
use spelunk_journal::JournalError;

use super::app::print;

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The run, by the beginning of its name
    run: String,
}

pub(crate) fn repair(app: &App, args: &RepairArgs) -> Result<ExitCode, Failure> {
    let workspace = app.own_workspace()?.ok_or_else(|| JournalError::NotFound { name: args.run.clone() })?;
    let run = workspace.find(Some(&args.run))?;
    let report = spelunk_journal::repair(&workspace, &run)?;
    let kept = count(report.events_kept, "event");
    print(&match report.kept_in {
        None => format!("run {} is sound: {kept}\n", run.short()),
        Some(aside) => format!(
            "run {} keeps its first {kept}; {} set aside in {aside}\nresume with: spelunk resume {}\n",
            run.short(),
            bytes(report.bytes_cut),
            run.short()
        ),
    });
    Ok(ExitCode::SUCCESS)
}
