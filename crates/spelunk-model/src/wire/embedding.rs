//! Embeddings: the requests of OpenAI and Ollama, and their replies.

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) input: &'a [String],
    /// Some servers would otherwise send base64; Ollama does not support the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encoding_format: Option<&'static str>,
}

/// The reply in the OpenAI format. The order of the rows is not guaranteed.
#[derive(Debug, Deserialize)]
pub(crate) struct OpenAiReply {
    pub(crate) data: Vec<Row>,
    pub(crate) usage: Option<OpenAiUsage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) index: Option<usize>,
    pub(crate) embedding: Vec<f32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OpenAiUsage {
    #[serde(default)]
    pub(crate) prompt_tokens: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OllamaReply {
    pub(crate) embeddings: Vec<Vec<f32>>,
    pub(crate) prompt_eval_count: Option<u64>,
}
