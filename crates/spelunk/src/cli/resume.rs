//! `spelunk resume`: continues a run where its journal ends.

use std::time::Duration;

use clap::Args;
use spelunk_app::asking::{begun, go_on, same_models};
use spelunk_app::provider;
use spelunk_app::render::progress::Progress;
use spelunk_app::runs::{files_incomplete, find_resumable, find_run, read_view, recorded_result};
use spelunk_app::sources::scan_status;
use spelunk_app::units::count;
use spelunk_engine::{EngineError, Projection, ResumeRequest, RunView, tool_sources};
use spelunk_journal::DerivedFiles;
use spelunk_types::{Explain as _, RunId};

use super::tools::CommonToolFlags;
use super::{App, CliResult, Failure, LimitFlags, ModelFlags, OutputFlags, Usage, demo, fleet, tools, watch};

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run: its id or a unique prefix [default: the newest that can be resumed]
    run: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
    /// The sandbox for code that models write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<String>,
    /// Say whether a tool call with an unknown outcome was made: `ID=done`, or `ID=again` to repeat it; may be repeated
    #[arg(long, value_name = "ID=DECISION")]
    tool: Vec<String>,
    #[command(flatten)]
    tools: CommonToolFlags,
    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) async fn resume(app: &App, args: ResumeArgs) -> CliResult {
    args.model.check(app).await?;
    let (workspace, run) = match args.run.as_deref() {
        None => find_resumable(app)?,
        named => find_run(app, named)?,
    };
    let view = read_view(&workspace, &run)?;
    let resumable = view.check_resumable(&run, &app.settings.limits);
    if view.has_whole_answer() {
        app.say(&format!("run {} already has its answer", run.short()));
        complete_files(app, &run);
        let result = recorded_result(&workspace, run, &view)?;
        return watch::show_result(app, &result, &view, OutputFlags::default());
    }
    if let Err(error @ (EngineError::PartForGood { .. } | EngineError::Finished { .. })) = &resumable {
        app.say(&error.to_string());
        let result = recorded_result(&workspace, run, &view)?;
        let shown = watch::show_result(app, &result, &view, OutputFlags::default())?;
        app.say(&format!("hint: {}", error.hint().unwrap_or_default()));
        return Ok(shown);
    }
    if view.model.is_none() {
        let message =
            format!("run `{}` ended before its first event, so there is nothing to continue", run.short());
        return Err(Usage::new(message, "ask again; nothing was sent and nothing was spent").into());
    }
    resumable?;
    if let Some(shared) = app.fleet(Duration::ZERO)? {
        return fleet::resume(app, &shared, &run, view.seq_last, args.output).await;
    }
    let request = request_of(app, &args.model, &run, &view).await?;
    open_tools(app, &args.tools, &run, &view, &args.tool).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let mut progress = Progress::new(app.quiet);
    let handle = go_on(app, sandbox, app.run_tools(), (&run, None), request, &mut |scan| {
        progress.draw(|| scan_status(&scan));
    })?;
    progress.clear();
    let settled = match view.n_settled_calls() {
        0 => "no completed calls to reuse".to_owned(),
        n => format!("reusing {}", count(n, "completed call")),
    };
    app.say(&format!("resuming run {} after event {}: {settled}", run.short(), view.seq_last));
    watch::finish(app, handle, OutputFlags { shown_seq: view.seq_last, ..args.output }).await
}

pub(super) async fn open_tools(
    app: &App,
    flags: &CommonToolFlags,
    run: &RunId,
    view: &RunView,
    decisions: &[String],
) -> Result<(), Failure> {
    let blobs = app.workspace()?.blobs_of(run);
    let told = view.tools_told.as_ref().map(|told| blobs.text(told)).transpose()?;
    let sources = told.as_deref().map(tool_sources).unwrap_or_default();
    tools::open_again(app, flags, sources, decisions).await
}

/// Writes files that a run may lack because it was killed right after its last event. A read-only
/// workspace is left unchanged.
fn complete_files(app: &App, run: &RunId) {
    let Ok(Some(workspace)) = app.own_workspace() else { return };
    let Some(files) = DerivedFiles::of_run(&workspace, run) else { return };
    if let Err(error) = Projection::rebuild(&workspace, run, files) {
        app.say(&format!("warning: {}", files_incomplete(run, &error)));
    }
}

/// The request to resume with the run's own models. If other models are named, the engine rejects
/// the request. A base URL alone only confirms the location of the run's own model.
pub(super) async fn request_of(
    app: &App,
    flags: &ModelFlags,
    run: &RunId,
    view: &RunView,
) -> Result<ResumeRequest, Failure> {
    let root = begun(run, view)?;
    if demo::is_demo(root) {
        return Ok(demo::resume_request(app));
    }
    let is_elsewhere =
        || flags.base_url.is_some() && !provider::is_at_base_url(root, &app.settings, &app.environment);
    let named = if flags.model.is_some() || flags.sub_model.is_some() || is_elsewhere() {
        let chosen = provider::choose(&app.settings, &app.environment).await?;
        Some(chosen.ok_or_else(|| Usage {
            message: format!("run `{}` cannot continue without a model", run.short()),
            hint: "leave out `--model`: a run continues with the model it was started with".into(),
        })?)
    } else {
        None
    };
    let models = match named {
        Some(chosen) => chosen.into(),
        None => same_models(app, run, view)?,
    };
    Ok(models.request(app.run_settings()))
}
