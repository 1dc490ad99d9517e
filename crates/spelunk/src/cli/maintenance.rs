//! Maintenance of a workspace: `spelunk gc` removes what no run needs, `spelunk repair` keeps the intact
//! beginning of a damaged journal and sets the rest aside, and `spelunk trust` adopts a workspace that this
//! user did not create here, such as one from an older version, a moved directory or a backup.

use std::process::ExitCode;

use serde_json::json;
use spelunk_app::units::{bytes, count};
use spelunk_journal::{GcReport, JournalError, Workspace, collect_garbage};

use super::{App, CliResult, Usage, print_result};

pub(crate) fn gc(app: &App, dry_run: bool) -> CliResult {
    let report = match app.own_workspace()? {
        Some(workspace) => collect_garbage(&workspace, dry_run)?,
        None => GcReport::default(),
    };
    let verb = if dry_run { "would remove" } else { "removed" };
    let (files, kept) = (count(report.files_removed, "file"), count(report.blobs_kept, "blob"));
    let value = json!({
        "dry_run": dry_run,
        "files_removed": report.files_removed,
        "bytes_removed": report.bytes_removed,
        "blobs_kept": report.blobs_kept,
    });
    print_result(app, &value, &format!("{verb} {files} · {} · {kept} kept\n", bytes(report.bytes_removed)));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn repair(app: &App, name: &str) -> CliResult {
    let workspace = app.own_workspace()?.ok_or_else(|| JournalError::NotFound { name: name.to_owned() })?;
    let run = workspace.find(Some(name))?;
    let report = spelunk_journal::repair(&workspace, &run)?;
    let kept = count(report.events_kept, "event");
    let value = json!({
        "run": run,
        "events_kept": report.events_kept,
        "bytes_cut": report.bytes_cut,
        "kept_in": report.kept_in,
    });
    let text = match report.kept_in {
        None => format!("run {} is intact: {kept}\n", run.short()),
        Some(aside) => format!(
            "run {} keeps its first {kept}; {} moved to {aside}\nContinue: spelunk resume {}\n",
            run.short(),
            bytes(report.bytes_cut),
            run.short()
        ),
    };
    print_result(app, &value, &text);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn trust(app: &App) -> CliResult {
    let root = app.workspace_root();
    if !Workspace::exists(&root) {
        let message = format!("there is no workspace at `{}`", root.display());
        return Err(Usage::new(message, "choose one with `--workspace DIR`").into());
    }
    let is_new = app.user.trust(&root)?;
    let runs = Workspace::open_read_only(&root)?.runs()?.len();
    let verb = if is_new { "trusted" } else { "already trusted" };
    let value = json!({ "workspace": root, "was_trusted": !is_new, "runs": runs });
    print_result(app, &value, &format!("{verb}: {} ({})\n", root.display(), count(runs as u64, "run")));
    Ok(ExitCode::SUCCESS)
}
