//! Concluding: when an agent runs out of turns, budget or retries, `output/answer.md` is taken; if it is empty, the
//! model is asked once for its best partial answer. Such an answer is marked as partial.
#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else stopped it is about money")]

use spelunk_types::{ErrorCode, Grounding};

use crate::session::read_typed;
use crate::{Answer, Frame, FrameError, Task, evidence};

pub(super) const PROMPT: &str = include_str!("../../prompts/agent-conclude.md");

/// The request to conclude.
pub(super) fn said(task: &Task, stopped_by: ErrorCode) -> String {
    let why = match stopped_by {
        ErrorCode::TurnsExhausted => "You have used all your turns.",
        ErrorCode::ModelStuck => "You are not getting further.",
        _ => "The budget is used up.",
    };
    let said = PROMPT.replace("{why}", why).replace("{question}", task.question_shown());
    match &task.schema {
        // A typed answer has no place for evidence.
        Some(schema) => {
            let said = said.split("\nIf you have evidence").next().unwrap_or_default();
            format!("{said}\nThe answer must be JSON that fits this schema:\n{}\n", schema.text())
        }
        None => said,
    }
}

/// The answer in a reply. A typed one that does not match its schema is rejected, because a program reads it.
pub(super) async fn answer(frame: &Frame, task: &Task, reply: &str) -> Result<Answer, FrameError> {
    let Some(schema) = &task.schema else { return evidence::check(frame, &task.view, reply).await };
    match read_typed(schema, reply) {
        Ok(text) => Ok(Answer { text, citations: Vec::new(), grounding: Grounding::Uncited }),
        Err(fault) => {
            let message = format!("the answer does not fit the schema: {fault}");
            Err(FrameError::Child { frame: frame.id().clone(), code: ErrorCode::AnswerInvalid, message })
        }
    }
}

pub(super) fn partial(answer: Answer, stopped_by: ErrorCode) -> Answer {
    Answer { grounding: Grounding::Partial { stopped_by }, ..answer }
}
