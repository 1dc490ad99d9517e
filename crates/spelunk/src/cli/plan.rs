//! `spelunk plan`: how a directory would be cut into analyst tasks and what that would cost, before anything is spent.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_context::{ContentType, Corpus, Detector, Mode, Plan, PlanOptions, View, plan as make_plan};

use super::app::{App, Failure, Usage, print};
use super::scan::{ScanFlags, inputs, redacted, say_left_out, scan, skipped};
use crate::render::plan::{LeftOut, plan_json, plan_text};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Files or directories to plan for [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// The question; it goes to every task, and counts
    #[arg(long, value_name = "QUESTION", default_value = "", hide_default_value = true)]
    query: String,
    /// Show every task, not only the files
    #[arg(long)]
    tasks: bool,
    /// Cut by tokens, whatever the files are
    #[arg(long)]
    plain: bool,
    /// Take files that match as of a type, such as `*.inc=source_code`
    #[arg(long = "type", value_name = "GLOB=TYPE")]
    types: Vec<String>,
    #[command(flatten)]
    scan: ScanFlags,
}

pub(crate) fn plan(app: &App, args: &PlanArgs) -> Result<ExitCode, Failure> {
    let limits = &app.settings.limits;
    let options = args.scan.options(limits.files_max)?;
    let corpus = scan(app, &inputs(app, &args.paths)?, &options)?;
    let files_left_out = corpus.reports().iter().map(|report| report.left_out_total).sum();
    let corpus = Arc::new(corpus);
    let view = View::of(Arc::clone(&corpus));
    let options = PlanOptions {
        limits: limits.clone(),
        detector: detector(app, &args.types)?,
        mode: if args.plain { Mode::Plain } else { Mode::ByType },
        parsed_bytes_max: PlanOptions::PARSED_BYTES_MAX,
        files_left_out,
    };
    let plan: Plan = make_plan(&view, &options);
    print(&if app.json {
        plan_json(&plan, &args.query, limits, &left_out(&corpus))
    } else {
        plan_text(&plan, &args.query, limits, args.tasks)
    });
    say_left_out(app, &corpus);
    Ok(ExitCode::SUCCESS)
}

fn detector(app: &App, types: &[String]) -> Result<Detector, Failure> {
    let mut detector = app.settings.detector();
    for argument in types {
        let known: Vec<&str> = ContentType::ALL.iter().map(|known| known.name()).collect();
        let refused = || Usage {
            message: format!("`{argument}` is not GLOB=TYPE"),
            hint: format!("write it like `*.inc=source_code`; the types are {}", known.join(", ")),
        };
        let (pattern, word) = argument.rsplit_once('=').ok_or_else(refused)?;
        let content_type =
            ContentType::ALL.into_iter().find(|known| known.name() == word).ok_or_else(refused)?;
        detector = detector
            .with_override(pattern, content_type)
            .map_err(|error| Usage { message: error.to_string(), hint: "mend the pattern".into() })?;
    }
    Ok(detector)
}

fn left_out(corpus: &Corpus) -> LeftOut {
    let over_the_cap = corpus.reports().iter().flat_map(|report| report.left_out.clone());
    LeftOut { skipped: skipped(corpus), over_the_cap: over_the_cap.collect(), redacted: redacted(corpus) }
}
