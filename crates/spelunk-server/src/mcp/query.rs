//! `rlm_query` and `rlm_plan`: answer a question about text, or plan it without spending anything.
//! Only explicit calls like these start runs.

use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_app::arguments::{Arguments, whole_number, wrong};
use spelunk_app::asking::{Asking, Named, QuestionInput, Ready, RoleModels, Sources};
use spelunk_app::blocking::blocking;
use spelunk_app::config::StrategyChoice;
use spelunk_app::error_text::{Paint, error_text};
use spelunk_app::live_runs::Slot;
use spelunk_app::planning::{Planned, planned};
use spelunk_app::provider::OF_CLIENT;
use spelunk_app::render::answer::{answer_text, closing_line, remarks, result_json};
use spelunk_app::render::passages::{passages_json, passages_text};
use spelunk_app::render::plan::{plan_text, plan_value};
use spelunk_app::runs::state as state_of;
use spelunk_context::{Mode, View};
use spelunk_engine::{CallerTurn, EngineError, ExternalTools, RunSettings, Schema};
use spelunk_index::{RankOptions, rank};
use spelunk_types::{ErrorCode, Explain as _, Focus, Limits, RunOutcome};

use super::models::models;
use super::runs::AfterEnd;
use super::{
    AgentTasks, CallContext, CallResult, CallStart, ClientModelName, Ended, Failure, Live, Material,
    ModelChoice, Models, State, ToolAnswer, Usage, Work, consent, model_name, run_tools, session_log,
};

const SCHEMA_CHARS_MAX: usize = 200_000;
pub(super) const RUN_CHARS_MAX: usize = 100;
const PASSAGES_MAX: u64 = 5;
const PASSAGES_BYTES_MAX: u64 = 20_000;
/// Limits that a call may lower. The user's settings are the maximum.
pub const LIMITS: [&str; 6] =
    ["calls_max", "tokens_max", "cost_microusd_max", "run_ms_max", "depth_max", "turns_max"];
pub(super) const NO_MODEL: &str = "no model answered: set ANTHROPIC_API_KEY or OPENAI_API_KEY for the server or start a \
    local one such as Ollama, use a client that can sample, or explore with rlm_repl and the context tools yourself";

const CANNOT_SAMPLE: &str = "no model answered: the client declares sampling but does not support it; set \
    ANTHROPIC_API_KEY or OPENAI_API_KEY for the server or start a local one such as Ollama, or explore \
    with rlm_repl and the context tools yourself";

/// How to answer a question: options that every frontend accepts under the same names.
#[derive(Clone)]
pub(crate) struct Manner {
    pub(crate) strategy: StrategyChoice,
    pub(crate) focus: Focus,
    pub(crate) schema: Option<String>,
}

impl Manner {
    pub(crate) fn of(state: &State, arguments: &mut Arguments) -> Result<Self, Failure> {
        let strategy = strategy(arguments)?.unwrap_or(state.app.settings.strategy);
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
        Ok(Self { strategy, focus, schema })
    }
}

pub(crate) fn strategy(arguments: &mut Arguments) -> Result<Option<StrategyChoice>, Usage> {
    let Some(word) = arguments.text("strategy", RUN_CHARS_MAX)? else { return Ok(None) };
    let known = StrategyChoice::of(&word);
    let words = || format!("must be one of {}", StrategyChoice::WORDS.join(", "));
    known.map(Some).ok_or_else(|| wrong("strategy", &words()))
}

#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) question: String,
    pub(crate) material: Material,
    pub(crate) manner: Manner,
    pub(crate) limits: Limits,
    /// The conversation of a caller that runs its own tools.
    pub(crate) turn: Option<CallerTurn>,
    pub(crate) tools: ExternalTools,
}

impl Query {
    /// Blocking.
    pub(crate) fn ready(
        self,
        state: &State,
        models: RoleModels,
        settings: RunSettings,
    ) -> Result<Ready, Failure> {
        let Self { question, material, manner: Manner { strategy, focus, schema }, turn, tools, .. } = self;
        let options = material.scan_options(&state.app.settings.limits);
        let (inputs, corpus) = material.scan_if_any(state, &options)?;
        let sources = Sources { named: Named::Now(inputs), options, corpus };
        let asking = Asking { question, sources, models, strategy, focus, schema, turn, tools, settings };
        asking.ready(&state.app, |_| Ok(state.sandbox.clone()))
    }
}

struct QueryCall {
    query: Query,
    model: ModelChoice,
    wait_ms: Option<u64>,
    /// The thought that the answer belongs to.
    thought: Option<usize>,
}

fn read_call(state: &State, mut arguments: Arguments) -> Result<QueryCall, Failure> {
    let QuestionInput { question, attachments: mut along } = QuestionInput::read(&mut arguments, Vec::new())?;
    let material = Material::of(&mut arguments)?;
    let manner = Manner::of(state, &mut arguments)?;
    let model = ModelChoice::of(&mut arguments)?;
    let limits = read_limits(state, &mut arguments)?;
    let wait_ms = arguments.whole("wait_ms", u64::from(u32::MAX))?;
    let with_thoughts = arguments.flag("thoughts")?;
    arguments.finish()?;
    let mut thought = None;
    if with_thoughts {
        let (given, number) = session_log::sources(state)?;
        along.extend(given);
        thought = Some(number);
    }
    let tools = state.app.run_tools();
    let query = Query { question, material: material.with(along), manner, limits, turn: None, tools };
    Ok(QueryCall { query, model, wait_ms, thought })
}

pub(crate) fn read_limits(state: &State, arguments: &mut Arguments) -> Result<Limits, Usage> {
    let mut limits = state.app.settings.limits.clone();
    for (name, value) in arguments.object("limits")?.unwrap_or_default() {
        let known = LIMITS.contains(&name.as_str()).then(|| limits.get(&name)).flatten();
        let most = known.ok_or_else(|| wrong("limits", &format!("may contain {}", LIMITS.join(", "))))?;
        // Up to the largest integer that is exact in every JSON implementation.
        let wanted = whole_number(&value).filter(|number| *number < 1 << 53);
        let wanted = wanted.ok_or_else(|| wrong("limits", "must contain integers below 2^53"))?;
        // The name was validated above.
        let _ = limits.set(&name, wanted.min(most));
    }
    Ok(limits)
}

pub(super) async fn query(state: &Arc<State>, context: &CallContext, arguments: Arguments) -> CallResult {
    let slot = state.runs.take_slot()?;
    if arguments.has("run") {
        return run_tools::ask_more(state, context, arguments, slot).await;
    }
    let QueryCall { mut query, model, wait_ms, thought } = read_call(state, arguments)?;
    let models = models(state, context, model).await?;
    let Some(mut models) = models else {
        let state = Arc::clone(state);
        return blocking(move || passages(&state, &query, NO_MODEL)).await.map(CallStart::Answered);
    };
    query.tools = consent::tools(state, context, &mut models.host.questions);
    Ok(CallStart::Waits(Work::Run(launch(state, query, thought, models, slot).await?), wait_ms))
}

pub(super) async fn begin_tasks(
    state: &Arc<State>,
    arguments: Arguments,
) -> Result<(Arc<Live>, Arc<AgentTasks>), Failure> {
    let slot = state.runs.take_slot()?;
    let QueryCall { mut query, thought, .. } = read_call(state, arguments)?;
    query.manner.strategy = StrategyChoice::Map;
    let models = Models::of_agents();
    let agent_tasks = models.host.agent_tasks.clone().unwrap_or_default();
    Ok((launch(state, query, thought, models, slot).await?, agent_tasks))
}

async fn launch(
    state: &Arc<State>,
    query: Query,
    thought: Option<usize>,
    models: Models,
    slot: Slot,
) -> Result<Arc<Live>, Failure> {
    let settings = models.settings(state, query.limits.clone());
    let Models { roles, mut host, .. } = models;
    if roles.root.reference().provider == OF_CLIENT {
        host.query = Some(Arc::new(query.clone()));
    }
    let reading = Arc::clone(state);
    let ready = blocking(move || query.ready(&reading, roles, settings)).await?;
    let name = Arc::clone(&host.client_model);
    let then = thought.map(|number| keep_with_thought(state, number, name));
    Ok(state.runs.keep(ready.start()?, slot, host, then))
}

fn keep_with_thought(state: &Arc<State>, number: usize, name: ClientModelName) -> AfterEnd {
    let (state, app) = (Arc::clone(state), Arc::clone(&state.app));
    Box::new(move |ended| {
        Box::pin(async move {
            if let Err(failure) = blocking(move || session_log::answered(&state, number, &ended, &name)).await
            {
                app.say(&format!("warning: the answer was not stored with its thought: {}", failure.0));
            }
        })
    })
}

/// The answer without a model: the passages that share the most words with the question.
fn passages(state: &State, query: &Query, hint: &str) -> Result<ToolAnswer, Failure> {
    let (_, corpus) = query.material.scan(state, &query.material.scan_options(&state.app.settings.limits))?;
    let view = View::of(Arc::new(corpus));
    let options = RankOptions::new(PASSAGES_MAX, PASSAGES_BYTES_MAX);
    let ranking = rank(&view, &query.question, &options, &mut |_| {})?;
    let mut data = passages_json(&ranking);
    data["hint"] = json!(hint);
    let found = if ranking.passages.is_empty() {
        "No passage matches the question (no model was used).\n".to_owned()
    } else {
        passages_text(&ranking)
    };
    Ok(ToolAnswer::new(format!("{found}\n[{hint}]"), data))
}

/// The result of a run, or passages if the client whose model it was to use cannot sample after all.
pub(super) async fn ended_run(state: &Arc<State>, live: &Live, came: &Ended) -> Result<ToolAnswer, Failure> {
    let cannot_sample = came.result.answer.is_none()
        && came.result.error.as_ref().is_some_and(|error| error.code() == ErrorCode::ModelNotFound);
    match live.host.query.clone().filter(|_| cannot_sample) {
        None => {
            let mut answer = ended(state, came)?;
            if let Some(name) = model_name(&live.host.client_model) {
                answer.data["model"] = json!(name);
            }
            Ok(answer)
        }
        Some(query) => {
            let reading = Arc::clone(state);
            blocking(move || passages(&reading, &query, CANNOT_SAMPLE)).await
        }
    }
}

pub(super) fn ended(state: &State, ended: &Ended) -> Result<ToolAnswer, Failure> {
    let Ended { result, view } = ended;
    let mut data = result_json(result, view, &state.app.workspace()?.blobs());
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
    Ok(if result.answer.is_none() { ToolAnswer::failed(text, data) } else { ToolAnswer::new(text, data) })
}

pub(super) fn under_way(live: &Live) -> ToolAnswer {
    let (run, step) = (live.run.short(), live.progress.borrow().clone());
    let text = format!(
        "run {run} is in progress: {}\n[get its answer with rlm_run, action result, run {run}]",
        step.text
    );
    ToolAnswer::new(
        text,
        json!({ "run": live.run, "state": "running", "progress": step.text, "events": step.seq }),
    )
}

const QUESTION_CHARS_MAX: usize = 100_000;
const ROWS_MAX: usize = 200;

pub(super) fn plan(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let question = arguments.text("question", QUESTION_CHARS_MAX)?.unwrap_or_default();
    let material = Material::of(&mut arguments)?;
    let with_tasks = arguments.flag("tasks")?;
    arguments.finish()?;
    let planned = make_plan(state, &material, &question)?;
    let mut data = plan_value(&planned);
    data["n_tasks"] = json!(planned.plan.tasks.len());
    if !with_tasks {
        data["tasks"] = Value::Array(Vec::new());
    }
    for name in ["manifest", "tasks"] {
        if let Some(rows) = data[name].as_array_mut() {
            rows.truncate(ROWS_MAX);
        }
    }
    Ok(ToolAnswer::new(plan_text(&planned, with_tasks), data))
}

/// Scans and plans the material. Blocking.
pub(crate) fn make_plan(state: &State, material: &Material, question: &str) -> Result<Planned, Failure> {
    let settings = &state.app.settings;
    let (_, corpus) = material.scan(state, &material.scan_options(&settings.limits))?;
    Ok(planned(&state.app, corpus, question, material.detector(state)?, Mode::ByType))
}
