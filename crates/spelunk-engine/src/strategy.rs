//! Strategies: how a frame answers. A closed set with one function each; this file is the whole dispatch.

mod agent;
mod auto;
mod direct;
mod map;
mod one_call;
mod repl;
mod search;
mod turn;
mod typed;

pub use agent::{GUIDE as AGENT_GUIDE, SKILL as AGENT_SKILL, written_answer};
pub use map::planning::{Forecast, Range, forecast, plan_analysis};
use map::{analyst, synthesis};
pub use repl::{ConsoleCell, console};
use spelunk_types::{BlobId, ErrorCode, Strategy};

use crate::plain_answer::{self, CodeAlone};
use crate::task::Assigned;
use crate::{Answer, Frame, Result, Task, rows};

/// Runs the task's strategy in this frame. The result must be a plain answer, except that a typed
/// answer is validated against its schema, an analyst's against its form, and a caller's program is
/// trusted. In a caller's turn, code is an answer like any other.
pub(crate) async fn solve(frame: Frame, mut task: Task) -> Result<Answer> {
    if let Some(turn) = task.turn.take() {
        return Box::pin(turn::solve(&frame, &task, &turn)).await;
    }
    if is_in_words(task.strategy)
        && let Some(schema) = task.schema.take()
    {
        let answer = plain(frame.clone(), task.clone()).await?;
        return typed::fitted(&frame, &task, &schema, answer).await;
    }
    plain(frame, task).await
}

/// Whether every other call would fail in the same way.
fn is_hopeless(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ModelUnauthorized | ErrorCode::ModelNotFound)
}

/// Whether no model can be reached, so that nothing can be said about the question.
fn is_cut_off(code: ErrorCode) -> bool {
    is_hopeless(code) || code == ErrorCode::ModelUnreachable
}

/// Whether a strategy answers in words, whatever the question asks for.
fn is_in_words(strategy: Strategy) -> bool {
    match strategy {
        Strategy::Direct | Strategy::Search | Strategy::Map | Strategy::Hybrid => true,
        Strategy::Auto
        | Strategy::Repl
        | Strategy::Agent
        | Strategy::Analyst
        | Strategy::Synthesis
        | Strategy::Program => false,
    }
}

async fn plain(frame: Frame, task: Task) -> Result<Answer> {
    let is_plain = task.schema.is_none() && !matches!(task.strategy, Strategy::Analyst | Strategy::Program);
    let answer = solve_as(frame.clone(), task).await?;
    match plain_answer::fault(&answer.text, CodeAlone::IsAnswer).filter(|_| is_plain) {
        Some(fault) => Err(fault.error(&frame)),
        None => Ok(answer),
    }
}

async fn solve_as(frame: Frame, task: Task) -> Result<Answer> {
    match task.strategy {
        Strategy::Auto => match auto::solve(&frame, &task).await? {
            auto::Outcome::Answered(answer) => Ok(answer),
            // Boxed because a strategy cannot contain its own dispatch.
            auto::Outcome::Climb(strategy) => Box::pin(solve_as(frame, Task { strategy, ..task })).await,
        },
        Strategy::Direct => direct::solve(&frame, &task).await,
        Strategy::Repl => repl::solve(&frame, &task).await,
        Strategy::Search => search::solve(&frame, &task).await,
        Strategy::Map => map::solve(&frame, &task, map::Reach::All).await,
        // Boxed because its state is large and few frames need it.
        Strategy::Agent => Box::pin(agent::solve(&frame, &task)).await,
        Strategy::Hybrid => map::solve(&frame, &task, map::Reach::Prefilter).await,
        Strategy::Analyst | Strategy::Synthesis => {
            match task.assignment.as_ref().map(|assignment| &assignment.0) {
                Some(Assigned::Analysis(analysis)) => analyst::solve(&frame, &task, analysis).await,
                Some(Assigned::Synthesis(synthesis)) => synthesis::solve(&frame, &task, synthesis).await,
                None => Err(frame.refusal(ErrorCode::Bug, "this frame has no assignment".to_owned())),
            }
        }
        Strategy::Program => match &frame.run().program {
            Some(program) => program(frame.clone(), task).await,
            None => Err(frame.refusal(ErrorCode::Bug, "this run has no program".to_owned())),
        },
    }
}

/// The digest of all prompts: a run cannot be resumed with prompts it was not started with.
pub(crate) fn prompts_digest() -> BlobId {
    let prompts = [
        &one_call::PROMPTS[..],
        &repl::PROMPTS[..],
        &search::PROMPTS[..],
        &auto::PROMPTS[..],
        &rows::PROMPTS.concat(),
        &analyst::PROMPTS[..],
        &synthesis::PROMPTS[..],
        &agent::PROMPTS[..],
        &turn::PROMPTS[..],
        &typed::PROMPTS[..],
    ]
    .concat();
    spelunk_journal::digest(prompts.concat().as_bytes())
}
