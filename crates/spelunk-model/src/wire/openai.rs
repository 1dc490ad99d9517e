//! OpenAI chat completions: the request, the chunks of a stream, and the whole reply.

use serde::{Deserialize, Serialize};

use super::error::ErrorField;

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: Vec<RequestMessage<'a>>,
    pub(crate) stream: bool,
    pub(crate) stream_options: StreamOptions,
    /// What `api.openai.com` wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_completion_tokens: Option<u64>,
    /// What everyone else understands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
}

#[derive(Debug, Serialize)]
pub(crate) struct StreamOptions {
    pub(crate) include_usage: bool,
}

/// One event of a stream.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk {
    #[serde(default)]
    pub(crate) choices: Option<Vec<ChunkChoice>>,
    #[serde(default)]
    pub(crate) usage: Option<Usage>,
    #[serde(default)]
    pub(crate) error: Option<ErrorField>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ChunkChoice {
    #[serde(default)]
    pub(crate) delta: Option<Said>,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
}

/// A reply that was not streamed.
#[derive(Debug, Deserialize)]
pub(crate) struct Whole {
    #[serde(default)]
    pub(crate) choices: Option<Vec<WholeChoice>>,
    #[serde(default)]
    pub(crate) usage: Option<Usage>,
    #[serde(default)]
    pub(crate) error: Option<ErrorField>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WholeChoice {
    pub(crate) message: Said,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
}

/// What a delta or a message says. Reasoning has two names: vLLM and `DeepSeek` use the first, OpenRouter the second.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    pub(crate) content: Option<String>,
    #[serde(default)]
    pub(crate) reasoning_content: Option<String>,
    #[serde(default)]
    pub(crate) reasoning: Option<String>,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Usage {
    #[serde(default)]
    pub(crate) prompt_tokens: u64,
    #[serde(default)]
    pub(crate) completion_tokens: u64,
    #[serde(default)]
    pub(crate) prompt_tokens_details: Option<PromptTokensDetails>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct PromptTokensDetails {
    #[serde(default)]
    pub(crate) cached_tokens: Option<u64>,
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
