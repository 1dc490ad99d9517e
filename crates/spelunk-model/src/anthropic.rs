//! The Anthropic messages format. The system text and the last turns are marked for the provider's cache, because every
//! call of a run starts with the same system text and a transcript only grows.

use serde_json::{Value, json};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::caller::{Caller, present, request_body, unless_empty};
use crate::reply::{Decode, ReplyFault, parse_event, parse_whole, reasoning_delta, text_delta};
use crate::schema::closed;
use crate::tool_drafts::Drafts;
use crate::wire::anthropic as wire;
use crate::wire::error::{ErrorField, ProviderError};
use crate::wire::tool::{images, sorted};
use crate::{
    Effort, Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Prompt, Tool,
    ToolResult,
};

pub(crate) const API_VERSION: &str = "2026-10-21";

/// A model called with `POST {base_url}/v1/messages`.
#[derive(Debug, Clone)]
pub struct AnthropicModel {
    caller: Caller,
}

impl AnthropicModel {
    /// Validates the URL, with or without a trailing `/v1`, and the key; sends nothing.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let caller = Caller::open("anthropic", options, ("x-api-key", ""), "/v1")?;
        Ok(Self { caller: caller.with_header("anthropic-version", API_VERSION) })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let cached = prompt.cached_messages();
        let said = prompt.messages.iter().enumerate();
        // The provider rejects an empty block.
        let system = (!prompt.system.is_empty())
            .then(|| [json!({ "type": "text", "text": prompt.system, "cache_control": cache_mark() })]);
        // The provider rejects open objects.
        let format =
            prompt.schema.as_deref().map(|schema| json!({ "type": "json_schema", "schema": closed(schema) }));
        let output_config = present(json!({ "format": format, "effort": prompt.effort.map(Effort::word) }));
        request_body(
            json!({
                "model": self.caller.reference.name,
                "max_tokens": prompt.output_tokens_max,
                "system": system,
                "stream": true,
                "tools": unless_empty(prompt.tools.iter().map(tool)),
                "tool_choice": prompt.must_call.then(|| json!({ "type": "any" })),
                "output_config": (output_config != json!({})).then_some(output_config),
                "temperature": prompt.temperature(),
            }),
            "messages",
            said.map(|(idx, message)| said_by(message, cached.contains(&Some(idx)))),
        )
    }
}

impl Model for AnthropicModel {
    fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    fn facts(&self) -> ModelFacts {
        self.caller.facts
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.caller.stream("/v1/messages", (prompt, call), self.body(prompt), Decoder::new())
    }
}

/// A cache mark: everything up to here is worth caching.
pub(crate) fn cache_mark() -> Value {
    json!({ "type": "ephemeral" })
}

fn tool(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
}

/// A message: plain text if that is all, otherwise blocks. The cache mark goes on the last block.
fn said_by(message: &Message, is_cached: bool) -> Value {
    let role = message.speaker.role();
    // An empty text cannot be marked.
    if message.parts.is_empty() && (!is_cached || message.text.is_empty()) {
        return json!({ "role": role, "content": message.text });
    }
    let (calls, results) = sorted(&message.parts);
    // Results come first: the provider requires them right after their calls.
    let mut blocks: Vec<Value> = results.into_iter().map(tool_result).collect();
    blocks.extend(images(&message.parts).map(|image| {
        let source = json!({ "type": "base64", "media_type": image.media_type, "data": image.base64() });
        json!({ "type": if image.is_pdf() { "document" } else { "image" }, "source": source })
    }));
    if !message.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": message.text }));
    }
    blocks.extend(
        calls.into_iter().map(
            |call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.object() }),
        ),
    );
    if let Some(block) = blocks
        .last_mut()
        .filter(|block| is_cached && (block["type"] == "text" || block["type"] == "tool_result"))
    {
        block["cache_control"] = cache_mark();
    }
    json!({ "role": role, "content": blocks })
}

fn tool_result(result: &ToolResult) -> Value {
    present(json!({
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.text,
        "is_error": result.is_error.then_some(true),
    }))
}

/// Decodes events. Usage counts are cumulative: later ones replace earlier ones.
#[derive(Debug)]
struct Decoder {
    stop: StopReason,
    usage: Option<Usage>,
    drafts: Drafts,
}

impl Decoder {
    fn new() -> Self {
        Self { stop: StopReason::Other, usage: None, drafts: Drafts::default() }
    }

    fn count(&mut self, usage: Option<wire::Usage>) {
        let Some(usage) = usage else { return };
        let counted = self.usage.get_or_insert_default();
        // The three kinds of input come together, and the first is always present.
        if let Some(fresh) = usage.input_tokens {
            let cached = usage.cache_read_input_tokens.unwrap_or(0);
            let written = usage.cache_creation_input_tokens.unwrap_or(0);
            counted.input_tokens = fresh.saturating_add(cached).saturating_add(written);
            counted.cached_tokens = cached;
            counted.cache_written_tokens = written;
        }
        if let Some(output) = usage.output_tokens {
            counted.output_tokens = output;
        }
    }

    fn done(&mut self) -> Vec<ModelDelta> {
        let mut deltas = self.drafts.finish_all();
        deltas.push(ModelDelta::Done { stop: self.stop, usage: self.usage });
        deltas
    }

    fn begin(&mut self, index: u64, block: wire::Block) -> Result<Option<ModelDelta>, ReplyFault> {
        match block {
            wire::Block::ToolUse { id, name, input } => {
                let arguments = match &input {
                    Value::Object(fields) if !fields.is_empty() => input.to_string(),
                    Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
                    Value::String(_) | Value::Array(_) => input.to_string(),
                };
                self.drafts.add(index, id, name, &arguments)?;
                Ok(None)
            }
            wire::Block::Text { text } => Ok(text_delta(text)),
            wire::Block::Thinking { thinking } => Ok(reasoning_delta(thinking)),
            wire::Block::Other => Ok(None),
        }
    }

    fn go_on(&mut self, index: u64, delta: wire::BlockDelta) -> Result<Option<ModelDelta>, ReplyFault> {
        match delta {
            wire::BlockDelta::TextDelta { text } => Ok(text_delta(text)),
            wire::BlockDelta::ThinkingDelta { thinking } => Ok(reasoning_delta(thinking)),
            wire::BlockDelta::InputJsonDelta { partial_json } => {
                self.drafts.go_on(index, &partial_json)?;
                Ok(None)
            }
            wire::BlockDelta::Other => Ok(None),
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let event: wire::Event = parse_event(data)?;
        let delta = match event {
            wire::Event::MessageStart { message } => {
                self.count(message.usage);
                None
            }
            wire::Event::ContentBlockStart { index, content_block } => self.begin(index, content_block)?,
            wire::Event::ContentBlockDelta { index, delta } => self.go_on(index, delta)?,
            wire::Event::ContentBlockStop { index } => self.drafts.finish(index),
            wire::Event::MessageDelta { delta, usage } => {
                self.count(usage);
                if let Some(reason) = delta.stop_reason {
                    self.stop = stop_reason(&reason);
                }
                None
            }
            wire::Event::MessageStop => return Ok(self.done()),
            wire::Event::Error { error } => return Err(refused(error)),
            wire::Event::Other => None,
        };
        Ok(delta.into_iter().collect())
    }

    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let whole: wire::FullReply = parse_whole(body)?;
        match whole {
            wire::FullReply::Message { content, stop_reason: reason, usage } => {
                self.count(usage);
                self.stop = reason.as_deref().map_or(StopReason::Other, stop_reason);
                let mut deltas = Vec::new();
                for (index, block) in (0..).zip(content) {
                    deltas.extend(self.begin(index, block)?);
                }
                deltas.extend(self.done());
                Ok(deltas)
            }
            wire::FullReply::Error { error } => Err(refused(error)),
        }
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::Finished,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Filtered,
        "tool_use" => StopReason::ToolUse,
        _ => StopReason::Other,
    }
}

/// An error inside a 200: its type is mapped to a status.
fn refused(error: ErrorField) -> ReplyFault {
    let said = ProviderError::from(error);
    let status = said.codes.iter().find_map(|code| match code.as_str() {
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "billing_error" => Some(402),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        "rate_limit_error" => Some(429),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    });
    ReplyFault::Refused(status.unwrap_or(500), said)
}

#[cfg(test)]
mod tests;
