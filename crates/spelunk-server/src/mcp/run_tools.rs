//! Tools for existing runs: state, result, cancel, resume.

use std::sync::Arc;

use serde_json::json;
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::asking::{self, QUESTION_CHARS_MAX, begun, check_more};
use spelunk_app::blocking::blocking;
use spelunk_app::config::StrategyChoice;
use spelunk_app::live_runs::Slot;
use spelunk_app::provider;
use spelunk_app::render::answer::{closing_line, result_json};
use spelunk_app::runs::{find_run, read_view, recorded_result, row, state as state_of};
use spelunk_app::units::{count, head};
use spelunk_engine::RunView;
use spelunk_journal::Workspace;
use spelunk_types::{Limits, ModelRef, RunId};

use super::models::of_client;
use super::query::{RUN_CHARS_MAX, ended, read_limits, strategy};
use super::{
    CallContext, CallResult, CallStart, Ended, Failure, Live, Models, State, ToolAnswer, Usage, Work,
    agent_tasks, consent,
};

const RUNS_SHOWN_MAX: usize = 20;
const WAIT_MS: u64 = 45_000;

pub(super) const ACTIONS: [&str; 4] = ["result", "status", "cancel", "resume"];

/// `rlm_run`: all tools for existing runs under one name.
pub(super) async fn run(state: &Arc<State>, context: &CallContext, mut arguments: Arguments) -> CallResult {
    match arguments.needed("action", RUN_CHARS_MAX)?.as_str() {
        "status" => {
            let reading = Arc::clone(state);
            blocking(move || status(&reading, arguments)).await.map(CallStart::Answered)
        }
        "cancel" => cancel(state, context, arguments).await,
        "result" => result(state, with_patience(arguments)).await,
        "resume" => resume(state, context, with_patience(arguments)).await,
        _ => Err(wrong("action", &format!("must be one of {}", ACTIONS.join(", "))).into()),
    }
}

/// Adds the default wait to the arguments: many clients give up after a minute.
pub(super) fn with_patience(mut arguments: Arguments) -> Arguments {
    arguments.unless_given("wait_ms", json!(WAIT_MS));
    arguments
}

/// `rlm_status`: one run, or the newest ones.
pub(super) fn status(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let name = arguments.text("run", RUN_CHARS_MAX)?;
    arguments.finish()?;
    let Some(name) = name else { return list(state) };
    let (workspace, run) = find_run(&state.app, Some(&name))?;
    let view = read_view(&workspace, &run)?;
    let live = state.runs.find(&run);
    let progress = live.as_ref().map(|live| live.progress.borrow().text.clone());
    let shown = match &live {
        Some(live) if live.fold().view.pending_effects().next().is_some() => "waiting".to_owned(),
        Some(_) => "running".to_owned(),
        None => state_of(&view),
    };
    let question = view.question.as_ref().map(|text| workspace.blobs().text(text)).transpose()?;
    let question = question.unwrap_or_default();
    let doing = progress.clone().unwrap_or_else(|| closing_line(&view, &run));
    let text = format!("run {} ({shown}): {}\n{doing}", run.short(), head(&question, 200));
    let data = json!({
        "run": run,
        "state": shown,
        "question": question,
        "outcome": view.outcome,
        "progress": progress,
        "model": view.model.as_ref().map(ToString::to_string),
        "documents": view.n_documents,
        "calls": view.n_paid_calls(),
        "usage": view.spent,
        "events": view.seq_last,
    });
    Ok(ToolAnswer::new(text, data))
}

/// A run with its answer as JSON, for the resource.
pub(super) fn summary(state: &State, name: &str) -> Result<String, Failure> {
    let (workspace, run) = find_run(&state.app, Some(name))?;
    let view = read_view(&workspace, &run)?;
    let result = recorded_result(&workspace, run, &view)?;
    let mut data = result_json(&result, &view, &workspace.blobs());
    (data["outcome"], data["state"]) = (json!(view.outcome), json!(state_of(&view)));
    Ok(super::bound(data, state.output_chars_max).0.to_string())
}

fn list(state: &State) -> Result<ToolAnswer, Failure> {
    let mut rows = Vec::new();
    let mut text = String::new();
    let workspace = state.app.existing_workspace()?;
    let runs = workspace.as_ref().map(Workspace::runs).transpose()?.unwrap_or_default();
    let n_runs = runs.len();
    for run in runs.into_iter().rev().take(RUNS_SHOWN_MAX) {
        let Some(workspace) = &workspace else { break };
        let row = row(workspace, run)?;
        let is_live = state.runs.find(&row.run).is_some();
        let shown = if is_live { "running" } else { row.state.as_str() };
        text += &format!(
            "{}  {shown:<20} {:>9}  {}\n",
            row.run.short(),
            count(row.n_calls, "call"),
            head(&row.question, 80)
        );
        rows.push(json!({
            "run": row.run,
            "state": shown,
            "question": head(&row.question, 200),
            "calls": row.n_calls,
            "cost_microusd": row.cost_microusd,
        }));
    }
    if rows.is_empty() {
        text.push_str("no runs yet; start one with rlm_ask");
    }
    Ok(ToolAnswer::new(text, json!({ "runs": rows, "total": n_runs })))
}

pub(super) async fn cancel(state: &State, context: &CallContext, mut arguments: Arguments) -> CallResult {
    let name = arguments.needed("run", RUN_CHARS_MAX)?;
    arguments.finish()?;
    let (_, run) = find_run(&state.app, Some(&name))?;
    if !state.app.live_runs.cancel(&run) {
        let message = format!("run `{}` is not in progress on this server", run.short());
        return Err(Usage::new(message, "see its state with `rlm_run`, action status").into());
    }
    // A run that was started over HTTP ends on its own; nothing here can wait for it.
    if let Some(live) = state.runs.find(&run) {
        tokio::select! {
            _ = live.end() => {}
            () = context.ct.cancelled() => {}
        }
    }
    let text = format!("run {} was cancelled; rlm_run, action resume, continues it", run.short());
    Ok(CallStart::Answered(ToolAnswer::new(text, json!({ "run": run, "state": "cancelled" }))))
}

/// `rlm_result`: the result of a run, waiting for it if it is in progress.
pub(super) async fn result(state: &Arc<State>, arguments: Arguments) -> CallResult {
    let reading = Arc::clone(state);
    blocking(move || find_result(&reading, arguments)).await
}

fn find_result(state: &State, mut arguments: Arguments) -> CallResult {
    let name = arguments.needed("run", RUN_CHARS_MAX)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    let offset = arguments.whole("offset", u64::MAX)?.unwrap_or(0);
    arguments.finish()?;
    let (workspace, run) = find_run(&state.app, Some(&name))?;
    if let Some(live) = state.runs.find(&run) {
        return Ok(CallStart::Waits(Work::Run(live), wait_ms));
    }
    let view = read_view(&workspace, &run)?;
    if view.outcome.is_none() {
        let message = format!("run `{}` was interrupted", run.short());
        return Err(Usage::new(message, "continue it with `rlm_run`, action resume").into());
    }
    let mut result = recorded_result(&workspace, run, &view)?;
    if let Some(answer) = &mut result.answer {
        answer.text = answer.text.chars().skip(usize::try_from(offset).unwrap_or(usize::MAX)).collect();
    }
    Ok(CallStart::Answered(ended(state, &Ended { result, view })?))
}

/// `rlm_resume`: continues a run that was interrupted, cancelled or stopped by a limit.
pub(super) async fn resume(
    state: &Arc<State>,
    context: &CallContext,
    mut arguments: Arguments,
) -> CallResult {
    let slot = state.runs.take_slot()?;
    let name = arguments.needed("run", RUN_CHARS_MAX)?;
    let limits = read_limits(state, &mut arguments)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    arguments.finish()?;
    let (workspace, run) = find_run(&state.app, Some(&name))?;
    if let Some(live) = state.runs.find(&run) {
        return Ok(CallStart::Waits(Work::Run(live), wait_ms));
    }
    let view = read_view(&workspace, &run)?;
    let live = go_on(state, context, Continuation { run, view, limits, more: None, slot }).await?;
    Ok(CallStart::Waits(Work::Run(live), wait_ms))
}

/// Arguments that cannot be combined with `run`, because the run has its own.
const OF_THE_RUN: &str =
    "paths contexts include exclude types messages system attachments focus schema model thoughts";

/// `rlm_query` with `run`: asks an agent a follow-up question; it continues with its files, variables and conversation.
pub(super) async fn ask_more(
    state: &Arc<State>,
    context: &CallContext,
    mut arguments: Arguments,
    slot: Slot,
) -> CallResult {
    if let Some(name) = OF_THE_RUN.split(' ').find(|name| arguments.has(name)) {
        return Err(wrong(name, "cannot be combined with `run`, which has its own").into());
    }
    let name = arguments.needed("run", RUN_CHARS_MAX)?;
    let question = arguments.needed("question", QUESTION_CHARS_MAX)?;
    // An agent run cannot change its strategy.
    if strategy(&mut arguments)?.is_some_and(|strategy| strategy != StrategyChoice::Agent) {
        return Err(wrong("strategy", "cannot be combined with `run`, which is an agent's").into());
    }
    let limits = read_limits(state, &mut arguments)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    arguments.finish()?;
    let (workspace, run) = find_run(&state.app, Some(&name))?;
    if state.runs.find(&run).is_some() {
        let message = format!("run `{}` is in progress", run.short());
        return Err(Usage::new(message, "wait for its answer with `rlm_run`, action result").into());
    }
    let view = read_view(&workspace, &run)?;
    check_more(&run, &view, &question)?;
    let live = go_on(state, context, Continuation { run, view, limits, more: Some(question), slot }).await?;
    Ok(CallStart::Waits(Work::Run(live), wait_ms))
}

struct Continuation {
    run: RunId,
    view: RunView,
    limits: Limits,
    more: Option<String>,
    slot: Slot,
}

async fn go_on(
    state: &Arc<State>,
    context: &CallContext,
    continuation: Continuation,
) -> Result<Arc<Live>, Failure> {
    let Continuation { run, view, limits, more, slot } = continuation;
    let recorded = begun(&run, &view)?;
    state.require_roots(&view)?;
    let mut models = same_models(state, context, recorded, &run, &view)?;
    let tools = consent::tools(state, context, &mut models.host.questions);
    let settings = models.settings(state, limits);
    let (request, starting) = (models.roles.request(settings), Arc::clone(state));
    let runtime = tokio::runtime::Handle::current();
    let handle = blocking(move || {
        // Reading the sources again takes a while; the run itself starts on the server's runtime.
        let _entered = runtime.enter();
        let sandbox = starting.sandbox.clone();
        asking::go_on(&starting.app, sandbox, tools, (&run, more.as_deref()), request, &mut |_| {})
    })
    .await?;
    Ok(state.runs.keep(handle, slot, models.host, None))
}

/// The models the run was started with, if they are available.
fn same_models(
    state: &State,
    context: &CallContext,
    root: &ModelRef,
    run: &RunId,
    view: &RunView,
) -> Result<Models, Failure> {
    if root.provider == provider::OF_CLIENT && root.name == agent_tasks::MODEL {
        return Ok(Models::of_agents());
    }
    if root.provider == provider::OF_CLIENT {
        return Ok(of_client(context).ok_or_else(|| Usage {
            message: "the run was started with a client's model, and this client offers none".into(),
            hint: "ask again with `rlm_ask` and a configured provider".into(),
        })?);
    }
    Ok(Models::of_roles(asking::same_models(&state.app, run, view)?))
}
