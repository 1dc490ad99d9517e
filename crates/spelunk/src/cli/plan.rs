//! `spelunk plan`: how a directory would be cut into analyst tasks and what that would cost, before anything is spent.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_context::{BadOverride, Corpus, Detector, Mode, Plan, PlanOptions, View, plan as make_plan};

use super::ModelFlags;
use super::app::{App, Failure, Usage, print};
use super::scan::{ScanFlags, inputs, redacted, say_left_out, scan, skipped};
use crate::config::nearest;
use crate::provider;
use crate::render::plan::{LeftOut, Reader, plan_json, plan_text};

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
    /// Take files that match as of a type, built in or of your own, such as `*.inc=source_code`
    #[arg(long = "type", value_name = "GLOB=TYPE")]
    types: Vec<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
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
        files_left_out,
    };
    let plan: Plan = make_plan(&view, &options);
    let reader = reader(app);
    print(&if app.json {
        plan_json(&plan, &args.query, limits, &left_out(&corpus), reader.as_ref())
    } else {
        plan_text(&plan, &args.query, limits, args.tasks, reader.as_ref())
    });
    say_left_out(app, &corpus);
    Ok(ExitCode::SUCCESS)
}

/// The model that would read the parts, as far as it is known without asking anybody.
pub(crate) fn reader(app: &App) -> Option<Reader> {
    let surveyed = provider::survey(&app.settings, &app.environment);
    let sub = surveyed.into_iter().find(|model| model.roles.contains(&"sub"))?;
    Some(Reader { name: sub.reference?.to_string(), price: sub.price })
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
        BadOverride::Pattern { .. } => "mend the pattern".to_owned(),
        BadOverride::UnknownType { name } => {
            let known = format!("the types are {}", known_types(detector));
            match nearest(name, detector.type_names()) {
                Some(meant) => format!("did you mean `{meant}`? {known}"),
                None => known,
            }
        }
    }
}

/// The user's own come first.
fn known_types(detector: &Detector) -> String {
    detector.type_names().join(", ")
}

/// What a plan of this corpus is without.
pub(crate) fn left_out(corpus: &Corpus) -> LeftOut {
    let over_the_cap = corpus.reports().iter().flat_map(|report| report.left_out.clone());
    LeftOut { skipped: skipped(corpus), over_the_cap: over_the_cap.collect(), redacted: redacted(corpus) }
}
