//! Dialects: the providers' wire formats, written by hand so that a test controls every byte.

mod anthropic;
mod bedrock;
mod embeddings;
mod gemini;
mod openai;
mod responses;

use serde_json::{Value, json};
use spelunk_types::{StopReason, Usage};

use crate::script::{Manner, ScriptedToolCall};

pub(crate) use embeddings::vectors;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
    Responses,
    Gemini,
    Bedrock,
}

/// A reply, independent of the provider.
#[derive(Debug)]
pub(crate) struct ScriptedReply {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) manner: Manner,
    pub(crate) usage: Usage,
    /// Whether the request asked for usage in the stream (`stream_options.include_usage`).
    pub(crate) with_usage: bool,
    /// Whether it asked for the probabilities of the tokens (`logprobs`).
    pub(crate) with_logprobs: bool,
}

impl ScriptedToolCall {
    /// Splits the arguments into two fragments.
    fn halves(&self) -> Vec<&str> {
        cut(&self.arguments, 2)
    }

    /// The arguments as JSON; null if they are invalid.
    fn input(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or(Value::Null)
    }
}

/// A streamed reply: the events before the text, one event per piece of it, and those after it, including the end mark.
#[derive(Debug)]
pub(crate) struct Streamed {
    pub(crate) head: Vec<Vec<u8>>,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) tail: Vec<Vec<u8>>,
}

impl Dialect {
    /// The dialect of a request to this path, ignoring its query.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        let is_azure = path.contains("/openai/deployments/") && path.ends_with("/chat/completions");
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/responses" => Some(Self::Responses),
            _ if is_azure => Some(Self::OpenAi),
            _ if path.starts_with("/v1/models/") && path.contains(':') => Some(Self::Gemini),
            _ if path.starts_with("/v1/model/") && path.contains("/converse") => Some(Self::Bedrock),
            _ => None,
        }
    }

    pub(crate) fn is_streamed(self, path: &str, body: &Value) -> bool {
        match self {
            Self::OpenAi | Self::Anthropic | Self::Responses => body["stream"] == Value::Bool(true),
            Self::Gemini => path.contains(":streamGenerateContent"),
            Self::Bedrock => path.ends_with("/converse-stream"),
        }
    }

    pub(crate) fn stream_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic | Self::Responses | Self::Gemini => {
                "text/event-stream; charset=utf-8"
            }
            Self::Bedrock => "application/vnd.amazon.eventstream",
        }
    }

    pub(crate) fn streamed(self, spoken: &ScriptedReply) -> Streamed {
        match self {
            Self::OpenAi => openai::streamed(spoken),
            Self::Anthropic => anthropic::streamed(spoken),
            Self::Responses => responses::streamed(spoken),
            Self::Gemini => gemini::streamed(spoken),
            Self::Bedrock => bedrock::streamed(spoken),
        }
    }

    pub(crate) fn whole(self, spoken: &ScriptedReply) -> Value {
        match self {
            Self::OpenAi => openai::whole(spoken),
            Self::Anthropic => anthropic::whole(spoken),
            Self::Responses => responses::whole(spoken),
            Self::Gemini => gemini::whole(spoken),
            Self::Bedrock => bedrock::whole(spoken),
        }
    }

    /// The body of an error status; `code` replaces the default one for the status.
    pub(crate) fn error_body(self, status: u16, message: &str, code: Option<&str>) -> Value {
        match self {
            Self::OpenAi | Self::Responses => openai::error_body(status, message, code),
            Self::Anthropic => anthropic::error_body(status, message, code),
            Self::Gemini => gemini::error_body(status, message, code),
            Self::Bedrock => bedrock::error_body(message, code),
        }
    }

    pub(crate) fn error_event(self, status: u16) -> Vec<u8> {
        let message = format!("scripted status {status}");
        let body = self.error_body(status, &message, None);
        match self {
            Self::OpenAi | Self::Gemini => event(None, &body),
            Self::Anthropic => event(Some("error"), &body),
            Self::Responses => responses::error_event(status, &message),
            Self::Bedrock => bedrock::error_event(status, &message),
        }
    }

    /// An event with this payload, which need not be JSON or text.
    pub(crate) fn raw_event(self, payload: &[u8]) -> Vec<u8> {
        match self {
            Self::OpenAi | Self::Anthropic | Self::Responses | Self::Gemini => {
                [b"data: ", payload, b"\n\n"].concat()
            }
            Self::Bedrock => bedrock::raw_event(payload),
        }
    }
}

/// The system text and every message of a request, joined by newlines.
pub(crate) fn prompt_of(body: &Value) -> String {
    let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let systems = [&body["system"], &body["instructions"], &body["systemInstruction"]["parts"]];
    let contents = list("messages").iter().chain(list("input")).map(|message| &message["content"]);
    let gemini = list("contents").iter().map(|content| &content["parts"]);
    let texts: Vec<String> = systems.into_iter().chain(contents).chain(gemini).filter_map(text_of).collect();
    texts.join("\n")
}

/// The list of models this server offers.
pub(crate) fn model_list() -> Value {
    json!({ "object": "list", "data": [{ "id": "scripted", "object": "model", "created": 0, "owned_by": "spelunk" }] })
}

/// One of a dialect's words for why a reply ended: finished, length, filtered, tool use, another reason.
fn stop_name(
    stop: StopReason,
    [finished, length, filtered, tool_use, other]: [&'static str; 5],
) -> &'static str {
    match stop {
        StopReason::Finished => finished,
        StopReason::Length => length,
        StopReason::Filtered => filtered,
        StopReason::ToolUse => tool_use,
        StopReason::Other => other,
    }
}

fn event(name: Option<&str>, data: &Value) -> Vec<u8> {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n").into_bytes()
}

/// A string, or the texts of its parts.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            Some(texts.join("\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Splits a text into at most `n_pieces` of about the same length, at character boundaries.
fn cut(text: &str, n_pieces: usize) -> Vec<&str> {
    let piece_len = text.len().div_ceil(n_pieces).max(1);
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(piece_len));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests;
