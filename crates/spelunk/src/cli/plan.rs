//! `spelunk plan`: how a directory would be split into analyst tasks and what that would cost, before anything is
//! spent.

use std::process::ExitCode;

use clap::Args;
use spelunk_app::app::App;
use spelunk_app::config::nearest;
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::planning::planned;
use spelunk_app::render::answer::left_out as remarks_left_out;
use spelunk_app::render::plan::{plan_text, plan_value};
use spelunk_context::{BadOverride, Detector, Mode};

use super::ModelFlags;
use super::app::print;
use super::scan::{ScanFlags, inputs, scan};

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
    /// Split by tokens, regardless of file type
    #[arg(long)]
    plain: bool,
    /// Treat matching files as a built-in or user-defined type, such as `*.inc=source_code`
    #[arg(long = "type", value_name = "GLOB=TYPE")]
    types: Vec<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    scan: ScanFlags,
}

pub(crate) fn plan(app: &App, args: &PlanArgs) -> Result<ExitCode, Failure> {
    let options = args.scan.options(&app.settings.limits)?;
    let corpus = scan(app, &inputs(app, &args.paths)?, &options)?;
    let mode = if args.plain { Mode::Plain } else { Mode::ByType };
    let planned = planned(app, corpus, &args.query, detector(app, &args.types)?, mode);
    print(&if app.json { format!("{}\n", plan_value(&planned)) } else { plan_text(&planned, args.tasks) });
    for remark in remarks_left_out(&planned.left_out.skipped, &planned.left_out.redacted) {
        app.say(&remark);
    }
    Ok(ExitCode::SUCCESS)
}

fn detector(app: &App, types: &[String]) -> Result<Detector, Failure> {
    let mut detector = app.settings.detector();
    for argument in types {
        let (pattern, name) = argument.rsplit_once('=').ok_or_else(|| Usage {
            message: format!("`{argument}` is not GLOB=TYPE"),
            hint: format!("write it like `*.inc=source_code`; the types are {}", known_types(&detector)),
        })?;
        detector = match detector.clone().with_override(pattern, name) {
            Ok(detector) => detector,
            Err(error) => {
                let hint = override_hint(&error, &detector);
                return Err(Usage { message: error.to_string(), hint }.into());
            }
        };
    }
    Ok(detector)
}

fn override_hint(error: &BadOverride, detector: &Detector) -> String {
    match error {
        BadOverride::Pattern { .. } => "correct the pattern".to_owned(),
        BadOverride::UnknownType { name } => {
            let known = format!("the types are {}", known_types(detector));
            match nearest(name, detector.type_names()) {
                Some(meant) => format!("did you mean `{meant}`? {known}"),
                None => known,
            }
        }
    }
}

/// The known types, user-defined ones first.
fn known_types(detector: &Detector) -> String {
    detector.type_names().join(", ")
}
