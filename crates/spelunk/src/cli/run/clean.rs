//! `spelunk run clean`: removes runs older than the retention period. A run in progress is kept, and so is one that
//! could be continued, unless `--all` is given.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use spelunk_app::retention::{DAY_MS, Fate, fate, started_before};
use spelunk_app::units::{bytes, count};
use spelunk_engine::{Clock, SystemClock};
use spelunk_journal::{archive_bytes, archives, remove_archive, remove_run};
use spelunk_types::Explain;

use crate::cli::{App, CliResult, Failure, Usage, print, print_line};

const HOUR_MS: u64 = 3_600_000;

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Only runs unchanged for at least this long, such as `30d` or `12h` [default: the setting `run.retention_days`]
    #[arg(long, value_name = "TIME")]
    older_than: Option<String>,
    /// Also remove runs that could be resumed
    #[arg(long)]
    all: bool,
    /// Also remove archives
    #[arg(long)]
    archives: bool,
    /// Print what would be removed, but remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn clean(app: &App, args: &CleanArgs) -> CliResult {
    let age_ms = match &args.older_than {
        Some(text) => duration_ms(text)?,
        None => app.settings.retention_days.saturating_mul(DAY_MS),
    };
    let Some(workspace) = app.own_workspace()? else {
        say(app, args, &[]);
        return Ok(ExitCode::SUCCESS);
    };
    let before_ms = SystemClock.now_ms().saturating_sub(age_ms);
    let mut fates = Vec::new();
    for run in workspace.runs()? {
        fates.extend(fate(&workspace, run, before_ms, args.all));
    }
    for run in archives(&workspace)?.into_iter().filter(|_| args.archives) {
        let bytes = archive_bytes(&workspace, &run);
        let is_old = started_before(&run, before_ms);
        fates.extend(is_old.then_some(Fate { run, bytes, is_archive: true, kept: None }));
    }
    if !args.dry_run {
        for fate in fates.iter_mut().filter(|fate| fate.kept.is_none()) {
            let removed = if fate.is_archive {
                remove_archive(&workspace, &fate.run)
            } else {
                remove_run(&workspace, &fate.run)
            };
            // Another process may have resumed the run meanwhile.
            match removed {
                Ok(bytes) => fate.bytes = bytes,
                Err(error) => fate.kept = Some(error.code().name().to_owned()),
            }
        }
    }
    say(app, args, &fates);
    Ok(ExitCode::SUCCESS)
}

fn duration_ms(text: &str) -> Result<u64, Failure> {
    let (digits, unit_ms) = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => (days, DAY_MS),
        (None, Some(hours)) => (hours, HOUR_MS),
        (None, None) => ("", 0),
    };
    let n = digits.parse::<u64>().map_err(|_| {
        Usage::new(format!("`{text}` is not a duration"), "give days or hours, such as `30d` or `12h`")
    })?;
    Ok(n.saturating_mul(unit_ms))
}

fn say(app: &App, args: &CleanArgs, fates: &[Fate]) {
    let (removed, kept): (Vec<&Fate>, Vec<&Fate>) = fates.iter().partition(|fate| fate.kept.is_none());
    let bytes_removed: u64 = removed.iter().map(|fate| fate.bytes).sum();
    if app.json {
        let row = |fate: &&Fate| -> Value {
            json!({ "run": fate.run, "bytes": fate.bytes, "archive": fate.is_archive, "kept": fate.kept })
        };
        let shown = json!({
            "dry_run": args.dry_run,
            "removed": removed.iter().map(row).collect::<Vec<_>>(),
            "kept": kept.iter().map(row).collect::<Vec<_>>(),
            "bytes_removed": bytes_removed,
        });
        print_line(shown);
        return;
    }
    let verb = if args.dry_run { "would remove" } else { "removed" };
    for fate in &removed {
        let what = if fate.is_archive { " (archive)" } else { "" };
        print(&format!("{verb} {}{what} · {}\n", fate.run.short(), bytes(fate.bytes)));
    }
    for fate in &kept {
        print(&format!("kept {}: {}\n", fate.run.short(), fate.kept.as_deref().unwrap_or_default()));
    }
    print(&format!("{verb} {} · {}\n", count(removed.len() as u64, "run"), bytes(bytes_removed)));
    if !removed.is_empty() && !args.dry_run {
        app.say("run `spelunk gc` to remove data that only these runs needed");
    }
}
