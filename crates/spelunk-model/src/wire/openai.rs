//! OpenAI chat completions: the chunks of a stream, and the whole reply.

use serde::Deserialize;
use serde_json::Value;

use super::error::ErrorField;

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
