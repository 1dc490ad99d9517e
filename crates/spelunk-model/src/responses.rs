//! The OpenAI responses format, the best one for OpenAI's newer models. Nothing is stored at the
//! provider; a conversation is sent whole, and its prefix is cached automatically.

use serde_json::{Value, json};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::caller::{BEARER, Caller, request_body, unless_empty};
use crate::openai::refused;
use crate::reply::{Decode, ReplyFault, parse_event, parse_whole, reasoning_delta, text_delta};
use crate::schema::{SCHEMA_NAME, is_strict};
use crate::tool_drafts::Drafts;
use crate::wire::error::ErrorField;
use crate::wire::image::PDF_NAME;
use crate::wire::responses as wire;
use crate::wire::tool::{images, sorted};
use crate::{
    Image, Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Prompt, Tool,
    ToolCall, ToolResult,
};

/// The provider rejects a lower output limit.
const OUTPUT_TOKENS_MIN: u64 = 16;

/// A model called with `POST {base_url}/responses`.
#[derive(Debug, Clone)]
pub struct ResponsesModel {
    caller: Caller,
}

impl ResponsesModel {
    /// Validates the URL and the key; sends nothing.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        Ok(Self { caller: Caller::open("openai-responses", options, BEARER, "")? })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let format = |schema: &Value| json!({ "type": "json_schema", "name": SCHEMA_NAME, "schema": schema, "strict": is_strict(schema) });
        request_body(
            json!({
                "model": self.caller.reference.name,
                "instructions": (!prompt.system.is_empty()).then_some(&prompt.system),
                "max_output_tokens": prompt.output_tokens_max.max(OUTPUT_TOKENS_MIN),
                "stream": true,
                // The provider stores nothing: the journal does.
                "store": false,
                "text": prompt.schema.as_deref().map(|schema| json!({ "format": format(schema) })),
                "tools": unless_empty(prompt.tools.iter().map(tool)),
                "tool_choice": prompt.must_call.then_some("required"),
                "reasoning": prompt.effort.map(|effort| json!({ "effort": effort.word() })),
                "temperature": prompt.temperature(),
            }),
            "input",
            prompt.messages.iter().flat_map(items),
        )
    }
}

impl Model for ResponsesModel {
    fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    fn facts(&self) -> ModelFacts {
        self.caller.facts
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.caller.stream("/responses", (prompt, call), self.body(prompt), Decoder::default())
    }
}

fn tool(tool: &Tool) -> Value {
    let Tool { name, description, schema } = tool;
    let strict = is_strict(schema);
    json!({ "type": "function", "name": name, "description": description, "parameters": schema, "strict": strict })
}

/// A message is an item, as is each call and each result.
fn items(message: &Message) -> Vec<Value> {
    let (calls, results) = sorted(&message.parts);
    let result = |result: &ToolResult| json!({ "type": "function_call_output", "call_id": result.call_id, "output": result.text });
    let mut items: Vec<Value> = results.into_iter().map(result).collect();
    if !message.text.is_empty() || message.parts.is_empty() {
        items.push(json!({ "role": message.speaker.role(), "content": content(message) }));
    }
    items.extend(calls.into_iter().map(|ToolCall { id, name, arguments, .. }| {
        json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
    }));
    items
}

/// Plain text, unless there are images.
fn content(message: &Message) -> Value {
    let image = |image: &Image| match (image.is_pdf(), image.data_url()) {
        // The detail is required; `auto` is what the provider would choose.
        (false, url) => json!({ "type": "input_image", "image_url": url, "detail": "auto" }),
        (true, url) => json!({ "type": "input_file", "filename": PDF_NAME, "file_data": url }),
    };
    let mut parts: Vec<Value> = images(&message.parts).map(image).collect();
    if parts.is_empty() {
        return message.text.as_str().into();
    }
    parts.push(json!({ "type": "input_text", "text": message.text }));
    parts.into()
}

/// Decodes events. The last one repeats the whole reply; only what no earlier event contained is taken from it.
#[derive(Debug, Default)]
struct Decoder {
    has_text: bool,
    has_refused: bool,
    n_calls: usize,
    drafts: Drafts,
}

impl Decoder {
    fn text(&mut self, text: String) -> Option<ModelDelta> {
        self.has_text = true;
        text_delta(text)
    }

    /// A complete item; its text counts only if it was not streamed.
    fn item(
        &mut self,
        index: u64,
        item: wire::Item,
        takes_text: bool,
    ) -> Result<Vec<ModelDelta>, ReplyFault> {
        let mut deltas = Vec::new();
        match item {
            wire::Item::FunctionCall { call_id, name, arguments } => {
                self.n_calls += 1;
                self.drafts.add(index, call_id, name, arguments.as_deref().unwrap_or_default())?;
                deltas.extend(self.drafts.finish(index));
            }
            wire::Item::Message { content } if takes_text => {
                for part in content {
                    match part {
                        wire::ContentPart::OutputText { text } => deltas.extend(self.text(text)),
                        wire::ContentPart::Refusal { refusal } => {
                            self.has_refused = true;
                            deltas.extend(self.text(refusal));
                        }
                        wire::ContentPart::Other => {}
                    }
                }
            }
            wire::Item::Reasoning { summary } if takes_text => {
                deltas.extend(summary.into_iter().filter_map(|part| reasoning_delta(part.text)));
            }
            wire::Item::Message { .. } | wire::Item::Reasoning { .. } | wire::Item::Other => {}
        }
        Ok(deltas)
    }

    fn ended(&mut self, response: wire::Response) -> Result<Vec<ModelDelta>, ReplyFault> {
        if let Some(error) = response.error {
            return Err(refused(error));
        }
        let status = response.status.as_deref().unwrap_or_default();
        if status == "failed" {
            return Err(refused(ErrorField::Text("the response failed".to_owned())));
        }
        let (is_streamed, has_calls) = (self.has_text, self.n_calls > 0);
        let mut deltas = Vec::new();
        for (index, item) in (0..).zip(response.output.unwrap_or_default()) {
            let was_told = has_calls && matches!(item, wire::Item::FunctionCall { .. });
            if !was_told {
                deltas.extend(self.item(index, item, !is_streamed)?);
            }
        }
        let reason = response.incomplete_details.and_then(|details| details.reason);
        let stop = match (status, reason.as_deref()) {
            _ if self.has_refused => StopReason::Filtered,
            (_, Some("max_output_tokens")) => StopReason::Length,
            (_, Some("content_filter")) => StopReason::Filtered,
            ("completed", None) if self.n_calls == 0 => StopReason::Finished,
            ("completed", None) => StopReason::ToolUse,
            _ => StopReason::Other,
        };
        deltas.push(ModelDelta::Done { stop, usage: response.usage.map(usage_of) });
        Ok(deltas)
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        // Some compatible servers end the stream like chat completions.
        if data.trim() == "[DONE]" {
            return Ok(Vec::new());
        }
        let event: wire::Event = parse_event(data)?;
        let delta = match event {
            wire::Event::Text { delta } => self.text(delta),
            wire::Event::Refusal { delta } => {
                self.has_refused = true;
                self.text(delta)
            }
            wire::Event::Reasoning { delta } => reasoning_delta(delta),
            wire::Event::ItemDone { output_index, item } => return self.item(output_index, item, false),
            wire::Event::Ended { response } => return self.ended(response),
            wire::Event::Error { code, message, error } => {
                return Err(refused(error.unwrap_or_else(|| ErrorField::of(code, message))));
            }
            wire::Event::Other => None,
        };
        Ok(delta.into_iter().collect())
    }

    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let response: wire::Response = parse_whole(body)?;
        if response.output.is_none() && response.error.is_none() {
            return Err(ReplyFault::Malformed("the reply has no `output`".to_owned()));
        }
        self.ended(response)
    }
}

fn usage_of(usage: wire::Usage) -> Usage {
    let (cached, written) = usage
        .input_tokens_details
        .map_or((None, None), |details| (details.cached_tokens, details.cache_write_tokens));
    Usage {
        input_tokens: usage.input_tokens,
        cached_tokens: cached.unwrap_or(0),
        cache_written_tokens: written.unwrap_or(0),
        output_tokens: usage.output_tokens,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
