//! The task tools: a run whose analysts are the host's agents. `rlm_tasks` splits the text and
//! starts the run; agents claim its tasks one by one and submit their findings. An unusable report
//! is returned with the reason; the synthesis follows when all parts are done.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::units::count;
use spelunk_engine::{Clock as _, SystemClock};
use spelunk_model::{Prompt, Speaker};
use spelunk_types::{CallId, FrameId, FrameOutcome};
use tokio::time::{Instant, timeout_at};

use super::agent_tasks::TaskSummary;
use super::{AgentTasks, Failure, Live, State, ToolAnswer, Usage, query};

const ID_CHARS_MAX: usize = 200;
const REPLY_CHARS_MAX: usize = 1_000_000;
const LEASE_MS: u64 = 600_000;
const LEASE_MS_MAX: u64 = 86_400_000;
const LIST_MAX: usize = 100;
/// How long to wait for the engine's verdict on a reply.
const VERDICT: Duration = Duration::from_secs(10);
/// How long to wait for the first tasks of a plan.
const FIRST_TASKS: Duration = Duration::from_secs(10);

/// `rlm_tasks`: starts a run that waits for agents.
pub(super) async fn start(state: &Arc<State>, arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let (live, agent_tasks) = query::begin_tasks(state, arguments).await?;
    first_tasks(&live, &agent_tasks, state.app.settings.limits.calls_parallel_max).await;
    Ok(listed(&live)?)
}

/// Waits until the plan is known and as many of its tasks are available as can run in parallel.
async fn first_tasks(live: &Live, agent_tasks: &AgentTasks, n_at_once: u64) {
    let deadline = Instant::now() + FIRST_TASKS;
    let (mut changes, mut progress) = (agent_tasks.changes(), live.progress.clone());
    let is_planned = || {
        let plan = live.fold().view.tasks.clone().unwrap_or_default();
        let n_open = agent_tasks.list(0).len() as u64;
        // If all findings are reused from earlier runs, the first task is a synthesis.
        if plan.planned == 0 {
            plan.recalled > 0 && n_open > 0
        } else {
            n_open >= plan.planned.min(n_at_once)
        }
    };
    while !is_planned() {
        let waited = timeout_at(deadline, async {
            tokio::select! {
                _ = changes.changed() => true,
                _ = progress.changed() => true,
                _ = live.end() => false,
            }
        });
        if waited.await != Ok(true) {
            return;
        }
    }
}

pub(super) fn list(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let name = arguments.text("run", ID_CHARS_MAX)?;
    arguments.finish()?;
    let (live, _) = find(state, name.as_deref())?;
    Ok(listed(&live)?)
}

fn listed(live: &Live) -> Result<ToolAnswer, Usage> {
    let agent_tasks = live.host.agent_tasks.as_ref().ok_or_else(no_agent_tasks)?;
    let tasks = agent_tasks.list(SystemClock.now_ms());
    let (plan, has_ended) = {
        let fold = live.fold();
        (fold.view.tasks.clone().unwrap_or_default(), fold.view.outcome.is_some())
    };
    let n_ended = plan.done + plan.failed;
    let is_blocked = n_ended < plan.planned;
    let mut text = format!("run {}: {n_ended} of {} done", live.run.short(), count(plan.planned, "task"));
    if is_blocked {
        text += "; the synthesis is waiting for the rest";
    }
    text.push('\n');
    for task in tasks.iter().take(LIST_MAX) {
        let holder = task.leased_to.as_ref().map_or("open", |(agent, _)| agent.as_str());
        let files = task.files.join(", ");
        let files = if files.is_empty() { files } else { format!("  [{files}]") };
        text += &format!("{}  {holder}  {}  {}{files}\n", id(live, &task.call), task.analyst, task.about);
    }
    if tasks.is_empty() && has_ended {
        text += "the run has ended: rlm_run, action result, returns its report\n";
    }
    let data = json!({
        "run": live.run,
        "planned": plan.planned,
        "done": plan.done,
        "failed": plan.failed,
        "findings": plan.findings,
        "synthesis_blocked": is_blocked,
        "open": tasks.len(),
        "tasks": tasks.iter().take(LIST_MAX).map(|task| shown(live, task)).collect::<Vec<_>>(),
    });
    Ok(ToolAnswer::new(text, data))
}

fn shown(live: &Live, task: &TaskSummary) -> Value {
    json!({
        "task": id(live, &task.call),
        "role": task.role,
        "analyst": task.analyst,
        "files": task.files,
        "about": task.about,
        "agent": task.leased_to.as_ref().map(|(agent, _)| agent),
        "lease_until_ms": task.leased_to.as_ref().map(|(_, until_ms)| until_ms),
    })
}

/// `13fcbfa5/0.3#0`: the run, and the call in it.
fn id(live: &Live, call: &CallId) -> String {
    format!("{}/{call}", live.run.short())
}

/// The named run, or the only one that has tasks.
fn find(state: &State, name: Option<&str>) -> Result<(Arc<Live>, Arc<AgentTasks>), Failure> {
    let mut waiting = state.runs.all();
    waiting.retain(|live| live.host.agent_tasks.is_some());
    if let Some(name) = name {
        waiting.retain(|live| live.run.short() == name || live.run.as_str() == name);
    }
    let [live] = <[Arc<Live>; 1]>::try_from(waiting).map_err(|found| {
        let names: Vec<&str> = found.iter().map(|live| live.run.short()).collect();
        let (message, hint) = if names.is_empty() {
            ("no run is waiting for agents", "start one with `rlm_tasks`".to_owned())
        } else {
            ("several runs are waiting for agents", format!("choose one of {}", names.join(", ")))
        };
        Usage::new(message, hint)
    })?;
    let agent_tasks = live.host.agent_tasks.clone().ok_or_else(no_agent_tasks)?;
    Ok((live, agent_tasks))
}

fn no_agent_tasks() -> Usage {
    Usage::new("the run is not waiting for agents", "start one with `rlm_tasks`")
}

fn find_task(state: &State, name: &str) -> Result<(Arc<Live>, Arc<AgentTasks>, CallId), Failure> {
    let bad = || wrong("task", "is not a task id, such as `13fcbfa5/0.3#0`");
    let (run, call) = name.split_once('/').ok_or_else(bad)?;
    let call: CallId = call.parse().map_err(|_| bad())?;
    let (live, agent_tasks) = find(state, Some(run))?;
    Ok((live, agent_tasks, call))
}

pub(super) fn claim(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let agent = arguments.needed("agent", ID_CHARS_MAX)?;
    let task = arguments.text("task", ID_CHARS_MAX)?;
    let run = arguments.text("run", ID_CHARS_MAX)?;
    let analyst = arguments.text("analyst", ID_CHARS_MAX)?;
    let lease_ms = arguments.whole("lease_ms", LEASE_MS_MAX)?.unwrap_or(LEASE_MS).max(1);
    arguments.finish()?;
    let (live, agent_tasks, call) = match task {
        Some(task) => {
            let (live, agent_tasks, call) = find_task(state, &task)?;
            (live, agent_tasks, Some(call))
        }
        None => {
            let (live, agent_tasks) = find(state, run.as_deref())?;
            (live, agent_tasks, None)
        }
    };
    let (analyst, now_ms) = (analyst.as_deref(), SystemClock.now_ms());
    let claimed = agent_tasks.claim(call.as_ref(), analyst, &agent, now_ms, lease_ms)?;
    let prompt = agent_tasks.prompt(&claimed.call)?;
    Ok(told(state, &live, &claimed, &prompt, 0))
}

pub(super) fn get(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let task = arguments.needed("task", ID_CHARS_MAX)?;
    let offset = arguments.whole("offset", u64::MAX)?.unwrap_or(0);
    arguments.finish()?;
    let (live, agent_tasks, call) = find_task(state, &task)?;
    let prompt = agent_tasks.prompt(&call)?;
    let listed = agent_tasks.list(SystemClock.now_ms()).into_iter().find(|one| one.call == call);
    let one = listed.ok_or_else(|| wrong("task", "has just ended"))?;
    Ok(told(state, &live, &one, &prompt, offset))
}

/// The task for the agent. A text longer than one response continues at `next_offset`.
fn told(state: &State, live: &Live, task: &TaskSummary, prompt: &Prompt, offset: u64) -> ToolAnswer {
    let body = body(prompt);
    let n_chars = body.chars().count();
    // Leaves room for the instructions and the surrounding fields.
    let room = state.output_chars_max.saturating_sub(prompt.system.chars().count() + 1000).max(500);
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let part: String = body.chars().skip(skip).take(room).collect();
    let next = skip.saturating_add(part.chars().count());
    let next_offset = (next < n_chars && !part.is_empty()).then_some(next);
    let mut text = format!("task {}\n\n{}\n{part}", id(live, &task.call), prompt.system);
    if let Some(next) = next_offset {
        text += &format!("\n[the text continues: task_get with offset {next}]");
    }
    let mut data = shown(live, task);
    data["instruction"] = json!(prompt.system);
    data["text"] = json!(part);
    data["text_chars"] = json!(n_chars);
    data["next_offset"] = json!(next_offset);
    ToolAnswer::new(text, data)
}

fn body(prompt: &Prompt) -> String {
    let say = |message: &spelunk_model::Message| match message.speaker {
        Speaker::User => message.text.clone(),
        Speaker::Assistant => format!("--- the previous report ---\n{}\n--- end ---", message.text),
    };
    prompt.messages.iter().map(say).collect::<Vec<_>>().join("\n\n")
}

pub(super) async fn submit(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let task = arguments.needed("task", ID_CHARS_MAX)?;
    let agent = arguments.needed("agent", ID_CHARS_MAX)?;
    let reply = match arguments.value("report") {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => return Err(wrong("report", "is missing").into()),
    };
    arguments.finish()?;
    if reply.len() > REPLY_CHARS_MAX {
        return Err(wrong("report", &format!("is longer than {REPLY_CHARS_MAX} bytes")).into());
    }
    let (live, agent_tasks, call) = find_task(state, &task)?;
    let (mut changes, mut progress) = (agent_tasks.changes(), live.progress.clone());
    agent_tasks.submit(&call, &agent, reply, SystemClock.now_ms())?;
    let deadline = Instant::now() + VERDICT;
    loop {
        if let Some((again, prompt)) = agent_tasks.again(&call.frame) {
            let claimed = agent_tasks.claim(Some(&again), None, &agent, SystemClock.now_ms(), LEASE_MS)?;
            let faults = prompt.messages.last().map(|message| message.text.clone()).unwrap_or_default();
            let text =
                format!("the report cannot be used; work on task {} instead:\n{faults}", id(&live, &again));
            let mut data = shown(&live, &claimed);
            (data["accepted"], data["faults"]) = (json!(false), json!(faults));
            return Ok(ToolAnswer::new(text, data));
        }
        if let Some((is_accepted, notice)) = verdict(&live, &call.frame) {
            let data = json!({ "task": task, "accepted": is_accepted, "notice": notice });
            return Ok(ToolAnswer::new(notice, data));
        }
        let waited = timeout_at(deadline, async {
            tokio::select! {
                _ = changes.changed() => {}
                _ = progress.changed() => {}
                _ = live.end() => {}
            }
        });
        if waited.await.is_err() {
            let notice = "accepted; the run has not evaluated it yet".to_owned();
            return Ok(ToolAnswer::new(
                notice.clone(),
                json!({ "task": task, "accepted": true, "notice": notice }),
            ));
        }
    }
}

/// Whether the report was accepted, and a line about it; `None` while the frame is in progress.
fn verdict(live: &Live, frame: &FrameId) -> Option<(bool, String)> {
    let fold = live.fold();
    match fold.view.frames.get(frame).and_then(|frame| frame.outcome.as_ref()) {
        Some(FrameOutcome::Answered { .. }) => {
            Some((true, fold.notices.get(frame).cloned().unwrap_or_else(|| "accepted".to_owned())))
        }
        Some(FrameOutcome::Failed { message, .. }) => Some((false, format!("the task failed: {message}"))),
        None if fold.view.outcome.is_some() => Some((true, "accepted, and the run has ended".to_owned())),
        None => None,
    }
}
