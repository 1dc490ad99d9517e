//! Dialects: the providers' wire formats, written out by hand so that a test controls every byte.

mod anthropic;
mod openai;

use serde_json::{Value, json};
use spelunk_types::{StopReason, Usage};

/// Which provider's format a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
}

/// A reply, before it takes a provider's shape.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) reasoning: Option<String>,
    pub(crate) stop: StopReason,
    pub(crate) usage: Usage,
    pub(crate) n_chunks: usize,
    /// Whether the request asked for usage in the stream (`stream_options.include_usage`).
    pub(crate) with_usage: bool,
}

/// A streamed reply: what comes before the text, the text, and what comes after it with the end mark.
#[derive(Debug)]
pub(crate) struct Streamed {
    pub(crate) head: Vec<u8>,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) tail: Vec<u8>,
}

impl Dialect {
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/messages" => Some(Self::Anthropic),
            _ => None,
        }
    }

    pub(crate) fn streamed(self, spoken: &Spoken) -> Streamed {
        match self {
            Self::OpenAi => openai::streamed(spoken),
            Self::Anthropic => anthropic::streamed(spoken),
        }
    }

    pub(crate) fn whole(self, spoken: &Spoken) -> Value {
        match self {
            Self::OpenAi => openai::whole(spoken),
            Self::Anthropic => anthropic::whole(spoken),
        }
    }

    /// The body of an error status; `code` replaces the usual one for the status.
    pub(crate) fn error_body(self, status: u16, message: &str, code: Option<&str>) -> Value {
        match self {
            Self::OpenAi => openai::error_body(status, message, code),
            Self::Anthropic => anthropic::error_body(status, message, code),
        }
    }

    /// The error as an event of a stream.
    pub(crate) fn error_event(self, status: u16) -> Vec<u8> {
        let body = self.error_body(status, &format!("scripted status {status}"), None);
        match self {
            Self::OpenAi => event(None, &body),
            Self::Anthropic => event(Some("error"), &body),
        }
    }
}

/// The system text and every message of a request, joined by line ends.
pub(crate) fn prompt_of(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let contents = messages.iter().map(|message| &message["content"]);
    let texts: Vec<String> = std::iter::once(&body["system"]).chain(contents).filter_map(text_of).collect();
    texts.join("\n")
}

/// The list of models this server offers.
pub(crate) fn model_list() -> Value {
    json!({ "object": "list", "data": [{ "id": "scripted", "object": "model", "created": 0, "owned_by": "spelunk" }] })
}

/// One server-sent event.
fn event(name: Option<&str>, data: &Value) -> Vec<u8> {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n").into_bytes()
}

/// A text, or the texts of its parts.
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

/// Cuts a text into at most `n_pieces` of about the same length, never inside a character.
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
