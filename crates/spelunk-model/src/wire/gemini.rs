//! Google Gemini: the request, and the responses that a stream is made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ErrorField;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system_instruction: Option<RequestContent<'a>>,
    pub(crate) contents: Vec<RequestContent<'a>>,
    pub(crate) generation_config: GenerationConfig<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<RequestTools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_config: Option<ToolConfig>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolConfig {
    pub(crate) function_calling_config: FunctionCallingConfig,
}

#[derive(Debug, Serialize)]
pub(crate) struct FunctionCallingConfig {
    pub(crate) mode: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    pub(crate) parts: Vec<RequestPart<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inline_data: Option<InlineData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) function_call: Option<RequestCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) function_response: Option<RequestCallResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlineData {
    pub(crate) mime_type: &'static str,
    pub(crate) data: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) args: Value,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestCallResponse<'a> {
    pub(crate) name: &'a str,
    pub(crate) response: CallResponse<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CallResponse<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    pub(crate) max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking_config: Option<ThinkingConfig>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThinkingConfig {
    pub(crate) thinking_level: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestTools<'a> {
    pub(crate) function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionDeclaration<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters_json_schema: &'a Value,
}

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
