//! OpenAI responses: the events of a stream, and the whole reply.

use serde::Deserialize;

use super::error::{Code, ErrorField};

/// One event of a stream. Most types repeat what others contain.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Event {
    #[serde(rename = "response.output_text.delta")]
    Text { delta: String },
    #[serde(rename = "response.refusal.delta")]
    Refusal { delta: String },
    #[serde(rename = "response.reasoning_summary_text.delta", alias = "response.reasoning_text.delta")]
    Reasoning { delta: String },
    #[serde(rename = "response.output_item.done")]
    ItemDone {
        #[serde(default)]
        output_index: u64,
        item: Item,
    },
    #[serde(rename = "response.completed", alias = "response.incomplete", alias = "response.failed")]
    Ended { response: Response },
    #[serde(rename = "error")]
    Error { code: Option<Code>, message: Option<String>, error: Option<ErrorField> },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item {
    Message {
        #[serde(default)]
        content: Vec<ContentPart>,
    },
    Reasoning {
        #[serde(default)]
        summary: Vec<SummaryPart>,
    },
    FunctionCall {
        call_id: Option<String>,
        name: Option<String>,
        arguments: Option<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ContentPart {
    OutputText {
        #[serde(default)]
        text: String,
    },
    Refusal {
        #[serde(default)]
        refusal: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SummaryPart {
    #[serde(default)]
    pub(crate) text: String,
}

/// A whole response, or its state at the end of a stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Response {
    pub(crate) status: Option<String>,
    pub(crate) error: Option<ErrorField>,
    pub(crate) incomplete_details: Option<IncompleteDetails>,
    pub(crate) output: Option<Vec<Item>>,
    pub(crate) usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct IncompleteDetails {
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Usage {
    #[serde(default)]
    pub(crate) input_tokens: u64,
    pub(crate) input_tokens_details: Option<InputTokensDetails>,
    #[serde(default)]
    pub(crate) output_tokens: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct InputTokensDetails {
    pub(crate) cached_tokens: Option<u64>,
    pub(crate) cache_write_tokens: Option<u64>,
}
