//! How a model calls tools: natively if its provider supports tool calls, otherwise with one fenced block of JSON in
//! each reply.

use spelunk_model::{Part, Reply, Tool, ToolCall, ToolResult};
use spelunk_types::ErrorCode;

use super::tools;
use super::work::ToolAnswer;
use crate::transcript::Transcript;
use crate::{Frame, FrameError};

pub(super) const TEXT: &str = include_str!("../../prompts/agent-text.md");

/// Part of the model layer's error for unsupported tools.
const REFUSAL: &str = "does not support tools";
/// From this many remaining turns on, the model is reminded of them.
const TURNS_TOLD_MAX: u64 = 5;
const SILENT: &str = "No tool was called. Continue with a tool; if the work is done, write the answer to `output/answer.md` and call Finish.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Native,
    Text,
}

impl Protocol {
    /// Whether the error means that the provider does not support tool calls.
    pub(super) fn is_refused_by(self, error: &FrameError) -> bool {
        matches!(error, FrameError::Call { code: ErrorCode::ModelRequestRefused, message, .. }
            if self == Self::Native && message.contains(REFUSAL))
    }

    pub(super) fn tools(self, frame: &Frame) -> Vec<Tool> {
        match self {
            Self::Native => tools::all(frame),
            Self::Text => Vec::new(),
        }
    }

    pub(super) fn told(self, frame: &Frame) -> String {
        if self == Self::Native {
            return String::new();
        }
        let line = |tool: &Tool| format!("- {}: {}\n  {}\n", tool.name, tool.description, tool.schema);
        TEXT.replace("{tools}", &tools::all(frame).iter().map(line).collect::<String>())
    }

    pub(super) fn push_reply(self, transcript: &mut Transcript, text: &str, calls: &[ToolCall]) {
        let is_native = self == Self::Native && calls.iter().any(|call| call.id != TEXT_ID);
        if is_native {
            transcript.push_calls(text, calls.iter().cloned().map(Part::ToolCall).collect());
        } else {
            transcript.push_reply(text);
        }
    }
}

/// The calls of a reply. A text block is accepted from every model: some support tool calls but do not use them.
pub(super) fn read(reply: Reply) -> (Vec<ToolCall>, String) {
    if !reply.tool_calls.is_empty() {
        return (reply.tool_calls, reply.text);
    }
    (read_block(&reply.text).into_iter().collect(), reply.text)
}

pub(super) fn push_told(transcript: &mut Transcript, told: Vec<ToolAnswer>, turns_left: u64) {
    let mut text = match turns_left {
        0 => String::new(),
        1 => "This is your last turn: write `output/answer.md` and call Finish now.".to_owned(),
        2..=TURNS_TOLD_MAX => format!("{turns_left} turns left."),
        _ => String::new(),
    };
    let mut results = Vec::new();
    let mut said = Vec::new();
    for ToolAnswer { call, text, is_error } in told {
        if call.id == TEXT_ID {
            let how = if is_error { "was refused" } else { "gave" };
            said.push(format!("{} {how}:\n{text}", call.name));
        } else {
            let (call_id, name) = (call.id, call.name);
            results.push(Part::ToolResult(ToolResult { call_id, name, text, is_error }));
        }
    }
    if results.is_empty() {
        if said.is_empty() {
            said.push(SILENT.to_owned());
        }
        said.extend((!text.is_empty()).then(|| std::mem::take(&mut text)));
        transcript.push_user(said.join("\n\n"));
    } else {
        transcript.push_results(results, text);
    }
}

/// Ends a turn whose last call was the answer: providers require a result for each call before the next message.
pub(super) fn push_end(transcript: &mut Transcript, calls: &[ToolCall]) {
    let told = calls.iter().map(|call| ToolAnswer {
        call: call.clone(),
        text: "Accepted.".to_owned(),
        is_error: false,
    });
    push_told(transcript, told.collect(), u64::MAX);
}

/// The id of calls parsed from text.
const TEXT_ID: &str = "";

/// The tool name for a block that is not a call: refusing it reports the reason.
const UNREADABLE: &str = "tool";

fn read_block(text: &str) -> Option<ToolCall> {
    let (_, block) = text.rsplit_once("```tool")?;
    let block = block.split("\n```").next().unwrap_or(block);
    let object = block.trim().trim_end_matches('`').trim_end();
    let (name, arguments) = named(object).unwrap_or_else(|| (UNREADABLE.to_owned(), object.to_owned()));
    Some(ToolCall { id: TEXT_ID.to_owned(), name, arguments, signature: None })
}

fn named(object: &str) -> Option<(String, String)> {
    let parsed: serde_json::Value = serde_json::from_str(object).ok()?;
    let name = parsed.get("name").or_else(|| parsed.get("tool"))?.as_str()?.to_owned();
    let arguments = parsed.get("arguments").or_else(|| parsed.get("input"));
    Some((name, arguments.map_or_else(|| "{}".to_owned(), ToString::to_string)))
}

#[cfg(test)]
mod tests;
