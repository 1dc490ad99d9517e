//! Concluding: when turns, money or patience run out, the model is asked once for what it has. Such an answer says that it
//! is partial.
#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else stopped it is about money")]

use spelunk_model::Prompt;
use spelunk_types::{ErrorCode, Grounding};

use super::answer;
use crate::transcript::Transcript;
use crate::{Answer, Frame, FrameError, Schema, Task, evidence};

pub(super) const PROMPT: &str = include_str!("../../prompts/repl-conclude.md");

/// Asks for an answer from what the transcript holds.
pub(super) async fn conclude(
    frame: &Frame,
    task: &Task,
    transcript: &mut Transcript,
    stopped_by: ErrorCode,
) -> Result<Answer, FrameError> {
    let why = match stopped_by {
        ErrorCode::TurnsExhausted => "You have used all your turns.",
        ErrorCode::CellsExhausted => "You have run all the code you may.",
        ErrorCode::ModelStuck => "You are not getting further.",
        _ => "The budget is used up.",
    };
    let question = task.question_shown();
    let said = PROMPT.replace("{why}", why).replace("{question}", question);
    let said = match &task.schema {
        // A typed answer has no place for evidence.
        Some(schema) => {
            let said = said.split("\nIf you have evidence").next().unwrap_or_default();
            format!("{said}\nThe answer must be JSON that fits this schema:\n{}\n", schema.text())
        }
        None => said,
    };
    let asking = |frame: &Frame, transcript: &Transcript| {
        let schema = task.schema.as_ref().and_then(|schema| schema.json());
        Prompt { schema, ..super::asking(frame, transcript, &said) }
    };
    let reply = super::ask(frame, transcript, asking).await?;
    let answer = match &task.schema {
        Some(schema) => typed(frame, schema, &reply.text)?,
        None => evidence::check(frame, &task.view, &reply.text).await?,
    };
    Ok(Answer { grounding: Grounding::Partial { stopped_by }, ..answer })
}

/// A typed answer that does not fit is none: a program reads it.
fn typed(frame: &Frame, schema: &Schema, reply: &str) -> Result<Answer, FrameError> {
    match answer::read_typed(schema, reply) {
        Ok(json) => Ok(Answer { text: json, citations: Vec::new(), grounding: Grounding::Uncited }),
        Err(fault) => {
            let message = format!("the answer does not fit the schema: {fault}");
            Err(FrameError::Child { frame: frame.id().clone(), code: ErrorCode::AnswerInvalid, message })
        }
    }
}
