//! Follow-up questions to an agent: its run continues with its files, variables and conversation.

use std::process::ExitCode;

use spelunk_app::app::App;
use spelunk_app::asking::go_on;
use spelunk_app::failure::Failure;
use spelunk_app::render::progress::Progress;
use spelunk_app::runs::{find_run, read_view};
use spelunk_app::sources::scan_status;
use spelunk_engine::RunView;
use spelunk_types::{RunId, Strategy};

use super::AskArgs;
use crate::cli::{resume, watch};

/// A run with a follow-up question.
pub(super) struct GoingOn {
    run: RunId,
    view: RunView,
}

/// The agent run that `--run` names, unless another strategy is given.
pub(super) fn of_agent(app: &App, args: &AskArgs) -> Result<Option<GoingOn>, Failure> {
    let Some(name) = &args.run else { return Ok(None) };
    let is_other = args.strategy.as_deref().is_some_and(|strategy| strategy != Strategy::Agent.name());
    let (workspace, run) = find_run(app, Some(name))?;
    let view = read_view(&workspace, &run)?;
    let is_agent = view.strategy == Some(Strategy::Agent);
    Ok((is_agent && !is_other).then_some(GoingOn { run, view }))
}

pub(super) async fn ask(
    app: &App,
    args: &AskArgs,
    question: &str,
    GoingOn { run, view }: GoingOn,
) -> Result<ExitCode, Failure> {
    let request = resume::request_of(app, &args.model, &run, &view).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let mut progress = Progress::new(app.quiet);
    let handle =
        go_on(app, sandbox, &run, Some(question), request, &mut |scan| progress.draw(|| scan_status(&scan)))?;
    progress.clear();
    app.say(&format!("going on with run {}", run.short()));
    watch::finish(app, handle, args.events).await
}
