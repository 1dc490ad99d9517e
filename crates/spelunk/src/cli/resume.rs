//! `spelunk resume`: goes on with a run where its journal ends.

use std::process::ExitCode;

use clap::Args;
use spelunk_engine::{EngineError, ResumeRequest, RunView};
use spelunk_journal::{JournalError, Record};
use spelunk_types::{ModelRef, RunOutcome};

use super::app::{App, Failure};
use super::ask::scan_status;
use super::{ModelFlags, demo, show, watch};
use crate::provider;
use crate::render::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run, by the beginning of its name [default: the newest]
    run: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// Read files that look like secrets too, as the run did
    #[arg(long)]
    allow_secrets: bool,
    /// Print every event as a line of JSON instead of the answer
    #[arg(long)]
    events: bool,
}

pub(crate) async fn resume(app: &App, args: ResumeArgs) -> Result<ExitCode, Failure> {
    let Some(workspace) = app.existing_workspace()? else {
        return Err(JournalError::NotFound { name: args.run.unwrap_or_else(|| "(newest)".into()) }.into());
    };
    let run = workspace.find(args.run.as_deref())?;
    let of_run = |source| EngineError::Journal { run: run.clone(), source };
    let mut view = RunView::default();
    for record in workspace.read_journal(&run).map_err(of_run)? {
        if let Record::Known(event) = record {
            view.apply(&event);
        }
    }
    if view.outcome == Some(RunOutcome::Answered) {
        app.say(&format!("run {} has its answer already", run.short()));
        return show::show_answer(app, &workspace, &run, &view);
    }
    let recorded = view.model.clone().unwrap_or(ModelRef {
        provider: String::new(),
        name: String::new(),
        base_url: String::new(),
    });
    let request = if demo::is_demo(&recorded) {
        demo::resume_request(app)
    } else {
        let model = if args.model.model.is_some() || args.model.base_url.is_some() {
            provider::choose(&app.settings.model, &app.environment).await?.map(|chosen| chosen.model)
        } else {
            Some(provider::recorded(&recorded, &app.settings.model, &app.environment)?)
        };
        let Some(model) = model else {
            return Err(provider::ProviderError::KeyMissing {
                provider: "the run's model",
                variable: "ANTHROPIC_API_KEY".into(),
            }
            .into());
        };
        ResumeRequest { model, settings: app.run_settings(), program: None }
    };
    let engine = app.engine(args.allow_secrets)?;
    let mut progress = Progress::new(app.quiet);
    let handle = engine.resume(&run, request, &mut |scan| progress.draw(|| scan_status(&scan)))?;
    progress.clear();
    let n_settled = view.n_paid_calls() + view.n_cached_calls();
    app.say(&format!(
        "resuming run {} after event {}: {n_settled} settled calls are not made again",
        run.short(),
        view.seq_last
    ));
    watch::finish(app, handle, args.events).await
}
