//! The repl strategy: the recursive loop. A model writes code, the sandbox runs it against the context, sub-models
//! answer smaller questions, and the model answers when it has seen enough. Everything it learns comes through its
//! frame.

mod console;

use spelunk_sandbox::{ParsedReply, find_cells};
use spelunk_types::ErrorCode;

pub use self::console::{ConsoleCell, console};
use crate::environment::PRELUDE;
use crate::plain_answer::unless_empty;
use crate::question::{first_block, first_program};
use crate::rows::{RowsOutcome, query_rows};
use crate::session::conclude::conclude;
use crate::session::repeats::{self, Novelty, Repeats};
use crate::session::{self, GivenAnswer, Ran, Session, overflow};
use crate::tools::ExternalTools;
use crate::transcript::{Transcript, TranscriptLimits, with_message};
use crate::{Answer, Frame, Result, Task};

const SYSTEM: &str = include_str!("../prompts/repl-system.md");
const RLM: &str = include_str!("../prompts/repl-rlm.md");
const MODELS: &str = include_str!("../prompts/repl-models.md");
const USER: &str = include_str!("../prompts/repl-user.md");
const SMALL_SYSTEM: &str = include_str!("../prompts/repl-small.md");
const SMALL_USER: &str = include_str!("../prompts/repl-small-user.md");
const SUMMARY: &str = include_str!("../prompts/repl-summary.md");
const CONCLUDE: &str = include_str!("../prompts/repl-conclude.md");
pub(super) const PROMPTS: [&str; 9] =
    [SYSTEM, RLM, MODELS, USER, SMALL_SYSTEM, SMALL_USER, SUMMARY, CONCLUDE, PRELUDE];

/// Answers by exploring the context with code.
pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<Answer> {
    // A parent's note is not in the view: a query would compute over the whole text instead.
    if frame.reader().is_small()
        && task.schema.is_none()
        && task.note.is_none()
        && frame.tools().is_empty()
        && let RowsOutcome::Answered(answer) = query_rows(frame, task).await?
    {
        return Ok(answer);
    }
    let (mut session, description) = Session::open(frame, task, None).await?;
    let mut transcript = first_messages(frame, task, &description);
    let next = |transcript: &Transcript| transcript.prompt(frame.limits().root_output_tokens_max);
    let (mut loop_guard, turns_max) = (LoopGuard::default(), turns_max(frame));
    for turn in 1..=turns_max {
        if transcript.needs_compaction() {
            let asking = with_message(next(&transcript), SUMMARY);
            overflow::compact(frame, &mut transcript, asking).await?;
        }
        if let Some(code) = frame.must_conclude(&next(&transcript)).await? {
            return conclude(frame, task, &mut transcript, (CONCLUDE, code), next).await;
        }
        let reply = unless_empty(overflow::ask(frame, &mut transcript, next).await)?;
        let reply = reply.map(|reply| reply.text).unwrap_or_default();
        transcript.push_reply(&reply);
        let turned = if is_example(frame, task, &reply) {
            loop_guard.judge(&find_cells(&reply), vec![ITS_OWN_PROGRAM.to_owned()])
        } else {
            take_turn(&mut session, &mut loop_guard, &reply).await?
        };
        match turned {
            Turn::Answered(given) => return session::settle(frame, task, given).await,
            Turn::Stuck(code) => {
                return conclude(frame, task, &mut transcript, (CONCLUDE, code), next).await;
            }
            Turn::Message(said) => transcript.push_user(said + &turns_left(turns_max - turn)),
        }
    }
    conclude(frame, task, &mut transcript, (CONCLUDE, ErrorCode::TurnsExhausted), next).await
}

const ITS_OWN_PROGRAM: &str = "This is the example, which answers another question. It was not run. Write a program \
    with the columns, words and values of this question.";

/// Whether a small model returned the example that it was shown: its result would look like an answer.
fn is_example(frame: &Frame, task: &Task, reply: &str) -> bool {
    let cells = find_cells(reply).cells;
    let same = |code: &str| code.split_whitespace().eq(first_program(&task.view).split_whitespace());
    frame.reader().is_small() && !cells.is_empty() && cells.iter().all(|cell| same(&cell.code))
}

enum Turn {
    Answered(GivenAnswer),
    Message(String),
    /// More turns would not help.
    Stuck(ErrorCode),
}

/// Runs the cells of a reply in order, until one of them answers or fails.
async fn take_turn(session: &mut Session<'_>, loop_guard: &mut LoopGuard, reply: &str) -> Result<Turn> {
    let found = find_cells(reply);
    let mut said = Vec::new();
    for cell in &found.cells {
        if !session.may_run() {
            return Ok(Turn::Stuck(ErrorCode::CellsExhausted));
        }
        match session.run(&cell.code).await? {
            Ran::Answered(given) => return Ok(Turn::Answered(given)),
            Ran::Printed(text) => said.push(text),
            Ran::Broke(text) => {
                // The later cells rely on this one.
                said.push(text);
                break;
            }
        }
    }
    if let Some(text) = &found.final_text {
        match session.answer_in_text(text).await? {
            Ran::Answered(given) => return Ok(Turn::Answered(given)),
            Ran::Printed(text) | Ran::Broke(text) => said.push(text),
        }
    }
    Ok(loop_guard.judge(&found, said))
}

const TALK_MAX: u32 = 3;

const NUDGE: &str = "No code was found in your reply, so nothing was run. Write a code block fenced with ```repl. If you have the answer, write `FINAL(\"your answer\")` in such a block.";
const NUDGE_CUT: &str = "Your reply was cut off inside a code block. Write shorter blocks.";

/// Detects models that make no progress: replies without code, and repeated code. The model gets a message; if that
/// does not help, it is asked for its best partial answer.
#[derive(Debug, Default)]
struct LoopGuard {
    n_talks: u32,
    repeats: Repeats,
}

impl LoopGuard {
    /// The next message after this reply; `said` is the output of its cells.
    fn judge(&mut self, found: &ParsedReply, mut said: Vec<String>) -> Turn {
        if found.cells.is_empty() && said.is_empty() {
            self.n_talks += 1;
            let stuck = self.n_talks >= TALK_MAX;
            return if stuck { Turn::Stuck(ErrorCode::ModelStuck) } else { Turn::Message(NUDGE.to_owned()) };
        }
        self.n_talks = 0;
        let mut done: Vec<String> = found.cells.iter().map(|cell| cell.code.clone()).collect();
        done.extend(found.final_text.as_ref().map(|text| format!("{text:?}")));
        match self.repeats.judge(&done, &said) {
            Novelty::New => {}
            Novelty::Again => said.push(repeats::NUDGE.to_owned()),
            Novelty::Stuck => return Turn::Stuck(ErrorCode::ModelStuck),
        }
        if found.cells.iter().any(|cell| cell.is_cut) {
            said.push(NUDGE_CUT.to_owned());
        }
        Turn::Message(said.join("\n\n"))
    }
}

/// The system prompt and the question, which stay the same for the whole conversation.
fn first_messages(frame: &Frame, task: &Task, description: &str) -> Transcript {
    let limits = frame.limits();
    // Small models copy what they are shown, again and again: they get a complete program and no other tools.
    let is_small = frame.reader().is_small();
    let system = if is_small {
        SMALL_SYSTEM.replace("{first_block}", first_program(&task.view))
    } else {
        system(frame)
    };
    let system = system + &ExternalTools::told(frame.tools());
    let question = task.question_shown();
    let schema = match &task.schema {
        Some(schema) => format!(
            "\nThe answer must be JSON that matches this schema; `FINAL` takes the value:\n{}\n",
            schema.text
        ),
        None => String::new(),
    };
    // External text is inserted last, so that nothing in it is expanded as a placeholder.
    let user = if is_small { SMALL_USER } else { USER }
        .replace("{turns_max}", &limits.turns_max.to_string())
        .replace("{first_block}", &first_block(question))
        .replace("{schema}", &schema)
        .replace("{question}", &question.replace("{context}", "(context)"))
        .replace("{context}", description);
    Transcript::new(system, user, TranscriptLimits::within(limits, frame.room_tokens()))
}

fn system(frame: &Frame) -> String {
    let limits = frame.limits();
    let may_descend = u64::from(frame.id().depth()) < limits.depth_max;
    SYSTEM
        .replace("{stdout_chars_max}", &limits.stdout_chars_max.to_string())
        .replace("{query_chars_max}", &limits.query_chars_max.to_string())
        .replace("{rlm}", if may_descend { RLM } else { "" })
        + &models_line(frame.run().models.named.names())
}

/// The sentence about the models that code may name; empty if there are none.
fn models_line(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    if quoted.is_empty() { String::new() } else { MODELS.replace("{models}", &quoted.join(", ")) }
}

/// The number of turns after which a small model only repeats itself.
const SMALL_TURNS_MAX: u64 = 6;

fn turns_max(frame: &Frame) -> u64 {
    let turns_max = frame.limits().turns_max;
    if frame.reader().is_small() { turns_max.min(SMALL_TURNS_MAX) } else { turns_max }
}

fn turns_left(turns_left: u64) -> String {
    match turns_left {
        0 => String::new(),
        1 => "\n\nThis is your last turn: answer with `FINAL(...)` now.".to_owned(),
        n => format!("\n\n{n} turns left."),
    }
}

#[cfg(test)]
mod tests;
