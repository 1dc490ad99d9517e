//! `spelunk plan`: how a directory would be split into analyst tasks and what they would cost,
//! before any is run.

use std::process::ExitCode;

use clap::Args;
use spelunk_app::planning::{detector_with, planned};
use spelunk_app::render::answer::left_out as remarks_left_out;
use spelunk_app::render::plan::{plan_text, plan_value};
use spelunk_context::Mode;

use super::scan::scan;
use super::{App, CliResult, ModelFlags, ScanFlags, TypeFlags, inputs, print_result};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Files or directories to plan for [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// The question; every task includes it, so it adds to the cost
    #[arg(long, value_name = "QUESTION", default_value = "", hide_default_value = true)]
    query: String,
    /// Show every task, not just the files
    #[arg(long)]
    tasks: bool,
    #[command(flatten)]
    types: TypeFlags,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    scan: ScanFlags,
}

pub(crate) fn plan(app: &App, args: &PlanArgs) -> CliResult {
    let options = args.scan.options(&app.settings.limits)?;
    let detector = detector_with(app, &args.types.types)?;
    let corpus = scan(app, &inputs(app, &args.paths)?, &options)?;
    let mode = if args.types.plain { Mode::Plain } else { Mode::ByType };
    let planned = planned(app, corpus, &args.query, detector, mode);
    print_result(app, &plan_value(&planned), &plan_text(&planned, args.tasks));
    for remark in remarks_left_out(&planned.left_out.skipped, &planned.left_out.redacted) {
        app.say(&remark);
    }
    Ok(ExitCode::SUCCESS)
}
