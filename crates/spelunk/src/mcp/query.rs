//! The run tools: ask a question of text, ask later how it stands, take it back, go on with one that was cut off. A run
//! starts by these calls and by nothing else.

use std::sync::Arc;

use rmcp::model::{CallToolResponse, ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use spelunk_context::{Corpus, ScanOptions, SourceInput, View};
use spelunk_engine::{EngineError, ResumeRequest, RunHandle, RunRequest, RunSettings, Schema};
use spelunk_index::{RankOptions, rank};
use spelunk_journal::JournalError;
use spelunk_model::Model;
use spelunk_types::{Focus, Limits, RunId, RunOutcome, SourceSpec};

use super::answer::Said;
use super::arguments::{Arguments, whole_number, wrong};
use super::blocking::blocking;
use super::board::{self, Board, BoardModel};
use super::material::Material;
use super::rounds::{Past, Wait, Work};
use super::runs::{Ended, Live};
use super::sampling::{self, Part, Questions, SamplingModel, Way};
use super::state::State;
use crate::cli::{Failure, Usage, decide, keep, read_view, recorded_result, row, state as state_of};
use crate::config::StrategyChoice;
use crate::provider;
use crate::render::answer::{answer_text, closing_line, remarks, result_json};
use crate::render::error::{Paint, error_text};
use crate::render::passages::{passages_json, passages_text};
use crate::render::units::{count, head};

const QUESTION_CHARS_MAX: usize = 100_000;
const SCHEMA_CHARS_MAX: usize = 200_000;
const RUN_CHARS_MAX: usize = 100;
/// Runs that one list shows.
const RUNS_SHOWN_MAX: usize = 20;
const PASSAGES_MAX: u64 = 5;
const PASSAGES_BYTES_MAX: u64 = 20_000;
/// Limits that a call may lower. The user's settings are the most.
pub(super) const LIMITS: [&str; 6] =
    ["calls_max", "tokens_max", "cost_microusd_max", "run_ms_max", "depth_max", "turns_max"];
/// The three ways to a model, for whoever has none.
pub(super) const NO_MODEL: &str = "no model answered: set ANTHROPIC_API_KEY or OPENAI_API_KEY for the server or start a \
    local one such as Ollama, use a client that can sample, or explore with rlm_repl and the context tools yourself";

/// A question as it was asked.
struct Query {
    question: String,
    material: Material,
    strategy: StrategyChoice,
    focus: Focus,
    schema: Option<String>,
    model: ModelChoice,
    limits: Limits,
    wait_ms: Option<u64>,
}

/// Whom the caller wants asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelChoice {
    /// A provider if there is one, else the client.
    Auto,
    /// The configured provider.
    Provider,
    /// The client's model.
    Client,
}

impl ModelChoice {
    pub(super) const WORDS: [&str; 3] = ["auto", "provider", "client"];

    pub(super) fn of(arguments: &mut Arguments) -> Result<Self, Usage> {
        match arguments.text("model", RUN_CHARS_MAX)?.as_deref() {
            None | Some("auto") => Ok(Self::Auto),
            Some("provider") => Ok(Self::Provider),
            Some("client") => Ok(Self::Client),
            Some(_) => Err(wrong("model", "must be auto, provider or client")),
        }
    }
}

fn read_query(state: &State, mut arguments: Arguments) -> Result<Query, Failure> {
    let question = arguments.needed("question", QUESTION_CHARS_MAX)?;
    if question.trim().is_empty() {
        return Err(wrong("question", "is empty").into());
    }
    let material = Material::of(&mut arguments)?;
    let strategy = match arguments.text("strategy", RUN_CHARS_MAX)? {
        None => state.app.settings.strategy,
        Some(word) => StrategyChoice::of(&word).ok_or_else(|| {
            wrong("strategy", &format!("must be one of {}", StrategyChoice::WORDS.join(", ")))
        })?,
    };
    let focus = match arguments.text("focus", RUN_CHARS_MAX)? {
        None => Focus::General,
        Some(word) => word.parse().map_err(|_| {
            wrong("focus", &format!("must be one of {}", Focus::ALL.map(Focus::name).join(", ")))
        })?,
    };
    let schema = arguments.object("schema")?.map(|schema| Value::Object(schema).to_string());
    if let Some(schema) = &schema {
        if schema.len() > SCHEMA_CHARS_MAX {
            return Err(wrong("schema", "is too long").into());
        }
        Schema::parse(schema).map_err(EngineError::from)?;
    }
    let model = ModelChoice::of(&mut arguments)?;
    let limits = read_limits(state, &mut arguments)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    arguments.finish()?;
    Ok(Query { question, material, strategy, focus, schema, model, limits, wait_ms })
}

fn read_limits(state: &State, arguments: &mut Arguments) -> Result<Limits, Usage> {
    let mut limits = state.app.settings.limits.clone();
    for (name, value) in arguments.object("limits")?.unwrap_or_default() {
        let known = LIMITS.contains(&name.as_str()).then(|| limits.get(&name)).flatten();
        let most = known.ok_or_else(|| wrong("limits", &format!("may name {}", LIMITS.join(", "))))?;
        let wanted = whole_number(&value).ok_or_else(|| wrong("limits", "must hold whole numbers"))?;
        // The name was found just above.
        let _ = limits.set(&name, wanted.min(most));
    }
    Ok(limits)
}

/// Who answers, and how.
pub(super) struct Models {
    pub(super) root: Arc<dyn Model>,
    pub(super) sub: Option<Arc<dyn Model>>,
    pub(super) questions: Option<Arc<Questions>>,
    pub(super) board: Option<Arc<Board>>,
    /// How long a call may take besides what the settings say.
    patience_ms: u64,
}

impl Models {
    /// One model for everything.
    pub(super) fn of(root: Arc<dyn Model>) -> Self {
        Self { root, sub: None, questions: None, board: None, patience_ms: 0 }
    }

    /// Agents of the host in the place of a model.
    fn of_agents() -> Self {
        let board = Arc::new(Board::default());
        let root: Arc<dyn Model> = Arc::new(BoardModel::new(Arc::clone(&board)));
        Self { board: Some(board), patience_ms: board::CALL_MS_MAX, ..Self::of(root) }
    }

    /// Limits for them: the person at a client may take their time.
    pub(super) fn settings(&self, state: &State, limits: Limits) -> RunSettings {
        let mut settings = RunSettings { limits, ..state.app.run_settings() };
        if self.patience_ms > 0 {
            let limits = &mut settings.limits;
            limits.call_ms_max = limits.call_ms_max.max(self.patience_ms);
            limits.call_idle_ms_max = limits.call_idle_ms_max.max(self.patience_ms);
            if self.board.is_some() {
                limits.run_ms_max = limits.run_ms_max.max(self.patience_ms);
            }
            limits.frame_ms_max = limits.frame_ms_max.max(limits.run_ms_max);
        }
        settings
    }
}

/// The model for a call: a configured provider, or the client's own by sampling, or none.
pub(super) async fn models(
    state: &State,
    context: &RequestContext<RoleServer>,
    choice: ModelChoice,
) -> Result<Option<Models>, Failure> {
    if choice != ModelChoice::Client
        && let Some(chosen) = provider::choose(&state.app.settings.model, &state.app.environment).await?
    {
        let (root, sub) = (chosen.model, chosen.sub_model);
        return Ok(Some(Models { sub, ..Models::of(root) }));
    }
    if choice == ModelChoice::Provider {
        return Ok(None);
    }
    Ok(of_client(context))
}

/// The client's model, if it offers one.
fn of_client(context: &RequestContext<RoleServer>) -> Option<Models> {
    let can_sample = |capabilities: ClientCapabilities| capabilities.sampling.is_some();
    if !context.client_capabilities().is_some_and(can_sample) {
        return None;
    }
    let asks_in_rounds =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let (way, questions) = if asks_in_rounds {
        let questions = Arc::new(Questions::default());
        (Way::Rounds(Arc::clone(&questions)), Some(questions))
    } else {
        (Way::Request(context.peer.clone()), None)
    };
    let root: Arc<dyn Model> = Arc::new(SamplingModel::new(Part::Root, way.clone()));
    let sub: Option<Arc<dyn Model>> = Some(Arc::new(SamplingModel::new(Part::Sub, way)));
    Some(Models { sub, questions, patience_ms: sampling::CALL_MS_MAX, ..Models::of(root) })
}

/// `rlm_query`.
pub(super) async fn query(
    state: &Arc<State>,
    context: &RequestContext<RoleServer>,
    arguments: Arguments,
) -> Result<CallToolResponse, ErrorData> {
    let begun = begin(state, context, arguments).await;
    wait_for(state, context, "rlm_query", begun).await
}

/// What a call of a run tool comes to before it waits.
enum Begun {
    Run(Arc<Live>, Option<u64>),
    /// An answer at once.
    Said(Said),
}

async fn wait_for(
    state: &State,
    context: &RequestContext<RoleServer>,
    tool: &'static str,
    begun: Result<Begun, Failure>,
) -> Result<CallToolResponse, ErrorData> {
    match begun {
        Ok(Begun::Run(live, wait_ms)) => {
            Wait { state, context, tool, ms_max: wait_ms }.finish(Work::Run(live), Past::default()).await
        }
        Ok(Begun::Said(said)) => Ok(said.into_result(state.output_chars_max).into()),
        Err(failure) => Ok(Said::error(failure.0.as_ref()).into_result(state.output_chars_max).into()),
    }
}

async fn begin(
    state: &Arc<State>,
    context: &RequestContext<RoleServer>,
    arguments: Arguments,
) -> Result<Begun, Failure> {
    state.runs.require_room()?;
    let query = read_query(state, arguments)?;
    let models = models(state, context, query.model).await?;
    let Some(models) = models else {
        let state = Arc::clone(state);
        return blocking(move || passages(&state, &query)).await.map(Begun::Said);
    };
    let wait_ms = query.wait_ms;
    Ok(Begun::Run(launch(state, query, models).await?, wait_ms))
}

/// A run that waits for agents, and where they find their tasks.
pub(super) async fn begin_tasks(
    state: &Arc<State>,
    arguments: Arguments,
) -> Result<(Arc<Live>, Arc<Board>), Failure> {
    state.runs.require_room()?;
    let mut query = read_query(state, arguments)?;
    query.strategy = StrategyChoice::Map;
    let models = Models::of_agents();
    let board = models.board.clone().unwrap_or_default();
    Ok((launch(state, query, models).await?, board))
}

/// Reads the text and starts the run.
async fn launch(state: &Arc<State>, query: Query, models: Models) -> Result<Arc<Live>, Failure> {
    let (reading, options) = (Arc::clone(state), query.material.scan_options(0));
    let (query, inputs, corpus, options) = blocking(move || {
        let (inputs, corpus) = query.material.scan(&reading, &options)?;
        Ok((query, inputs, corpus, options))
    })
    .await?;
    let handle = start(state, query, inputs, corpus, options, &models)?;
    Ok(state.runs.keep(handle, models.questions, models.board))
}

fn start(
    state: &State,
    query: Query,
    inputs: Vec<SourceInput>,
    corpus: Corpus,
    options: ScanOptions,
    models: &Models,
) -> Result<RunHandle, Failure> {
    let is_typed = query.schema.is_some();
    let (strategy, _) = decide(&state.app, query.strategy, &query.question, &corpus.outline(), is_typed)?;
    let engine = state.app.engine(options)?.with_sandbox(state.sandbox.clone());
    let sources = keep(&engine, inputs)?;
    Ok(engine.start(RunRequest {
        question: query.question,
        corpus,
        sources,
        strategy,
        model: Arc::clone(&models.root),
        sub_model: models.sub.clone(),
        schema: query.schema,
        focus: query.focus,
        settings: models.settings(state, query.limits),
        program: None,
    })?)
}

/// The answer without a model: the passages that share most words with the question.
fn passages(state: &State, query: &Query) -> Result<Said, Failure> {
    let (_, corpus) = query.material.scan(state, &query.material.scan_options(0))?;
    let view = View::of(Arc::new(corpus));
    let options = RankOptions::new(PASSAGES_MAX, PASSAGES_BYTES_MAX);
    let ranking = rank(&view, &query.question, &options, &mut |_| {})?;
    let mut data = passages_json(&ranking);
    data["hint"] = json!(NO_MODEL);
    let found = if ranking.passages.is_empty() {
        "No model wrote this: no passage shares a word with the question.\n".to_owned()
    } else {
        passages_text(&ranking, &query.question, Paint::Plain)
    };
    Ok(Said::new(format!("{found}\n[{NO_MODEL}]"), data))
}

/// What came of a run.
pub(super) fn ended(ended: &Ended) -> Said {
    let Ended { result, view } = ended;
    let mut data = result_json(result, view);
    data["state"] = json!(state_of(view));
    let mut text = String::new();
    if let Some(answer) = &result.answer {
        text += &answer_text(&answer.text, &answer.citations, Paint::Plain);
    }
    if let Some(error) = &result.error {
        text += &error_text(error, Paint::Plain);
    } else if let RunOutcome::Partial { stopped_by } = &result.outcome {
        text += &format!("[this answer is partial: {}]\n", stopped_by.meaning().trim_end_matches('.'));
    }
    for remark in remarks(view) {
        text += &format!("[{remark}]\n");
    }
    text += &format!("[{}]", closing_line(view, &result.run));
    if result.answer.is_none() { Said::failed(text, data) } else { Said::new(text, data) }
}

/// A run that goes on.
pub(super) fn under_way(live: &Live) -> Said {
    let (run, step) = (live.run.short(), live.progress.borrow().clone());
    let text =
        format!("run {run} is under way: {}\n[ask for its answer with rlm_result, run {run}]", step.text);
    Said::new(text, json!({ "run": live.run, "state": "running", "progress": step.text, "events": step.seq }))
}

fn find(state: &State, name: Option<&str>) -> Result<(spelunk_journal::Workspace, RunId), Failure> {
    let Some(workspace) = state.app.existing_workspace()? else { return Err(JournalError::NoRuns.into()) };
    let run = workspace.find(name)?;
    Ok((workspace, run))
}

/// `rlm_status`: one run, or the newest ones.
pub(super) fn status(state: &State, mut arguments: Arguments) -> Result<Said, Failure> {
    let name = arguments.text("run", RUN_CHARS_MAX)?;
    arguments.finish()?;
    let Some(name) = name else { return list(state) };
    let (workspace, run) = find(state, Some(&name))?;
    let view = read_view(&workspace, &run)?;
    let live = state.runs.find(&run);
    let progress = live.as_ref().map(|live| live.progress.borrow().text.clone());
    let shown = if live.is_some() { "running".to_owned() } else { state_of(&view) };
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
    Ok(Said::new(text, data))
}

/// A run as JSON, its answer included, for whoever reads it by address.
pub(super) fn summary(state: &State, name: &str) -> Result<String, Failure> {
    let (workspace, run) = find(state, Some(name))?;
    let view = read_view(&workspace, &run)?;
    let result = recorded_result(&workspace, run, &view)?;
    let mut data = result_json(&result, &view);
    (data["outcome"], data["state"]) = (json!(view.outcome), json!(state_of(&view)));
    Ok(super::bound::bound(data, state.output_chars_max).0.to_string())
}

fn list(state: &State) -> Result<Said, Failure> {
    let mut rows = Vec::new();
    let mut text = String::new();
    let workspace = state.app.existing_workspace()?;
    let runs = workspace.as_ref().map(spelunk_journal::Workspace::runs).transpose()?.unwrap_or_default();
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
        text.push_str("no runs yet; start one with rlm_query");
    }
    Ok(Said::new(text, json!({ "runs": rows, "total": n_runs })))
}

/// `rlm_cancel`.
pub(super) async fn cancel(
    state: &State,
    context: &RequestContext<RoleServer>,
    mut arguments: Arguments,
) -> Result<CallToolResponse, ErrorData> {
    let wanted = arguments.needed("run", RUN_CHARS_MAX);
    let live =
        wanted.and_then(|name| arguments.finish().map(|()| name)).map_err(Failure::from).and_then(|name| {
            let (_, run) = find(state, Some(&name))?;
            state.runs.find(&run).ok_or_else(|| {
                let message = format!("run `{}` is not under way in this server", run.short());
                Usage { message, hint: "see how it stands with `rlm_status`".into() }.into()
            })
        });
    let live = match live {
        Ok(live) => live,
        Err(failure) => {
            return Ok(Said::error(failure.0.as_ref()).into_result(state.output_chars_max).into());
        }
    };
    live.cancel.cancel();
    tokio::select! {
        _ = live.end() => {}
        () = context.ct.cancelled() => {}
    }
    let text = format!("run {} is cancelled; rlm_resume goes on with it", live.run.short());
    let said = Said::new(text, json!({ "run": live.run, "state": "cancelled" }));
    Ok(said.into_result(state.output_chars_max).into())
}

/// `rlm_result`: what came of a run, waiting for it if it is under way.
pub(super) async fn result(
    state: &Arc<State>,
    context: &RequestContext<RoleServer>,
    arguments: Arguments,
) -> Result<CallToolResponse, ErrorData> {
    let reading = Arc::clone(state);
    let begun = blocking(move || find_result(&reading, arguments)).await;
    wait_for(state, context, "rlm_result", begun).await
}

fn find_result(state: &State, mut arguments: Arguments) -> Result<Begun, Failure> {
    let name = arguments.needed("run", RUN_CHARS_MAX)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    let offset = arguments.whole("offset", u64::MAX)?.unwrap_or(0);
    arguments.finish()?;
    let (workspace, run) = find(state, Some(&name))?;
    if let Some(live) = state.runs.find(&run) {
        return Ok(Begun::Run(live, wait_ms));
    }
    let view = read_view(&workspace, &run)?;
    if view.outcome.is_none() {
        let message = format!("run `{}` was cut off before its end", run.short());
        return Err(Usage { message, hint: "go on with it by `rlm_resume`".into() }.into());
    }
    let mut result = recorded_result(&workspace, run, &view)?;
    if let Some(answer) = &mut result.answer {
        answer.text = answer.text.chars().skip(usize::try_from(offset).unwrap_or(usize::MAX)).collect();
    }
    Ok(Begun::Said(ended(&Ended { result, view })))
}

/// `rlm_resume`: goes on with a run that was cut off, cancelled or stopped at a limit.
pub(super) async fn resume(
    state: &Arc<State>,
    context: &RequestContext<RoleServer>,
    arguments: Arguments,
) -> Result<CallToolResponse, ErrorData> {
    let begun = begin_again(state, context, arguments).await;
    wait_for(state, context, "rlm_resume", begun).await
}

async fn begin_again(
    state: &Arc<State>,
    context: &RequestContext<RoleServer>,
    mut arguments: Arguments,
) -> Result<Begun, Failure> {
    state.runs.require_room()?;
    let name = arguments.needed("run", RUN_CHARS_MAX)?;
    let limits = read_limits(state, &mut arguments)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    arguments.finish()?;
    let (workspace, run) = find(state, Some(&name))?;
    if let Some(live) = state.runs.find(&run) {
        return Ok(Begun::Run(live, wait_ms));
    }
    let view = read_view(&workspace, &run)?;
    let Some(recorded) = &view.model else {
        let message = format!("run `{}` died before its first event", run.short());
        return Err(Usage { message, hint: "ask again: nothing was sent or paid".into() }.into());
    };
    // A run of another day may have read what this server may not.
    for source in &view.sources {
        if let SourceSpec::Path { path, .. } = source {
            state.admit(path)?;
        }
    }
    let models = if recorded.provider == sampling::PROVIDER && recorded.name == board::MODEL {
        Models::of_agents()
    } else if recorded.provider == sampling::PROVIDER {
        of_client(context).ok_or_else(|| Usage {
            message: "the run was begun with the model of a client, and this client offers none".into(),
            hint: "ask again with `rlm_query` and a configured provider".into(),
        })?
    } else {
        let (settings, environment) = (&state.app.settings.model, &state.app.environment);
        let known = |model| provider::recorded(model, settings, environment);
        let (root, sub) = (known(recorded)?, view.sub_model.as_ref().map(known).transpose()?);
        Models { sub, ..Models::of(root) }
    };
    let settings = models.settings(state, limits);
    let request = ResumeRequest { model: models.root, sub_model: models.sub, settings, program: None };
    let engine = state.app.engine(ScanOptions::default())?.with_sandbox(state.sandbox.clone());
    let runtime = tokio::runtime::Handle::current();
    let handle = blocking(move || {
        // Reading the sources again takes a while; the run is started on the runtime of the server.
        let _entered = runtime.enter();
        Ok(engine.resume(&run, request, &mut |_| {})?)
    })
    .await?;
    Ok(Begun::Run(state.runs.keep(handle, models.questions, models.board), wait_ms))
}
