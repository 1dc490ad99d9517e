//! The task board: the calls of a run as tasks for the host's agents, which replace the model. The engine decides the
//! content of a task, whether a report is usable and when the next task may start; the board only hands out tasks and
//! collects replies. A task is leased: an agent that does not return in time loses it to the next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::{StreamExt as _, stream};
use spelunk_app::provider::OF_CLIENT;
use spelunk_app::units::head;
use spelunk_model::{Model, ModelDelta, ModelError, ModelFacts, ModelStream, Prompt, Speaker};
use spelunk_types::{CallId, FrameId, ModelRef, StopReason};
use tokio::sync::{oneshot, watch};

use super::{Usage, lock};

/// The model name of a run whose calls are agent tasks.
pub(super) const MODEL: &str = "agents";
/// Agents may return the next day.
pub(super) const CALL_MS_MAX: u64 = 86_400_000;
const ABOUT_CHARS_MAX: usize = 160;
const FILES_MAX: usize = 50;
/// The kinds of tasks and how their instructions begin. The last is for all others.
const ANALYSTS: [(&str, &str); 5] = [
    ("code", "You are a code analyst"),
    ("data", "You are a data analyst"),
    ("json", "You are a JSON analyst"),
    ("general", "You are an analyst"),
    ("synthesis", ""),
];

#[derive(Default)]
pub(super) struct AgentTasks {
    tasks: Mutex<BTreeMap<CallId, Task>>,
    /// Counts changes, so that callers can wait for the next.
    changed: watch::Sender<u64>,
}

struct Task {
    prompt: Prompt,
    reply: oneshot::Sender<String>,
    lease: Option<Lease>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Lease {
    agent: String,
    until_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskSummary {
    pub(super) call: CallId,
    pub(super) role: String,
    /// The kind of task: `code`.
    pub(super) analyst: &'static str,
    pub(super) files: Vec<String>,
    /// Its subject, as one line.
    pub(super) about: String,
    /// The agent that has it, and until when (Unix time in ms).
    pub(super) leased_to: Option<(String, u64)>,
}

impl AgentTasks {
    pub(super) fn analysts() -> [&'static str; 5] {
        ANALYSTS.map(|(name, _)| name)
    }

    async fn ask(&self, call: CallId, prompt: Prompt) -> Result<String, ModelError> {
        let (reply, answered) = oneshot::channel();
        self.tasks().insert(call, Task { prompt, reply, lease: None });
        self.changed.send_modify(|n| *n += 1);
        answered.await.map_err(|_| ModelError::StreamCut)
    }

    pub(super) fn list(&self, now_ms: u64) -> Vec<TaskSummary> {
        self.tasks().iter().map(|(call, task)| task.shown(call, now_ms)).collect()
    }

    /// Leases a task to an agent: the named one, or else the first free one of this kind. Claiming
    /// a task again extends its lease.
    pub(super) fn claim(
        &self,
        call: Option<&CallId>,
        analyst: Option<&str>,
        agent: &str,
        now_ms: u64,
        lease_ms: u64,
    ) -> Result<TaskSummary, Usage> {
        if let Some(kind) = analyst.filter(|kind| !Self::analysts().contains(kind)) {
            let message = format!("there is no analyst `{}`", head(kind, 60));
            return Err(Usage::new(message, format!("the analysts are {}", Self::analysts().join(", "))));
        }
        let mut tasks = self.tasks();
        let call = match call {
            Some(call) => call.clone(),
            None => {
                let is_meant = |task: &Task| analyst.is_none_or(|kind| kind == analyst_of(&task.prompt));
                let first = tasks.iter().find(|(_, task)| task.holder(now_ms).is_none() && is_meant(task));
                first.map(|(call, _)| call.clone()).ok_or_else(|| {
                    Usage::new("no task is available", "wait for the other agents, or see `task_list`")
                })?
            }
        };
        let task = tasks.get_mut(&call).ok_or_else(|| unknown(&call))?;
        if let Some(holder) = task.holder(now_ms).filter(|holder| *holder != agent) {
            let message = format!("the task `{call}` is leased to `{}`", head(holder, 60));
            return Err(Usage::new(message, "claim another task"));
        }
        task.lease = Some(Lease { agent: agent.to_owned(), until_ms: now_ms.saturating_add(lease_ms) });
        Ok(task.shown(&call, now_ms))
    }

    /// The full text of a task, instructions first.
    pub(super) fn prompt(&self, call: &CallId) -> Result<Prompt, Usage> {
        self.tasks().get(call).map(|task| task.prompt.clone()).ok_or_else(|| unknown(call))
    }

    /// Accepts an agent's reply. An agent that lost its lease to another is rejected.
    pub(super) fn submit(&self, call: &CallId, agent: &str, reply: String, now_ms: u64) -> Result<(), Usage> {
        let mut tasks = self.tasks();
        let task = tasks.get(call).ok_or_else(|| unknown(call))?;
        match task.holder(now_ms) {
            Some(holder) if holder != agent => {
                let message = format!("the task `{call}` is leased to `{}`", head(holder, 60));
                return Err(Usage::new(message, "your lease has expired; claim another task"));
            }
            None if task.lease.is_none() => {
                let message = format!("the task `{call}` was not claimed");
                return Err(Usage::new(message, "claim it with `task_claim` first"));
            }
            Some(_) | None => {}
        }
        if let Some(task) = tasks.remove(call) {
            // The run may have just ended.
            drop(task.reply.send(reply));
        }
        Ok(())
    }

    /// A task of this frame that requests another reply; its last message says what was wrong with the previous one.
    pub(super) fn again(&self, frame: &FrameId) -> Option<(CallId, Prompt)> {
        let tasks = self.tasks();
        let is_repair = |call: &CallId, task: &Task| call.frame == *frame && task.prompt.messages.len() > 1;
        let (call, task) = tasks.iter().find(|(call, task)| is_repair(call, task))?;
        Some((call.clone(), task.prompt.clone()))
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<CallId, Task>> {
        let mut tasks = lock(&self.tasks);
        tasks.retain(|_, task| !task.reply.is_closed());
        tasks
    }
}

impl Task {
    fn holder(&self, now_ms: u64) -> Option<&str> {
        self.lease.as_ref().filter(|lease| lease.until_ms > now_ms).map(|lease| lease.agent.as_str())
    }

    fn shown(&self, call: &CallId, now_ms: u64) -> TaskSummary {
        let lease = self.lease.as_ref().filter(|lease| lease.until_ms > now_ms);
        let role = self.prompt.system.split(['.', '\n']).next().unwrap_or_default();
        TaskSummary {
            call: call.clone(),
            role: head(role, ABOUT_CHARS_MAX),
            analyst: analyst_of(&self.prompt),
            files: files_of(&self.prompt),
            about: about(&self.prompt),
            leased_to: lease.map(|lease| (lease.agent.clone(), lease.until_ms)),
        }
    }
}

fn analyst_of(prompt: &Prompt) -> &'static str {
    let (name, _) =
        ANALYSTS.iter().find(|(_, start)| prompt.system.starts_with(start)).unwrap_or(&("synthesis", ""));
    name
}

/// The documents of a task. The lines of a document are numbered, so that they cannot pose as another's header.
fn files_of(prompt: &Prompt) -> Vec<String> {
    let first = prompt.messages.iter().find(|message| message.speaker == Speaker::User);
    let name = |line: &str| Some(line.strip_prefix("<document name=\"")?.strip_suffix("\">")?.to_owned());
    first.into_iter().flat_map(|message| message.text.lines().filter_map(name)).take(FILES_MAX).collect()
}

fn about(prompt: &Prompt) -> String {
    let first = prompt.messages.iter().find(|message| message.speaker == Speaker::User);
    let text = first.map(|message| message.text.as_str()).unwrap_or_default();
    let text = text.rsplit_once("</document>\n").map_or(text, |(_, rest)| rest);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let again = if prompt.messages.len() > 1 { "once more: " } else { "" };
    format!("{again}{}", head(line, ABOUT_CHARS_MAX))
}

fn unknown(call: &CallId) -> Usage {
    Usage::new(format!("there is no open task `{call}`"), "list the open tasks with `task_list`")
}

pub(super) struct AgentModel {
    reference: ModelRef,
    tasks: Arc<AgentTasks>,
}

impl AgentModel {
    pub(super) fn new(tasks: Arc<AgentTasks>) -> Self {
        let reference = ModelRef { provider: OF_CLIENT.into(), name: MODEL.into(), base_url: String::new() };
        Self { reference, tasks }
    }
}

impl Model for AgentModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::default()
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let (tasks, prompt, call) = (Arc::clone(&self.tasks), prompt.clone(), call.clone());
        let asking = async move { tasks.ask(call, prompt).await };
        let deltas = |reply: Result<String, ModelError>| match reply {
            Ok(text) => {
                let done = ModelDelta::Done { stop: StopReason::Finished, usage: None };
                vec![Ok(ModelDelta::Text(text)), Ok(done)]
            }
            Err(error) => vec![Err(error)],
        };
        Box::pin(stream::once(asking).flat_map(move |reply| stream::iter(deltas(reply))))
    }
}

#[cfg(test)]
mod tests;
