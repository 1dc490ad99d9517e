//! A session: the interpreter of a frame, its cells, and how they are recorded. A cell that breaks the interpreter or
//! hits a limit leaves the variables unchanged: the cells before it are run again in a new interpreter, with the same
//! replies. The code is a cell of `repl`, or a script of an agent, which can also access the files of its desk.

mod agent_state;
mod answer;
pub(crate) mod conclude;
pub(crate) mod overflow;
pub(crate) mod repeats;
mod serve;

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;
use spelunk_sandbox::{
    CellEnd, FinalText, HostFunction, HostReply, Interpreter, InterpreterError, Raised, Setup, Step,
};
use spelunk_types::CellOutcome;

pub(crate) use self::agent_state::{AgentState, Counts, changes, file, path};
use self::answer::AnswerCheck;
pub(crate) use self::answer::{GivenAnswer, read_typed, settle};
use crate::environment::{Environment, FrameRetrieval, OpenEnvironment};
use crate::frame::REPLAY_TIME_FACTOR;
use crate::journal::replay::CellRecord;
use crate::plain_answer::CodeAlone;
use crate::sync::blocking;
use crate::tools::ExternalTools;
use crate::{Frame, FrameError, Result, Stop, Task};

pub(crate) struct Session<'a> {
    pub(crate) frame: &'a Frame,
    task: &'a Task,
    environment: Environment,
    setup: Setup,
    interpreter: Option<Box<dyn Interpreter>>,
    /// The interpreter, which starts while the model writes its first cell.
    opening: Option<Opening>,
    /// Cells whose effects are in the variables.
    done: Vec<DoneCell>,
    n_cells: u64,
    check: AnswerCheck,
    n_calls: u64,
    /// Replies of the current cell that cannot be requested again for free.
    effects: Vec<HostReply>,
    given: Option<GivenAnswer>,
    /// The state of the agent, if the code is a script.
    pub(crate) agent: Option<AgentState>,
}

#[derive(Debug, Clone, Copy)]
enum CellTime {
    Limited,
    /// It finished within its limits before, so a slower machine must not stop it now.
    Replay,
}

type Opening = tokio::task::JoinHandle<Result<Box<dyn Interpreter>, InterpreterError>>;

struct DoneCell {
    code: String,
    effects: Vec<HostReply>,
}

pub(crate) enum Ran {
    Printed(String),
    Broke(String),
    Answered(GivenAnswer),
}

impl<'a> Session<'a> {
    /// Opens the session of a frame, or of an agent's scripts with this prelude, whose files are those of its desk. Also
    /// returns the description of `context` for the model.
    pub(crate) async fn open(
        frame: &'a Frame,
        task: &'a Task,
        scripts: Option<&str>,
    ) -> Result<(Self, String)> {
        let mut functions = serve::functions();
        if scripts.is_some() {
            functions.extend(serve::desk::functions());
        }
        functions.extend(frame.tools().iter().map(|tool| HostFunction {
            name: tool.name.clone(),
            doc: tool.doc(),
            is_awaitable: true,
        }));
        let (here, limits, retrieval) = (task.clone(), frame.limits().clone(), FrameRetrieval::new(frame));
        // Reading a large view is CPU-bound.
        let opened = blocking(move || Environment::open(&here, &limits, Some(retrieval))).await?;
        let OpenEnvironment { environment, mut variables, mut description, preview } = opened;
        let images = frame.listed_images(&task.view).await?;
        if !images.is_empty() {
            let (images, told) = serve::images::listed(&images);
            variables.push(images);
            description += &told;
        }
        let mut setup = environment.setup(variables, functions, frame.run().started_at_ms);
        setup.prelude += &ExternalTools::batches(frame.tools());
        setup.prelude += scripts.unwrap_or_default();
        let mut session = Self {
            frame,
            task,
            environment,
            setup,
            interpreter: None,
            opening: None,
            done: Vec::new(),
            n_cells: 0,
            check: AnswerCheck::new(task.schema.clone(), CodeAlone::for_question(&task.question), preview),
            n_calls: 0,
            effects: Vec::new(),
            given: None,
            agent: None,
        };
        session.opening = Some(session.start());
        if frame.run().sandbox.may_refuse() {
            session.ready().await?;
        }
        Ok((session, description))
    }

    async fn ready(&mut self) -> Result<()> {
        let Some(opening) = self.opening.take() else { return Ok(()) };
        let opened = opening.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        self.interpreter = Some(opened.map_err(|error| broken(self.frame, error))?);
        Ok(())
    }

    pub(crate) fn may_run(&self) -> bool {
        self.n_cells < self.frame.limits().cells_max
    }

    pub(crate) async fn run(&mut self, code: &str) -> Result<Ran> {
        self.n_cells += 1;
        self.check.saw_code(code, self.frame.tools());
        self.ready().await?;
        if let Some(recorded) = self.frame.limited_cell() {
            let shown = limited(&recorded.output, &recorded.outcome, recorded.taken.effects > 0);
            self.frame.record_cell(CellRecord { code: code.to_owned(), ..recorded }).await?;
            return Ok(shown);
        }
        (self.n_calls, self.given) = (0, None);
        self.effects.clear();
        let (saved, check) = (self.agent.as_ref().map(AgentState::saved), self.check.clone());
        let (before, began) = (self.frame.ordinals(), Instant::now());
        let time = if self.frame.is_replaying() { CellTime::Replay } else { CellTime::Limited };
        let end = self.drive(code, time).await?;
        let taken = self.frame.ordinals().since(before);
        let (output, outcome, mut ran) = self.came_to(code, end).await?;
        if let CellOutcome::Limited { .. } = &outcome {
            ran = limited(&output, &outcome, taken.effects > 0);
            // A stopped cell is not run again on replay, so its effects are undone.
            self.check = check;
            if let (Some(agent), Some(saved)) = (&mut self.agent, saved) {
                agent.restore(saved);
            }
        }
        let record = CellRecord {
            code: code.to_owned(),
            outcome,
            output,
            taken,
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.frame.record_cell(record).await?;
        Ok(ran)
    }

    async fn came_to(
        &mut self,
        code: &str,
        end: Result<CellEnd, InterpreterError>,
    ) -> Result<(String, CellOutcome, Ran)> {
        Ok(match end {
            Ok(CellEnd::Done { output }) => {
                let output = output.render();
                self.keep(code);
                let ran = self.answer_in_variable(&output).await?;
                let is_answer = matches!(ran, Ran::Answered(_));
                (output, if is_answer { CellOutcome::Answered } else { CellOutcome::Printed }, ran)
            }
            Ok(CellEnd::Finished { output }) => {
                let given = self.given.take().expect("only an answer finishes a cell");
                (output.render(), CellOutcome::Answered, Ran::Answered(given))
            }
            Ok(CellEnd::Raised { output, raised }) if !raised.is_poisoned => {
                self.keep(code);
                let output = output.render();
                let mut traceback = cut(&raised.traceback, self.frame.limits().stderr_chars_max);
                if raised.kind == "FileNotFoundError" && self.agent.is_none() {
                    let path = raised.message.rsplit('\'').nth(1).unwrap_or_default();
                    traceback =
                        format!("{}\nhint: {}", traceback.trim_end(), self.environment.place_of_file(path));
                }
                let ran = Ran::Broke(format!("{}\n{traceback}", shown(&output)));
                (output, CellOutcome::Raised { kind: raised.kind, traceback }, ran)
            }
            Ok(CellEnd::Raised { output, raised: Raised { kind, message, .. } }) => {
                let message = self.limit_message(&kind, message);
                let outcome = CellOutcome::Limited { kind, message };
                self.rebuild().await?;
                (output.render(), outcome, Ran::Broke(String::new()))
            }
            Err(error) => {
                let outcome =
                    CellOutcome::Limited { kind: "SandboxError".into(), message: error.to_string() };
                self.rebuild().await?;
                (String::new(), outcome, Ran::Broke(String::new()))
            }
        })
    }

    /// A deterministic message about the limit that stopped a cell.
    fn limit_message(&self, kind: &str, message: String) -> String {
        let limits = self.frame.limits();
        match kind {
            "TimeoutError" => {
                format!("the block exceeded {} ms of CPU time (`limits.cell_ms_max`)", limits.cell_ms_max)
            }
            "MemoryError" => {
                let mb = limits.cell_memory_bytes_max / 1_000_000;
                format!("the session exceeded {mb} MB of memory (`limits.cell_memory_bytes_max`)")
            }
            _ => message,
        }
    }

    pub(crate) async fn answer_in_text(&mut self, text: &FinalText) -> Result<Ran> {
        let value = match text {
            FinalText::Value(text) => spelunk_sandbox::Value::from(text.as_str()),
            FinalText::Variable(name) => match self.variable(name).await? {
                Some(value) => value,
                None => return Ok(Ran::Broke(format!("NameError: there is no variable `{name}`."))),
            },
        };
        Ok(match self.check.admit(value, None) {
            Ok(given) => Ran::Answered(given),
            Err(refusal) => Ran::Broke(format!("The answer was not accepted: {}", refusal.message)),
        })
    }

    /// `answer["ready"]`, the protocol of the reference engine.
    async fn answer_in_variable(&mut self, output: &str) -> Result<Ran> {
        let printed = Ran::Printed(shown(output));
        if self.agent.is_some() {
            // A script of an agent answers in a file.
            return Ok(printed);
        }
        let Some(spelunk_sandbox::Value::Dict(fields)) = self.variable("answer").await? else {
            return Ok(printed);
        };
        let field = |name: &str| {
            fields.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value.clone())
        };
        if field("ready") != Some(spelunk_sandbox::Value::Bool(true)) {
            return Ok(printed);
        }
        Ok(match self.check.admit(field("content").unwrap_or(spelunk_sandbox::Value::None), field("cite")) {
            Ok(given) => Ran::Answered(given),
            Err(refusal) => {
                Ran::Broke(format!("{}\nThe answer was not accepted: {}", shown(output), refusal.message))
            }
        })
    }

    async fn variable(&mut self, name: &str) -> Result<Option<spelunk_sandbox::Value>> {
        self.ready().await?;
        let name = name.to_owned();
        let looked = self.with(move |interpreter| interpreter.variable(&name)).await;
        looked.map_err(|error| broken(self.frame, error))
    }

    fn keep(&mut self, code: &str) {
        let effects = std::mem::take(&mut self.effects);
        self.done.push(DoneCell { code: code.to_owned(), effects });
    }

    /// Runs a cell and serves its calls until it ends. The inner error is a broken interpreter.
    async fn drive(&mut self, code: &str, time: CellTime) -> Result<Result<CellEnd, InterpreterError>> {
        let mut stepped = self.feed(code, time).await;
        loop {
            let calls = match stepped {
                Ok(Step::Finished(end)) => return Ok(Ok(end)),
                Ok(Step::Calls(calls)) => calls,
                Err(error) => return Ok(Err(error)),
            };
            // Calls begin in program order, then are awaited together.
            let begun: Vec<_> = calls.into_iter().map(|call| serve::begin(self, call)).collect();
            let effectful: Vec<bool> = begun.iter().map(|begun| begun.is_effect).collect();
            let replies = join_all(begun.into_iter().map(|begun| begun.reply)).await;
            let replies = replies.into_iter().collect::<Result<Vec<_>>>()?;
            let kept = replies.iter().zip(effectful).filter(|(_, is_effect)| *is_effect);
            self.effects.extend(kept.map(|(reply, _)| reply.clone()));
            stepped = self.with(move |interpreter| interpreter.resume(replies)).await;
        }
    }

    async fn feed(&mut self, code: &str, time: CellTime) -> Result<Step, InterpreterError> {
        let cell_ms_max = self.setup.limits.cell_ms_max;
        let cell_ms_max = match time {
            CellTime::Limited => cell_ms_max,
            CellTime::Replay => cell_ms_max.saturating_mul(REPLAY_TIME_FACTOR),
        };
        let code = code.to_owned();
        self.with(move |interpreter| {
            interpreter.set_cell_ms_max(cell_ms_max);
            interpreter.feed(&code)
        })
        .await
    }

    fn start(&self) -> Opening {
        let (sandbox, setup) = (self.frame.run().sandbox.clone(), self.setup.clone());
        tokio::task::spawn_blocking(move || sandbox.open(&setup))
    }

    /// Restores the variables from before the failed cell.
    async fn rebuild(&mut self) -> Result<()> {
        self.effects.clear();
        self.opening = Some(self.start());
        self.ready().await?;
        for DoneCell { code, effects } in std::mem::take(&mut self.done) {
            self.replay(&code, &effects).await?;
            self.done.push(DoneCell { code, effects });
        }
        Ok(())
    }

    /// Runs a cell again: its model calls get the same replies.
    async fn replay(&mut self, code: &str, effects: &[HostReply]) -> Result<()> {
        let mut effects = effects.iter();
        let mut stepped = self.feed(code, CellTime::Replay).await;
        loop {
            let calls = match stepped.map_err(|error| broken(self.frame, error))? {
                Step::Finished(_) => return Ok(()),
                Step::Calls(calls) => calls,
            };
            let mut replies = Vec::new();
            for call in calls {
                let looking = serve::look(self, &call);
                replies.push(match looking {
                    Some(looking) => looking.await,
                    None => effects.next().cloned().unwrap_or(HostReply::Finish),
                });
            }
            stepped = self.with(move |interpreter| interpreter.resume(replies)).await;
        }
    }

    /// Cells are CPU-bound: the interpreter runs on its own thread, never on the executor.
    async fn with<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut dyn Interpreter) -> Result<T, InterpreterError> + Send + 'static,
    ) -> Result<T, InterpreterError> {
        let Some(mut interpreter) = self.interpreter.take() else {
            return Err(InterpreterError::Died { how: "it was not restarted".into() });
        };
        let (interpreter, worked) = blocking(move || {
            let worked = work(interpreter.as_mut());
            (interpreter, worked)
        })
        .await;
        if worked.is_ok() {
            self.interpreter = Some(interpreter);
        }
        worked
    }
}

fn broken(frame: &Frame, source: InterpreterError) -> FrameError {
    Stop::Sandbox { frame: frame.id().clone(), source: Arc::new(source) }.into()
}

pub(crate) const NOTHING_PRINTED: &str = "Output: (none)";

fn shown(output: &str) -> String {
    if output.trim().is_empty() {
        NOTHING_PRINTED.to_owned()
    } else {
        format!("Output:\n{}", output.trim_end_matches('\n'))
    }
}

/// A cell that a limit stopped, as shown to the model. The effects of its tools remain.
fn limited(output: &str, outcome: &CellOutcome, has_effects: bool) -> Ran {
    let (kind, message) = match outcome {
        CellOutcome::Limited { kind, message } => (kind.as_str(), message.as_str()),
        CellOutcome::Printed | CellOutcome::Raised { .. } | CellOutcome::Answered => ("", ""),
    };
    let mut text =
        format!("{}\n{kind}: {message}\nThe block was stopped. Your variables are unchanged.", shown(output));
    if has_effects {
        text += " Its tool calls did take effect.";
    }
    Ran::Broke(text)
}

/// Keeps the end of a traceback, which says what happened.
fn cut(traceback: &str, chars_max: u64) -> String {
    let n_chars = traceback.chars().count();
    let chars_max = usize::try_from(chars_max).unwrap_or(usize::MAX);
    if n_chars <= chars_max {
        return traceback.to_owned();
    }
    let tail: String = traceback.chars().skip(n_chars - chars_max).collect();
    format!("[…]{tail}")
}

#[cfg(test)]
mod tests {
    use super::serve;
    use crate::environment::Environment;
    use crate::tools::is_function_name;

    #[test]
    fn no_tool_replaces_a_name_of_the_session() {
        let own = serve::functions().into_iter().map(|function| function.name);
        for name in own.chain(Environment::names().map(str::to_owned)) {
            assert!(!is_function_name(&name), "`{name}` is missing from the names that are taken");
        }
    }
}
