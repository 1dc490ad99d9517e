//! Anthropic messages: the request, the events of a stream, and the whole reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ErrorField;

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) system: Vec<RequestBlock<'a>>,
    pub(crate) messages: Vec<RequestMessage<'a>>,
    pub(crate) stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<RequestTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<AnyTool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Content<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<RequestBlock<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum RequestBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource,
    },
    Document {
        source: ImageSource,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "base64")]
pub(crate) struct ImageSource {
    pub(crate) media_type: &'static str,
    pub(crate) data: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A cache mark: everything up to here is worth caching.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
pub(crate) struct CacheControl {}

/// The model must call one of the tools.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "any")]
pub(crate) struct AnyTool {}

#[derive(Debug, Serialize)]
pub(crate) struct RequestTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) input_schema: &'a Value,
}

#[derive(Debug, Serialize)]
pub(crate) struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<OutputFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effort: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "json_schema")]
pub(crate) struct OutputFormat {
    pub(crate) schema: Value,
}

/// One event of a stream. The provider may add types at any time.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    MessageStart {
        message: StartedMessage,
    },
    ContentBlockStart {
        #[serde(default)]
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        #[serde(default)]
        index: u64,
        delta: BlockDelta,
    },
    ContentBlockStop {
        #[serde(default)]
        index: u64,
    },
    MessageDelta {
        delta: MessageDelta,
        usage: Option<Usage>,
    },
    MessageStop,
    Error {
        error: ErrorField,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct StartedMessage {
    pub(crate) usage: Option<Usage>,
}

/// A block, at its start in a stream or complete.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
    },
    ToolUse {
        id: Option<String>,
        name: Option<String>,
        /// Empty at the start of a stream.
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum BlockDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    InputJsonDelta {
        #[serde(default)]
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MessageDelta {
    pub(crate) stop_reason: Option<String>,
}

/// Cumulative counts; a later event contains only what has changed.
#[derive(Debug, Clone, Copy, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the provider's names")]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<u64>,
    pub(crate) cache_creation_input_tokens: Option<u64>,
    pub(crate) cache_read_input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

/// A reply that was not streamed, or an error instead of one.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FullReply {
    Message { content: Vec<Block>, stop_reason: Option<String>, usage: Option<Usage> },
    Error { error: ErrorField },
}
