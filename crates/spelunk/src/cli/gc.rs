//! `spelunk gc`: removes what no run needs.

use std::process::ExitCode;

use clap::Args;
use spelunk_app::app::App;
use spelunk_app::failure::Failure;
use spelunk_app::units::{bytes, count};
use spelunk_journal::{GcReport, collect_garbage};

use super::app::print;

#[derive(Debug, Args)]
pub(crate) struct GcArgs {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn gc(app: &App, args: &GcArgs) -> Result<ExitCode, Failure> {
    let report = match app.own_workspace()? {
        Some(workspace) => collect_garbage(&workspace, args.dry_run)?,
        None => GcReport::default(),
    };
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let (files, kept) = (count(report.files_removed, "file"), count(report.blobs_kept, "blob"));
    print(&format!("{verb} {files} · {} · {kept} kept\n", bytes(report.bytes_removed)));
    Ok(ExitCode::SUCCESS)
}
