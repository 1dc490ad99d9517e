//! OpenAI chat completions: the request, the chunks of a stream, and the whole reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::anthropic::CacheControl;
use super::error::ErrorField;

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: Vec<RequestMessage<'a>>,
    pub(crate) stream: bool,
    pub(crate) stream_options: StreamOptions,
    /// Required by `api.openai.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_completion_tokens: Option<u64>,
    /// Supported by all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<RequestTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) logprobs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct RequestMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Content<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<RequestToolCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(&'a str),
    /// Only if the text is marked for caching or there are images.
    Parts(Vec<ContentPart<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Text("")
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ContentPart<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ImageUrl {
        image_url: ImageUrl,
    },
    File {
        file: File,
    },
}

#[derive(Debug, Serialize)]
pub(crate) struct File {
    pub(crate) filename: &'static str,
    /// A URL that contains it.
    pub(crate) file_data: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ImageUrl {
    pub(crate) url: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestToolCall<'a> {
    pub(crate) id: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: RequestFunctionCall<'a>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestFunctionCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "json_schema")]
pub(crate) struct ResponseFormat<'a> {
    pub(crate) json_schema: NamedSchema<'a>,
}

#[derive(Debug, Serialize)]
pub(crate) struct NamedSchema<'a> {
    pub(crate) name: &'static str,
    pub(crate) schema: &'a Value,
    pub(crate) strict: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
pub(crate) struct RequestTool<'a> {
    pub(crate) function: RequestFunction<'a>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestFunction<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Value,
}

#[derive(Debug, Serialize)]
pub(crate) struct StreamOptions {
    pub(crate) include_usage: bool,
}

/// One event of a stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk {
    pub(crate) choices: Option<Vec<ChunkChoice>>,
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<ErrorField>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ChunkChoice {
    pub(crate) delta: Option<MessageContent>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) logprobs: Option<Logprobs>,
}

/// A reply that was not streamed.
#[derive(Debug, Deserialize)]
pub(crate) struct FullReply {
    pub(crate) choices: Option<Vec<FullChoice>>,
    pub(crate) usage: Option<Usage>,
    pub(crate) error: Option<ErrorField>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FullChoice {
    pub(crate) message: MessageContent,
    pub(crate) finish_reason: Option<String>,
    pub(crate) logprobs: Option<Logprobs>,
}

/// The logarithms of the token probabilities of a delta or a message.
#[derive(Debug, Deserialize)]
pub(crate) struct Logprobs {
    pub(crate) content: Option<Vec<TokenLogprob>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TokenLogprob {
    pub(crate) logprob: Option<f64>,
}

/// The content of a delta or a message. Reasoning has two names: vLLM and `DeepSeek` use the first, OpenRouter the
/// second.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct MessageContent {
    pub(crate) content: Option<String>,
    pub(crate) reasoning_content: Option<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) refusal: Option<String>,
    pub(crate) tool_calls: Option<Vec<ToolCallFragment>>,
}

/// A tool call or a fragment of one. Only fragments have an index.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCallFragment {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) function: Option<FunctionFragment>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FunctionFragment {
    pub(crate) name: Option<String>,
    /// A string, though some servers send the JSON itself.
    pub(crate) arguments: Option<Value>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Usage {
    #[serde(default)]
    pub(crate) prompt_tokens: u64,
    #[serde(default)]
    pub(crate) completion_tokens: u64,
    pub(crate) prompt_tokens_details: Option<PromptTokensDetails>,
    /// Dollars, reported by OpenRouter.
    pub(crate) cost: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct PromptTokensDetails {
    pub(crate) cached_tokens: Option<u64>,
    /// Reported for models that charge for it.
    pub(crate) cache_write_tokens: Option<u64>,
}

/// The list of models. Strict: a web page or another service on a well-known port is not a model server.
#[derive(Debug, Deserialize)]
pub(crate) struct ModelList {
    pub(crate) data: Vec<ListedModel>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ListedModel {
    pub(crate) id: String,
}
