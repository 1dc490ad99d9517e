//! One turn of a caller that runs its own tools: the model sees the conversation and the caller's tools, and
//! replies with an answer or with calls that the caller runs. Texts that are too long for the conversation
//! are read in child frames, by the strategy of the run, when the model asks for them.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use spelunk_model::{Message, Part, Prompt, Speaker, Tool, ToolCall, ToolResult, estimate_tokens};
use spelunk_types::Citation;

use super::typed;
use crate::limits::estimate::message_tokens;
use crate::transcript::{cut, tool_tokens};
use crate::turn::{CallerTurn, joined};
use crate::{Answer, Frame, FrameError, Result, Task};

const SYSTEM: &str = include_str!("../prompts/turn-system.md");
const EARLIER: &str = include_str!("../prompts/turn-earlier.md");
pub(super) const PROMPTS: [&str; 2] = [SYSTEM, EARLIER];

const ASKED_CHARS_MAX: u64 = 4_000;

pub(super) async fn solve(frame: &Frame, task: &Task, turn: &CallerTurn) -> Result<Answer> {
    let (mut messages, was_cut) = fitting(frame, turn);
    let (mut said, mut citations) = (Vec::new(), Vec::new());
    let turns_max = frame.limits().turns_max;
    for number in 1..=turns_max {
        let reads = (turn.has_documents || was_cut) && number < turns_max;
        let prompt = prompt(frame, task, turn, messages.clone(), reads);
        let reply = frame.ask(prompt).await?;
        said.push(reply.text.clone());
        let (own, theirs): (Vec<ToolCall>, Vec<ToolCall>) =
            reply.tool_calls.into_iter().partition(|call| call.name == CallerTurn::READ);
        if own.is_empty() {
            return finish(frame, task, (&said, &theirs), citations).await;
        }
        // Calls of the caller's tools in the same reply are dropped: what is read now may change them.
        let results = read_all(frame, task, &own, &mut citations).await?;
        messages.push(Message::assistant(reply.text).with_parts(own.into_iter().map(Part::ToolCall)));
        messages.push(Message::user("").with_parts(results));
    }
    finish(frame, task, (&said, &[]), citations).await
}

fn prompt(frame: &Frame, task: &Task, turn: &CallerTurn, messages: Vec<Message>, reads: bool) -> Prompt {
    let system = if reads { format!("{}\n\n{SYSTEM}", turn.system) } else { turn.system.clone() };
    Prompt {
        system: system.trim().to_owned(),
        messages,
        output_tokens_max: frame.limits().root_output_tokens_max,
        schema: task.schema.as_ref().and_then(|schema| schema.json()),
        tools: turn.tools.iter().cloned().chain(reads.then(reading)).collect(),
        must_call: turn.must_call,
        ..Prompt::default()
    }
}

fn reading() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "question": { "type": "string", "description": "What to find out, as a complete question" } },
        "required": ["question"],
        "additionalProperties": false,
    });
    Tool {
        name: CallerTurn::READ.to_owned(),
        description:
            "Answers a question from the long texts of this conversation, which are named in brackets."
                .to_owned(),
        schema: Arc::new(schema),
    }
}

/// The last messages that fit into one prompt, and whether some are missing.
fn fitting(frame: &Frame, turn: &CallerTurn) -> (Vec<Message>, bool) {
    let room = frame.limits().transcript_tokens_max.min(frame.room_tokens());
    let fixed = estimate_tokens(&turn.system).saturating_add(tool_tokens(&turn.tools));
    let mut left = room.saturating_sub(fixed);
    let mut from = turn.messages.len();
    for (idx, message) in turn.messages.iter().enumerate().rev() {
        let tokens = message_tokens(message, estimate_tokens);
        if tokens > left && from < turn.messages.len() {
            break;
        }
        left = left.saturating_sub(tokens);
        // Providers reject a result without its call, so no cut is made before a result.
        if !message.parts.iter().any(|part| matches!(part, Part::ToolResult(_))) {
            from = idx;
        }
    }
    let (earlier, kept) = turn.messages.split_at(from.min(turn.messages.len().saturating_sub(1)));
    let Some(asked) = earlier.iter().rfind(|said| said.speaker == Speaker::User && !said.text.is_empty())
    else {
        return (turn.messages.clone(), false);
    };
    let note = EARLIER
        .replace("{n}", &earlier.len().to_string())
        .replace("{asked}", &cut(&asked.text, ASKED_CHARS_MAX))
        .trim_end()
        .to_owned();
    let mut messages = kept.to_vec();
    match messages.first_mut() {
        Some(first) if first.speaker == Speaker::User => first.text = format!("{note}\n\n{}", first.text),
        Some(_) | None => messages.insert(0, Message::user(note)),
    }
    (messages, true)
}

/// Reads for all calls concurrently. A question that cannot be answered is a failed call, and the turn continues.
async fn read_all(
    frame: &Frame,
    task: &Task,
    calls: &[ToolCall],
    citations: &mut Vec<Citation>,
) -> Result<Vec<Part>> {
    let reading = calls.iter().map(|call| {
        let asked: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let question = asked["question"].as_str().filter(|question| !question.trim().is_empty());
        let child = question.map(|question| {
            let model = Some(Arc::clone(frame.model()));
            frame.descend(Task { model, ..Task::new(question, task.view.clone(), task.strategy) })
        });
        async move {
            match child {
                Some(child) => child.await.map(Some),
                None => Ok(None),
            }
        }
    });
    let mut results = Vec::new();
    for (call, read) in calls.iter().zip(join_all(reading).await) {
        let (text, is_error) = match read {
            Ok(Some(answer)) => {
                let evidence =
                    answer.citations.iter().map(|cited| format!("\n{}: {}", cited.place(), cited.quote));
                let text = format!("{}\n{}", answer.text.trim(), evidence.collect::<String>());
                citations.extend(answer.citations);
                (text.trim().to_owned(), false)
            }
            Ok(None) => ("`question` must be a non-empty string".to_owned(), true),
            Err(stopped @ FrameError::Stopped(_)) => return Err(stopped),
            Err(error) => (error.to_string(), true),
        };
        let (call_id, name) = (call.id.clone(), call.name.clone());
        results.push(Part::ToolResult(ToolResult { call_id, name, text, is_error }));
    }
    Ok(results)
}

/// The answer of the run. Calls of the caller's tools are also written out for people; the caller gets them as data.
async fn finish(
    frame: &Frame,
    task: &Task,
    (said, calls): (&[String], &[ToolCall]),
    mut citations: Vec<Citation>,
) -> Result<Answer> {
    citations.dedup();
    let mut lines = said.to_vec();
    lines.extend(calls.iter().map(|call| format!("Calls {} with {}", call.name, call.arguments)));
    let answer = Answer::new(joined(&lines), citations);
    match &task.schema {
        Some(schema) if calls.is_empty() => typed::fitted(frame, task, schema, answer).await,
        Some(_) | None => Ok(answer),
    }
}
