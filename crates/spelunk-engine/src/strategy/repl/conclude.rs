//! Concluding: when turns, budget or retries run out, the model is asked for its best partial answer, and once more
//! if its reply is code or a tool call. Such an answer is marked as partial.
#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else stopped it is about money")]

use spelunk_model::Prompt;
use spelunk_types::{ErrorCode, Grounding};

use crate::plain_answer::{self, CodeAlone};
use crate::session::read_typed;
use crate::transcript::Transcript;
use crate::{Answer, Frame, FrameError, Schema, Task, evidence};

pub(super) const PROMPT: &str = include_str!("../../prompts/repl-conclude.md");

/// Asks for an answer based on the transcript.
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
    let mut reply = super::ask(frame, transcript, asking).await?;
    let answer = match &task.schema {
        Some(schema) => typed(frame, schema, &reply.text)?,
        None => {
            if let Some(fault) = plain_answer::fault_of(&reply, CodeAlone::IsNone) {
                transcript.push_user(said);
                transcript.push_reply(&reply.text);
                let again =
                    |frame: &Frame, transcript: &Transcript| super::asking(frame, transcript, &fault.nudge());
                reply = super::ask(frame, transcript, again).await?;
            }
            if let Some(fault) = plain_answer::fault_of(&reply, CodeAlone::IsNone) {
                return Err(fault.error(frame));
            }
            evidence::check(frame, &task.view, &reply.text).await?
        }
    };
    Ok(Answer { grounding: Grounding::Partial { stopped_by }, ..answer })
}

/// A typed answer that violates its schema is rejected, because a program reads it.
fn typed(frame: &Frame, schema: &Schema, reply: &str) -> Result<Answer, FrameError> {
    match read_typed(schema, reply) {
        Ok(json) => Ok(Answer { text: json, citations: Vec::new(), grounding: Grounding::Uncited }),
        Err(fault) => {
            let message = format!("the answer does not fit the schema: {fault}");
            Err(FrameError::Child { frame: frame.id().clone(), code: ErrorCode::AnswerInvalid, message })
        }
    }
}
