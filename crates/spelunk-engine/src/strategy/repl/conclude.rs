//! Concluding: when turns, money or patience run out, the model is asked once for what it has. Such an answer says that it
//! is partial.
#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else stopped it is about money")]

use spelunk_types::{ErrorCode, Grounding};

use crate::run::Role;
use crate::transcript::Transcript;
use crate::{Answer, Frame, FrameError, Task, evidence};

pub(super) const PROMPT: &str = include_str!("../../prompts/repl-conclude.md");

/// Whether the next call is the last one there is money for. On replay it is decided as it was decided then.
pub(super) fn is_due(frame: &Frame, transcript: &Transcript) -> bool {
    let next = transcript.prompt(frame.limits().root_output_tokens_max);
    match frame.next_call_was(role(frame), &next) {
        Some(was_turn) => !was_turn,
        None => !frame.affords_calls(2, &next),
    }
}

/// Asks for an answer from what the transcript holds.
pub(super) async fn conclude(
    frame: &Frame,
    task: &Task,
    transcript: &Transcript,
    stopped_by: ErrorCode,
) -> Result<Answer, FrameError> {
    let why = match stopped_by {
        ErrorCode::TurnsExhausted => "You have used all your turns.",
        ErrorCode::CellsExhausted => "You have run all the code you may.",
        ErrorCode::ModelStuck => "You are not getting further.",
        _ => "The budget is used up.",
    };
    let end = task.question.floor_char_boundary(super::QUESTION_BYTES_MAX);
    let question = task.question.get(..end).unwrap_or_default();
    let said = PROMPT.replace("{why}", why).replace("{question}", question);
    let reply = frame.ask(super::asking(frame, transcript, &said)).await?;
    let answer = evidence::check(frame, &task.view, &reply.text).await?;
    Ok(Answer { grounding: Grounding::Partial { stopped_by }, ..answer })
}

fn role(frame: &Frame) -> Role {
    if frame.id().depth() == 0 { Role::Root } else { Role::Sub }
}
