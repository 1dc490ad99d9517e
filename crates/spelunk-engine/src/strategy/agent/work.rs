//! Runs an agent's tool calls on its desk. Each call is recorded with its changes before the model sees the result;
//! on replay it runs again and must have the same effect.

use std::time::Instant;

use spelunk_model::ToolCall;

use super::finish::AnswerFileCheck;
use super::first::AgentStart;
use super::tools;
use crate::frame::ToolRecord;
use crate::plain_answer::CodeAlone;
use crate::session::{AgentState, GivenAnswer, Session, changes};
use crate::transcript::cut;
use crate::{Frame, Result, Task};

/// Per reply.
const CALLS_MAX: usize = 32;
const OUTPUT_CHARS_MAX: u64 = 40_000;

pub(super) struct Work<'a> {
    pub(super) frame: &'a Frame,
    pub(super) task: &'a Task,
    pub(super) agent: AgentState,
    /// Where scripts run; opened by the first one.
    pub(super) session: Option<Session<'a>>,
    pub(super) check: AnswerFileCheck,
}

pub(super) enum Turn {
    Answered(GivenAnswer),
    Results(Vec<ToolAnswer>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolAnswer {
    pub(super) call: ToolCall,
    pub(super) text: String,
    pub(super) is_error: bool,
}

pub(super) struct ToolOutcome {
    pub(super) text: String,
    pub(super) failed: bool,
    pub(super) given: Option<GivenAnswer>,
}

impl ToolOutcome {
    pub(super) fn told(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false, given: None }
    }

    #[expect(clippy::needless_pass_by_value, reason = "errors and texts are handed over alike")]
    pub(super) fn refused(why: impl ToString) -> Self {
        Self { text: why.to_string(), failed: true, given: None }
    }
}

impl<'a> Work<'a> {
    pub(super) async fn begin(frame: &'a Frame, task: &'a Task, first: &AgentStart) -> Result<Self> {
        let empty = spelunk_desk::Desk::new(first.desk.limits().clone());
        frame.lay_desk(changes(&empty, &first.desk), first.desk.digest()).await?;
        let code = CodeAlone::for_question(&task.question);
        let check = AnswerFileCheck::new(task.schema.clone(), code, first.is_inlined);
        Ok(Self { frame, task, agent: AgentState::new(first.desk.clone()), session: None, check })
    }

    /// Runs the calls of a reply in order, until one of them is the answer.
    pub(super) async fn take_turn(&mut self, calls: &[ToolCall], turns_left: u64) -> Result<Turn> {
        self.check.may_verify = turns_left > 0;
        let mut told = Vec::new();
        for (idx, call) in calls.iter().enumerate() {
            if idx >= CALLS_MAX {
                let text = format!("not run: a reply can make at most {CALLS_MAX} calls");
                told.push(ToolAnswer { call: call.clone(), text, is_error: true });
                continue;
            }
            let done = self.call(call).await?;
            if let Some(given) = done.given {
                return Ok(Turn::Answered(given));
            }
            told.push(ToolAnswer { call: call.clone(), text: done.text, is_error: done.failed });
        }
        Ok(Turn::Results(told))
    }

    async fn call(&mut self, call: &ToolCall) -> Result<ToolOutcome> {
        let (before, began) = (self.agent.desk.clone(), Instant::now());
        let mut done = tools::run(self, call).await?;
        done.text = cut(&done.text, OUTPUT_CHARS_MAX);
        if let Err(error) = self.agent.write_metrics() {
            // If there is no room for the counters, there is no room for anything.
            self.agent.desk = before.clone();
            if done.given.is_none() {
                done = ToolOutcome::refused(format!("{error}. The files are unchanged."));
            }
        }
        let record = ToolRecord {
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            failed: done.failed,
            output: done.text.clone(),
            files: changes(&before, &self.agent.desk),
            desk: self.agent.desk.digest(),
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.frame.record_tool(record).await?;
        Ok(done)
    }
}
