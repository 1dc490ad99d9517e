//! Google Gemini: the responses that a stream is made of.

use serde::Deserialize;
use serde_json::Value;

use super::error::ErrorField;

/// One response. A stream has many, each with more of the text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    pub(crate) candidates: Option<Vec<Candidate>>,
    pub(crate) prompt_feedback: Option<PromptFeedback>,
    pub(crate) usage_metadata: Option<Usage>,
    pub(crate) error: Option<ErrorField>,
}

/// A reply that was not streamed: one response, or a list of them if the server ignores the request for events.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum FullReply {
    List(Vec<Response>),
    One(Box<Response>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate {
    pub(crate) content: Option<Content>,
    pub(crate) finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Content {
    pub(crate) parts: Option<Vec<Part>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    pub(crate) text: Option<String>,
    pub(crate) thought: Option<bool>,
    pub(crate) thought_signature: Option<String>,
    pub(crate) function_call: Option<FunctionCall>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FunctionCall {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) args: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptFeedback {
    pub(crate) block_reason: Option<String>,
}

/// Thoughts are not included in the candidate count; cached tokens are included in the prompt count.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the provider's names")]
pub(crate) struct Usage {
    pub(crate) prompt_token_count: Option<u64>,
    pub(crate) cached_content_token_count: Option<u64>,
    pub(crate) candidates_token_count: Option<u64>,
    pub(crate) thoughts_token_count: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GeminiList {
    pub(crate) models: Vec<GeminiListed>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GeminiListed {
    pub(crate) name: String,
}
