//! OpenAI responses: the request, the events of a stream, and the whole reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{Code, ErrorField};

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) instructions: &'a str,
    pub(crate) input: Vec<InputItem<'a>>,
    pub(crate) max_output_tokens: u64,
    pub(crate) stream: bool,
    /// The provider stores nothing: the journal does.
    pub(crate) store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<TextConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<RequestTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Reasoning {
    pub(crate) effort: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum InputItem<'a> {
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
    #[serde(untagged)]
    Message {
        role: &'static str,
        content: Content<'a>,
    },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(&'a str),
    /// Only if there are images.
    Parts(Vec<InputPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum InputPart<'a> {
    #[serde(rename = "input_text")]
    Text { text: &'a str },
    #[serde(rename = "input_image")]
    Image {
        image_url: String,
        /// Required; `auto` is what the provider would choose.
        detail: &'static str,
    },
    #[serde(rename = "input_file")]
    File {
        filename: &'static str,
        /// A URL that contains it.
        file_data: String,
    },
}

#[derive(Debug, Serialize)]
pub(crate) struct TextConfig<'a> {
    pub(crate) format: TextFormat<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "json_schema")]
pub(crate) struct TextFormat<'a> {
    pub(crate) name: &'static str,
    pub(crate) schema: &'a Value,
    pub(crate) strict: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
pub(crate) struct RequestTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Value,
    pub(crate) strict: bool,
}

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

/// One output item of the model.
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
