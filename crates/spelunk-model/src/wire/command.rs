//! The format for external commands, which is our own: a prompt as one JSON document, a reply as JSON lines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    pub(crate) messages: Vec<RequestMessage<'a>>,
    pub(crate) output_tokens_max: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<RequestTool<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) must_call: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) images: Vec<RequestImage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_results: Vec<RequestResult<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestImage {
    pub(crate) media_type: &'static str,
    /// In base64.
    pub(crate) data: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestResult<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    pub(crate) is_error: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) schema: &'a Value,
}

/// A tool call, in both directions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// More of the answer.
    Text(String),
    Reasoning(String),
    ToolCall(Call),
    /// The last line; a command that exits successfully without it has finished.
    Done(Done),
    /// The command could not answer.
    Error(String),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Done {
    pub(crate) stop: Option<spelunk_types::StopReason>,
    pub(crate) usage: Option<spelunk_types::Usage>,
}
