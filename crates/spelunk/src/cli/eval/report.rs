//! `spelunk eval report` and `compare`: results as tables and plots, and the difference between two sets of results.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use spelunk_eval::{
    Note, Pairing, Report, Summary, Task, Trial, compare as compare_trials, differences_markdown,
};

use super::files::{load_tasks, load_trials, write};
use super::trial::judge;
use crate::cli::{App, CliResult, Failure, Usage, print, print_data};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Result files, including those of other engines
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<String>,
    /// The tasks folder, to score all results again, including unscored ones
    #[arg(long, value_name = "DIR")]
    tasks: Option<String>,
    /// Write the report to this file (.md or .html); may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<String>,
    /// A remark to show at the top, such as the command that produced the results
    #[arg(long, value_name = "TEXT")]
    remark: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The results before the change
    before: String,
    /// The results after the change
    after: String,
    /// The tasks folder, to score all results again
    #[arg(long, value_name = "DIR")]
    tasks: Option<String>,
    /// Pair trials by task alone: every strategy in one file with every strategy in the other
    #[arg(long)]
    across: bool,
}

pub(super) fn report(app: &App, args: &ReportArgs) -> CliResult {
    let tasks = tasks(app, args.tasks.as_deref())?;
    let mut remarks = args.remark.clone();
    let mut all = Vec::new();
    for name in &args.results {
        let (trials, note) = trials(app, name, &tasks)?;
        remarks.extend(note.and_then(|note| partial(name, &note)));
        all.extend(trials);
    }
    let report = Report { summary: Summary::of(&all), remarks };
    for out in &args.out {
        let path = app.current_dir.join(out);
        let is_html = match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") => false,
            Some("html") => true,
            _ => {
                let hint = "choose a file name that ends in `.md` or `.html`";
                return Err(Usage::new(format!("unknown report format: `{out}`"), hint).into());
            }
        };
        write(&path, &if is_html { report.html() } else { report.markdown() })?;
        app.say(&format!("wrote {out}"));
    }
    if args.out.is_empty() {
        print(&report.markdown());
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn compare(app: &App, args: &CompareArgs) -> CliResult {
    let tasks = tasks(app, args.tasks.as_deref())?;
    let (before, _) = trials(app, &args.before, &tasks)?;
    let (after, _) = trials(app, &args.after, &tasks)?;
    let pairing = if args.across { Pairing::AnyWay } else { Pairing::SameWay };
    let differences = compare_trials(&before, &after, pairing);
    if differences.is_empty() {
        return Err(Usage::new(
            "the two files have no trials in common",
            "compare results of the same tasks, or pair by task alone with `--across`",
        )
        .into());
    }
    let rows = differences.iter().map(|difference| {
        json!({
            "how": difference.label, "pairs": difference.n, "before": difference.before, "after": difference.after,
            "difference": difference.score.mean, "low": difference.score.low, "high": difference.score.high,
            "tokens_factor": difference.tokens_factor, "won": difference.won, "lost": difference.lost,
        })
    });
    print_data(app, &rows.collect(), differences_markdown(&differences).trim_start());
    Ok(ExitCode::SUCCESS)
}

fn tasks(app: &App, folder: Option<&str>) -> Result<HashMap<String, Task>, Failure> {
    let Some(folder) = folder else { return Ok(HashMap::new()) };
    let (_, tasks) = load_tasks(&app.current_dir.join(folder))?;
    Ok(tasks.into_iter().map(|task| (task.id.clone(), task)).collect())
}

fn trials(
    app: &App,
    name: &str,
    tasks: &HashMap<String, Task>,
) -> Result<(Vec<Trial>, Option<Note>), Failure> {
    let loaded = load_trials(&app.current_dir.join(Path::new(name)))?;
    let mut trials = loaded.trials;
    for trial in &mut trials {
        if let Some(task) = tasks.get(&trial.task) {
            judge(task, trial);
        }
    }
    Ok((trials, loaded.note))
}

fn partial(name: &str, note: &Note) -> Option<String> {
    (note.done < note.planned)
        .then(|| format!("Partial: `{name}` has {} of {} trials ({}).", note.done, note.planned, note.note))
}
