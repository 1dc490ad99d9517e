//! Concluding: when turns, budget or retries run out, the model is asked for its best partial answer, and once more
//! if its reply is code or a tool call. Such an answer is marked as partial.
#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else stopped it is about money")]

use spelunk_model::{Prompt, Reply};
use spelunk_types::{ErrorCode, Grounding};

use super::{overflow, read_typed};
use crate::plain_answer::{self, CodeAlone};
use crate::transcript::{Transcript, with_message};
use crate::{Answer, Frame, Result, Schema, Task, evidence};

/// Asks for an answer based on the transcript, in the words of `template`. `next` builds the next
/// prompt of the conversation.
pub(crate) async fn conclude(
    frame: &Frame,
    task: &Task,
    transcript: &mut Transcript,
    (template, stopped_by): (&str, ErrorCode),
    next: impl Fn(&Transcript) -> Prompt,
) -> Result<Answer> {
    let mut reply = ask(frame, task, transcript, request(template, task, stopped_by), &next).await?;
    let answer = match &task.schema {
        Some(schema) => typed(frame, schema, &reply.text)?,
        None => {
            if let Some(fault) = plain_answer::fault_of(&reply, CodeAlone::IsNone) {
                reply = ask(frame, task, transcript, fault.nudge(), &next).await?;
            }
            if let Some(fault) = plain_answer::fault_of(&reply, CodeAlone::IsNone) {
                return Err(fault.error(frame));
            }
            evidence::check_claims(frame, &task.view, &reply.text, Vec::new()).await?
        }
    };
    Ok(partial(answer, stopped_by))
}

fn request(template: &str, task: &Task, stopped_by: ErrorCode) -> String {
    let why = match stopped_by {
        ErrorCode::TurnsExhausted => "You have used all your turns.",
        ErrorCode::CellsExhausted => "You have reached the limit on code blocks.",
        ErrorCode::ModelStuck => "You are not making progress.",
        _ => "The budget is used up.",
    };
    let said = template.replace("{why}", why).replace("{question}", task.question_shown());
    match &task.schema {
        // A typed answer has no place for evidence.
        Some(schema) => {
            let said = said.split("\nIf you have evidence").next().unwrap_or_default();
            format!("{said}\nThe answer must be JSON that matches this schema:\n{}\n", schema.text)
        }
        None => said,
    }
}

async fn ask(
    frame: &Frame,
    task: &Task,
    transcript: &mut Transcript,
    said: String,
    next: &impl Fn(&Transcript) -> Prompt,
) -> Result<Reply> {
    let asking = |transcript: &Transcript| {
        let schema = task.schema.as_ref().and_then(|schema| schema.json());
        Prompt { schema, ..with_message(next(transcript), &said) }
    };
    let reply = overflow::ask(frame, transcript, asking).await?;
    transcript.push_user(said);
    transcript.push_reply(&reply.text);
    Ok(reply)
}

/// A typed answer that violates its schema is rejected, because a program reads it.
fn typed(frame: &Frame, schema: &Schema, reply: &str) -> Result<Answer> {
    match read_typed(schema, reply) {
        Ok(text) => Ok(Answer::new(text, Vec::new())),
        Err(fault) => {
            let message = format!("the answer does not match the schema: {fault}");
            Err(frame.failure(ErrorCode::AnswerInvalid, message))
        }
    }
}

pub(crate) fn partial(answer: Answer, stopped_by: ErrorCode) -> Answer {
    Answer { grounding: Grounding::Partial { stopped_by }, ..answer }
}
