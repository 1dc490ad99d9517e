//! `rlm_repl`: code sessions over text, with the calling agent in place of the root model. A session is a run: its
//! cells, and the model calls they make, are in its journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::json;
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::asking::keep;
use spelunk_app::blocking::blocking;
use spelunk_app::error_text::{Paint, error_json, error_text};
use spelunk_app::provider::Nobody;
use spelunk_engine::{ConsoleCell, RunRequest, console};
use spelunk_types::Strategy;
use tokio::sync::{mpsc, oneshot};

use super::models::models;
use super::{
    CallContext, CallResult, CallStart, Ended, Failure, Live, Material, ModelChoice, Models, State,
    ToolAnswer, Usage, Work, consent, lock,
};

const CODE_CHARS_MAX: usize = 200_000;
const SESSION_CHARS_MAX: usize = 100;
const SESSIONS_MAX: usize = 8;
/// In effect no limit on the cells of an agent.
const CELLS_MAX: u64 = 1_000_000;

#[derive(Default)]
pub(super) struct Consoles {
    /// By the short id of the run.
    open: Mutex<HashMap<String, Arc<Console>>>,
}

pub(super) struct Console {
    pub(super) live: Arc<Live>,
    cells: mpsc::UnboundedSender<ConsoleCell>,
    description: String,
}

impl Consoles {
    pub(super) fn close_all(&self) {
        lock(&self.open).clear();
    }

    fn find(&self, session: &str) -> Result<Arc<Console>, Usage> {
        let mut open = lock(&self.open);
        open.retain(|_, console| !console.cells.is_closed());
        open.get(session).cloned().ok_or_else(|| Usage {
            message: format!("there is no open session `{}`", super::cut(session, 60).0),
            hint: "leave out `session` and name `paths` or `contexts` to open one".into(),
        })
    }

    fn require_room(&self) -> Result<(), Usage> {
        let mut open = lock(&self.open);
        open.retain(|_, console| !console.cells.is_closed());
        if open.len() < SESSIONS_MAX {
            return Ok(());
        }
        let mut names: Vec<&str> = open.keys().map(String::as_str).collect();
        names.sort_unstable();
        let hint = format!("end one of {} with `end`", names.join(", "));
        Err(Usage::new(format!("{SESSIONS_MAX} sessions are already open"), hint))
    }
}

impl Console {
    fn name(&self) -> &str {
        self.live.run.short()
    }

    pub(super) fn said(&self, text: &str) -> ToolAnswer {
        let has_ended = self.cells.is_closed();
        let shown = if text.is_empty() { "[no output]" } else { text };
        let stands = if has_ended { " has ended" } else { "" };
        let shown = format!("{shown}\n[session {}{stands}]", self.name());
        ToolAnswer::new(shown, json!({ "session": self.name(), "output": text, "ended": has_ended }))
    }

    pub(super) fn ended(&self, ended: &Ended) -> ToolAnswer {
        let answer = ended.result.answer.as_ref().map(|answer| answer.text.clone());
        let error = ended.result.error.as_ref();
        let data = json!({
            "session": self.name(),
            "output": answer,
            "ended": true,
            "error": error.map(|error| error_json(error)),
        });
        match error {
            Some(error) => ToolAnswer::failed(error_text(error, Paint::Plain), data),
            None => {
                let text = format!("{}\n[session {} has ended]", answer.unwrap_or_default(), self.name());
                ToolAnswer::new(text, data)
            }
        }
    }
}

/// `rlm_repl`: runs a cell, in a new or an open session.
pub(super) async fn repl(state: &Arc<State>, context: &CallContext, mut arguments: Arguments) -> CallResult {
    let code = arguments.text("code", CODE_CHARS_MAX)?;
    let session = arguments.text("session", SESSION_CHARS_MAX)?;
    let material = Material::of(&mut arguments)?;
    let model = ModelChoice::of(&mut arguments)?;
    let end = arguments.flag("end")?;
    arguments.finish()?;
    if session.is_some() && material.is_named() {
        return Err(wrong("session", "has already been opened: leave out paths and contexts").into());
    }
    let console = match session {
        Some(session) => state.consoles.find(&session)?,
        None if end => return Err(wrong("session", "is required to end a session").into()),
        None => open(state, context, material, model).await?,
    };
    if end {
        lock(&state.consoles.open).remove(console.name());
        let text = format!("session {} has ended", console.name());
        let data = json!({ "session": console.name(), "output": "", "ended": true });
        return Ok(CallStart::Answered(ToolAnswer::new(text, data)));
    }
    let Some(code) = code.filter(|code| !code.trim().is_empty()) else {
        return Ok(CallStart::Answered(console.said(&console.description)));
    };
    let (said, hear) = oneshot::channel();
    // If the session has just ended, the wait reports its end.
    drop(console.cells.send(ConsoleCell { code, said }));
    Ok(CallStart::Waits(Work::Cell { console, said: hear }, None))
}

async fn open(
    state: &Arc<State>,
    context: &CallContext,
    material: Material,
    choice: ModelChoice,
) -> Result<Arc<Console>, Failure> {
    state.consoles.require_room()?;
    let models = models(state, context, choice).await?;
    let mut models = models.unwrap_or_else(|| Models::of(Arc::new(Nobody::default())));
    let tools = consent::tools(state, context, &mut models.host.questions);
    let options = material.scan_options(&state.app.settings.limits);
    let reading = Arc::clone(state);
    let (inputs, corpus, options) = blocking(move || {
        let (inputs, corpus) = material.scan(&reading, &options)?;
        Ok((inputs, corpus, options))
    })
    .await?;
    let engine = state.app.engine(options)?.with_sandbox(state.sandbox.clone()).with_tools(tools);
    let sources = keep(&engine, inputs)?;
    let mut limits = state.app.settings.limits.clone();
    limits.cells_max = CELLS_MAX;
    let settings = models.settings(state, limits);
    let (cells, typed) = mpsc::unbounded_channel();
    let (ready, described) = oneshot::channel();
    let roles = models.roles;
    let request = roles.start("an agent's session", corpus, sources, Strategy::Program, settings);
    let handle = engine.start(RunRequest { program: Some(console(typed, ready)), ..request })?;
    let live = state.runs.keep(handle, state.app.live_runs.uncounted(), models.host, None);
    // If the session could not start, waiting for its first cell reports the reason.
    let description = described.await.unwrap_or_default();
    let console = Arc::new(Console { live, cells, description });
    lock(&state.consoles.open).insert(console.name().to_owned(), Arc::clone(&console));
    Ok(console)
}
