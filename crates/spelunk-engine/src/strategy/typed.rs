//! Typed answers of strategies that answer in words: one more call writes the answer as JSON that
//! matches the schema, unless it already is.

use spelunk_model::{Message, Prompt};
use spelunk_types::ErrorCode;

use crate::session::read_typed;
use crate::{Answer, Frame, Result, Schema, Task};

const SYSTEM: &str = include_str!("../prompts/typed-system.md");
pub(super) const PROMPTS: [&str; 1] = [SYSTEM];

const TRIES_MAX: usize = 2;

pub(super) async fn fitted(frame: &Frame, task: &Task, schema: &Schema, answer: Answer) -> Result<Answer> {
    if let Ok(text) = read_typed(schema, &answer.text) {
        return Ok(Answer { text, ..answer });
    }
    let asked = format!(
        "Question:\n{}\n\nAnswer:\n{}\n\nSchema:\n{}",
        task.question_shown(),
        answer.text,
        schema.text
    );
    let mut prompt = Prompt::single(SYSTEM, asked, frame.limits().root_output_tokens_max);
    prompt.schema = schema.json();
    let mut fault = String::new();
    for _ in 0..TRIES_MAX {
        let reply = frame.ask(prompt.clone()).await?;
        match read_typed(schema, &reply.text) {
            Ok(text) => return Ok(Answer { text, ..answer }),
            Err(wrong) => fault = wrong,
        }
        let told = format!("This does not match the schema: {fault}\nWrite the whole JSON again.");
        prompt.messages.extend([Message::assistant(reply.text), Message::user(told)]);
    }
    Err(frame.failure(ErrorCode::AnswerInvalid, format!("the answer does not match the schema: {fault}")))
}
