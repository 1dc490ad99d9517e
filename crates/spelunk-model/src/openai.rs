//! The OpenAI chat-completions format: `api.openai.com` and the many compatible servers, above all local ones. Azure
//! has its own URL scheme and key header; OpenRouter reports the cost and forwards cache marks.

use serde_json::{Value, json};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::anthropic::cache_mark;
use crate::caller::{BEARER, Caller, present, request_body, unless_empty};
use crate::http::percent_encoded;
use crate::reasoning_tags::ReasoningTags;
use crate::reply::{Decode, ReplyFault, parse_event, parse_whole, reasoning_delta};
use crate::schema::{SCHEMA_NAME, is_strict};
use crate::tool_drafts::Drafts;
use crate::wire::error::{ErrorField, ProviderError};
use crate::wire::image::PDF_NAME;
use crate::wire::openai as wire;
use crate::wire::tool::{images, sorted};
use crate::{
    Effort, Image, Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Part,
    Prompt, Tool, ToolCall, ToolResult,
};

/// A model called with `POST {base_url}/chat/completions`.
#[derive(Debug, Clone)]
pub struct OpenAiModel {
    caller: Caller,
    path: String,
    /// Whether to limit the output with `max_completion_tokens`, which `api.openai.com` requires and few others
    /// support.
    bounds_completion: bool,
    /// Whether the server forwards cache marks to the model.
    marks_cache: bool,
}

impl OpenAiModel {
    /// Validates the URL and the key; sends nothing.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let mut caller = Caller::open("openai", options, BEARER, "")?;
        let host = caller.endpoint.host.clone();
        let is_openrouter = host == "openrouter.ai";
        if is_openrouter {
            caller = caller.with_header("x-title", "spelunk");
        }
        // OpenRouter caches automatically for all models but Anthropic's.
        let marks_cache = is_openrouter && caller.reference.name.starts_with("anthropic/");
        let bounds_completion = host == "api.openai.com";
        Ok(Self { caller, path: "/chat/completions".to_owned(), bounds_completion, marks_cache })
    }

    /// A model on Azure: `options.base_url` is the URL of the resource, `options.name` the deployment.
    pub fn azure(options: ModelOptions, api_version: &str) -> Result<Self, ModelError> {
        let caller = Caller::open("azure", options, ("api-key", ""), "/openai")?;
        let (name, version) = (percent_encoded(&caller.reference.name), percent_encoded(api_version));
        let path = format!("/openai/deployments/{name}/chat/completions?api-version={version}");
        Ok(Self { caller, path, bounds_completion: true, marks_cache: false })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let system = (!prompt.system.is_empty())
            .then(|| json!({ "role": "system", "content": self.content(&prompt.system, &[], true) }));
        let cached = prompt.cached_messages();
        let said = prompt.messages.iter().enumerate();
        let said = said.flat_map(|(idx, message)| self.said(message, cached.contains(&Some(idx))));
        let tokens_max = if self.bounds_completion { "max_completion_tokens" } else { "max_tokens" };
        let format = |schema: &Value| {
            let named = json!({ "name": SCHEMA_NAME, "schema": schema, "strict": is_strict(schema) });
            json!({ "type": "json_schema", "json_schema": named })
        };
        request_body(
            json!({
                "model": self.caller.reference.name,
                "stream": true,
                "stream_options": { "include_usage": true },
                tokens_max: prompt.output_tokens_max,
                "response_format": prompt.schema.as_deref().map(format),
                "tools": unless_empty(prompt.tools.iter().map(tool)),
                "tool_choice": prompt.must_call.then_some("required"),
                "reasoning_effort": prompt.effort.map(Effort::word),
                "logprobs": prompt.wants_certainty.then_some(true),
                "temperature": prompt.temperature(),
            }),
            "messages",
            system.into_iter().chain(said),
        )
    }

    /// A message, preceded by its tool results: each is a separate message in this format.
    fn said(&self, message: &Message, is_cached: bool) -> Vec<Value> {
        let (calls, results) = sorted(&message.parts);
        let result = |result: &ToolResult| json!({ "role": "tool", "content": result.text, "tool_call_id": result.call_id });
        let mut said: Vec<Value> = results.into_iter().map(result).collect();
        let call = |call: &ToolCall| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        };
        let tool_calls = unless_empty(calls.into_iter().map(call));
        let has_images = images(&message.parts).next().is_some();
        if said.is_empty() || !message.text.is_empty() || tool_calls.is_some() || has_images {
            said.push(present(json!({
                "role": message.speaker.role(),
                "content": self.content(&message.text, &message.parts, is_cached),
                "tool_calls": tool_calls,
            })));
        }
        said
    }

    /// Plain text, unless it is marked for caching or there are images.
    fn content(&self, text: &str, parts: &[Part], is_cached: bool) -> Value {
        let is_marked = is_cached && self.marks_cache && !text.is_empty();
        let image = |image: &Image| match (image.is_pdf(), image.data_url()) {
            (false, url) => json!({ "type": "image_url", "image_url": { "url": url } }),
            (true, url) => json!({ "type": "file", "file": { "filename": PDF_NAME, "file_data": url } }),
        };
        let mut content: Vec<Value> = images(parts).map(image).collect();
        if content.is_empty() && !is_marked {
            return text.into();
        }
        let cache_control = is_marked.then(cache_mark);
        content.push(present(json!({ "type": "text", "text": text, "cache_control": cache_control })));
        content.into()
    }
}

impl Model for OpenAiModel {
    fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    fn facts(&self) -> ModelFacts {
        let facts = self.caller.facts;
        // The other servers with this format take no files.
        let takes_files = matches!(self.caller.reference.provider.as_str(), "openai" | "azure");
        ModelFacts { reads_pdf: facts.reads_pdf && takes_files, ..facts }
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.caller.stream(&self.path, (prompt, call), self.body(prompt), Decoder::default())
    }
}

fn tool(tool: &Tool) -> Value {
    let Tool { name, description, schema } = tool;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}

/// Decodes chunks. The finish reason comes before the usage, and the usage before the end mark, so the end is held
/// back. Either mark ends a reply: some servers send no `[DONE]`, some no finish reason.
#[derive(Debug, Default)]
struct Decoder {
    stop: Option<StopReason>,
    has_refused: bool,
    usage: Option<Usage>,
    think: ReasoningTags,
    drafts: Drafts,
    /// The logarithm of the probability of the least likely token of the answer.
    logprob_min: Option<f64>,
}

impl Decoder {
    fn done(&mut self, stop: StopReason) -> Vec<ModelDelta> {
        let stop = if self.has_refused { StopReason::Filtered } else { stop };
        let mut deltas = self.think.finish();
        deltas.extend(self.drafts.finish_all());
        deltas.extend(self.logprob_min.map(|logprob| ModelDelta::Certainty(permille(logprob))));
        deltas.push(ModelDelta::Done { stop, usage: self.usage });
        deltas
    }

    fn take(
        &mut self,
        said: wire::MessageContent,
        finish_reason: Option<&str>,
        logprobs: Option<wire::Logprobs>,
    ) -> Result<Vec<ModelDelta>, ReplyFault> {
        let mut deltas = Vec::new();
        deltas.extend(said.reasoning_content.or(said.reasoning).and_then(reasoning_delta));
        if let Some(text) = said.content.filter(|text| !text.is_empty()) {
            deltas.extend(self.think.push(text));
        }
        // Reasoning does not count.
        if deltas.iter().any(|delta| matches!(delta, ModelDelta::Text(_))) {
            let tokens = logprobs.and_then(|logprobs| logprobs.content).unwrap_or_default();
            let logprobs = tokens.into_iter().filter_map(|token| token.logprob);
            self.logprob_min = logprobs.chain(self.logprob_min).reduce(f64::min);
        }
        for (call, index) in said.tool_calls.unwrap_or_default().into_iter().zip(0..) {
            let index = call.index.unwrap_or(index);
            let (name, arguments) =
                call.function.map_or((None, None), |function| (function.name, function.arguments));
            let arguments = match arguments {
                Some(Value::String(text)) => text,
                Some(Value::Null) | None => String::new(),
                Some(json @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
                    json.to_string()
                }
            };
            self.drafts.add(index, call.id, name, &arguments)?;
        }
        if let Some(refusal) = said.refusal.filter(|text| !text.is_empty()) {
            self.has_refused = true;
            deltas.push(ModelDelta::Text(refusal));
        }
        if let Some(reason) = finish_reason {
            self.stop = Some(stop_reason(reason));
        }
        Ok(deltas)
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        if data.trim() == "[DONE]" {
            let stop = self.stop.unwrap_or(StopReason::Other);
            return Ok(self.done(stop));
        }
        let chunk: wire::Chunk = parse_event(data)?;
        if let Some(error) = chunk.error {
            return Err(refused(error));
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage_of(usage));
        }
        let Some(choices) = chunk.choices else {
            return Err(ReplyFault::Malformed("an event has no `choices`".to_owned()));
        };
        // Only one choice was requested.
        match choices.into_iter().next() {
            Some(choice) => {
                let said = choice.delta.unwrap_or_default();
                self.take(said, choice.finish_reason.as_deref(), choice.logprobs)
            }
            None => Ok(Vec::new()),
        }
    }

    fn end(&mut self) -> Result<Vec<ModelDelta>, ReplyFault> {
        let stop = self.stop.ok_or(ReplyFault::Cut)?;
        Ok(self.done(stop))
    }

    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let whole: wire::FullReply = parse_whole(body)?;
        if let Some(error) = whole.error {
            return Err(refused(error));
        }
        let Some(choice) = whole.choices.and_then(|choices| choices.into_iter().next()) else {
            return Err(ReplyFault::Malformed("the reply has no choice".to_owned()));
        };
        self.usage = whole.usage.map(usage_of);
        let mut deltas = self.take(choice.message, choice.finish_reason.as_deref(), choice.logprobs)?;
        let stop = self.stop.unwrap_or(StopReason::Other);
        deltas.extend(self.done(stop));
        Ok(deltas)
    }
}

fn usage_of(usage: wire::Usage) -> Usage {
    let (cached, written) = usage
        .prompt_tokens_details
        .map_or((None, None), |details| (details.cached_tokens, details.cache_write_tokens));
    Usage {
        input_tokens: usage.prompt_tokens,
        cached_tokens: cached.unwrap_or(0),
        cache_written_tokens: written.unwrap_or(0),
        output_tokens: usage.completion_tokens,
        cost_microusd: usage.cost.map_or(0, microusd),
    }
}

/// A cost reported by the provider, rounded up; an invalid value counts as 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from float saturates")]
fn microusd(dollars: f64) -> u64 {
    (dollars * 1_000_000.0).ceil() as u64
}

/// The probability for its logarithm, in thousandths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from float saturates")]
fn permille(logprob: f64) -> u16 {
    (logprob.min(0.0).exp() * 1000.0).round() as u16
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::Finished,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Filtered,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        _ => StopReason::Other,
    }
}

/// An error inside a 200. Some servers use the status as the code; otherwise it is derived from known names.
pub(crate) fn refused(error: ErrorField) -> ReplyFault {
    let said = ProviderError::from(error);
    let status = said.codes.iter().find_map(|code| match code.as_str() {
        "rate_limit_exceeded" | "rate_limit_error" | "insufficient_quota" => Some(429),
        "overloaded" | "overloaded_error" | "server_is_overloaded" | "slow_down" => Some(503),
        "invalid_api_key" | "authentication_error" => Some(401),
        "model_not_found" | "not_found_error" => Some(404),
        "context_length_exceeded"
        | "exceed_context_size_error"
        | "invalid_request_error"
        | "invalid_prompt" => Some(400),
        other => other.parse().ok().filter(|status| (400..600).contains(status)),
    });
    ReplyFault::Refused(status.unwrap_or(500), said)
}

#[cfg(test)]
mod tests;
