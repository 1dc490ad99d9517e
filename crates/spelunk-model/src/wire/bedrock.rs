//! AWS Bedrock converse: the events of a stream, and the whole reply.

use serde::Deserialize;
use serde_json::Value;

/// One event of a stream: the name in its frame, and its payload.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    ContentBlockStart {
        #[serde(default)]
        content_block_index: u64,
        start: Option<Start>,
    },
    ContentBlockDelta {
        #[serde(default)]
        content_block_index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        #[serde(default)]
        content_block_index: u64,
    },
    MessageStop {
        stop_reason: Option<String>,
    },
    Metadata {
        usage: Option<Usage>,
    },
    ThrottlingException(Exception),
    ServiceUnavailableException(Exception),
    InternalServerException(Exception),
    ModelStreamErrorException(Exception),
    ModelTimeoutException(Exception),
    ValidationException(Exception),
    AccessDeniedException(Exception),
    ResourceNotFoundException(Exception),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Exception {
    #[serde(alias = "Message")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    pub(crate) tool_use: Option<ToolUse>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delta {
    pub(crate) text: Option<String>,
    pub(crate) reasoning_content: Option<ReasoningContent>,
    pub(crate) tool_use: Option<ToolUseDelta>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReasoningContent {
    /// In a stream.
    pub(crate) text: Option<String>,
    /// In a whole reply.
    pub(crate) reasoning_text: Option<ReasoningText>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReasoningText {
    pub(crate) text: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ToolUseDelta {
    #[serde(default)]
    pub(crate) input: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ToolUse {
    #[serde(rename = "toolUseId")]
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    /// Only in a whole reply.
    pub(crate) input: Option<Value>,
}

/// A reply that was not streamed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FullReply {
    pub(crate) output: Output,
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    pub(crate) message: OutputMessage,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OutputMessage {
    #[serde(default)]
    pub(crate) content: Vec<Block>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Block {
    pub(crate) text: Option<String>,
    pub(crate) reasoning_content: Option<ReasoningContent>,
    pub(crate) tool_use: Option<ToolUse>,
}

/// Cached tokens are not included in the input count.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the provider's names")]
pub(crate) struct Usage {
    #[serde(default)]
    pub(crate) input_tokens: u64,
    #[serde(default)]
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_input_tokens: Option<u64>,
    pub(crate) cache_write_input_tokens: Option<u64>,
}
