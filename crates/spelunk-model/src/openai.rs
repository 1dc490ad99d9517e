//! The OpenAI chat-completions format: `api.openai.com` and the many compatible servers, above all local ones. Azure
//! has its own URL scheme and key header; OpenRouter reports the cost and forwards cache marks.

use reqwest::header::{AUTHORIZATION, HeaderName};
use serde_json::Value;
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::caller::{Caller, KeyHeader};
use crate::http::percent_encoded;
use crate::image::PDF_NAME;
use crate::reasoning_tags::ReasoningTags;
use crate::reply::{Decode, ReplyFault, parse_event, parse_whole, reasoning_delta};
use crate::schema::{SCHEMA_NAME, is_strict};
use crate::tool::{images, sorted};
use crate::tool_drafts::Drafts;
use crate::wire::anthropic::CacheControl;
use crate::wire::error::{ErrorField, ProviderError};
use crate::wire::openai as wire;
use crate::{
    Effort, Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Part, Prompt, Tool,
};

/// Spare capacity for a schema and field names: a growing body would be copied each time it doubles.
const ROOM_BYTES: usize = 2048;

/// A model called with `POST {base_url}/chat/completions`.
#[derive(Debug, Clone)]
pub struct OpenAiModel {
    caller: Caller,
    path: String,
    /// Whether to limit the output with `max_completion_tokens`, which only some servers support.
    bounds_completion: bool,
    /// Whether the server forwards cache marks to the model.
    marks_cache: bool,
}

impl OpenAiModel {
    /// Validates the URL and the key; sends nothing.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let mut caller =
            Caller::open("openai", options, &KeyHeader { name: AUTHORIZATION, prefix: "Bearer " }, "")?;
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
        let key_header = KeyHeader { name: HeaderName::from_static("api-key"), prefix: "" };
        let caller = Caller::open("azure", options, &key_header, "/openai")?;
        let (name, version) = (percent_encoded(&caller.reference.name), percent_encoded(api_version));
        let path = format!("/openai/deployments/{name}/chat/completions?api-version={version}");
        Ok(Self { caller, path, bounds_completion: true, marks_cache: false })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let system = wire::RequestMessage {
            role: "system",
            content: self.content(&prompt.system, &[], true),
            ..wire::RequestMessage::default()
        };
        let mut messages = Vec::with_capacity(prompt.messages.len() + 1);
        messages.extend((!prompt.system.is_empty()).then_some(system));
        let cached = prompt.cached_messages();
        for (message_idx, message) in prompt.messages.iter().enumerate() {
            messages.extend(self.said(message, cached.contains(&Some(message_idx))));
        }
        let tokens_max = Some(prompt.output_tokens_max);
        let request = wire::Request {
            model: &self.caller.reference.name,
            messages,
            stream: true,
            stream_options: wire::StreamOptions { include_usage: true },
            max_completion_tokens: if self.bounds_completion { tokens_max } else { None },
            max_tokens: if self.bounds_completion { None } else { tokens_max },
            response_format: prompt.schema.as_deref().map(|schema| wire::ResponseFormat {
                json_schema: wire::NamedSchema { name: SCHEMA_NAME, schema, strict: is_strict(schema) },
            }),
            tools: prompt.tools.iter().map(tool).collect(),
            tool_choice: prompt.must_call.then_some("required"),
            reasoning_effort: prompt.effort.map(Effort::word),
            logprobs: prompt.wants_certainty,
            temperature: prompt.temperature(),
        };
        let bytes =
            prompt.messages.iter().map(|message| message.text.len()).sum::<usize>() + prompt.system.len();
        let mut body = Vec::with_capacity(bytes + bytes / 8 + ROOM_BYTES);
        serde_json::to_writer(&mut body, &request).expect("strings, numbers and JSON are JSON");
        body
    }

    /// A message, preceded by its tool results: each is a separate message in this format.
    fn said<'a>(&self, message: &'a Message, is_cached: bool) -> Vec<wire::RequestMessage<'a>> {
        let (calls, results) = sorted(&message.parts);
        let mut said: Vec<_> = results
            .into_iter()
            .map(|result| wire::RequestMessage {
                role: "tool",
                content: wire::Content::Text(&result.text),
                tool_call_id: Some(&result.call_id),
                ..wire::RequestMessage::default()
            })
            .collect();
        let tool_calls: Vec<_> = calls
            .into_iter()
            .map(|call| wire::RequestToolCall {
                id: &call.id,
                kind: "function",
                function: wire::RequestFunctionCall { name: &call.name, arguments: &call.arguments },
            })
            .collect();
        let has_images = images(&message.parts).next().is_some();
        if said.is_empty() || !message.text.is_empty() || !tool_calls.is_empty() || has_images {
            said.push(wire::RequestMessage {
                role: message.speaker.role(),
                content: self.content(&message.text, &message.parts, is_cached),
                tool_calls,
                tool_call_id: None,
            });
        }
        said
    }

    fn content<'a>(&self, text: &'a str, parts: &[Part], is_cached: bool) -> wire::Content<'a> {
        let cache_control = (is_cached && self.marks_cache && !text.is_empty()).then_some(CacheControl {});
        let mut content: Vec<_> = images(parts)
            .map(|image| match (image.is_pdf(), image.data_url()) {
                (false, url) => wire::ContentPart::ImageUrl { image_url: wire::ImageUrl { url } },
                (true, file_data) => {
                    wire::ContentPart::File { file: wire::File { filename: PDF_NAME, file_data } }
                }
            })
            .collect();
        if content.is_empty() && cache_control.is_none() {
            return wire::Content::Text(text);
        }
        content.push(wire::ContentPart::Text { text, cache_control });
        wire::Content::Parts(content)
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
        self.caller.stream(&self.path, (prompt, call), self.body(prompt), Decoder::new())
    }
}

fn tool(tool: &Tool) -> wire::RequestTool<'_> {
    let Tool { name, description, schema } = tool;
    wire::RequestTool { function: wire::RequestFunction { name, description, parameters: schema } }
}

/// Decodes chunks. The finish reason comes before the usage, and the usage before the end mark, so the end is held
/// back. Either mark ends a reply: some servers send no `[DONE]`, some no finish reason.
#[derive(Debug)]
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
    fn new() -> Self {
        Self {
            stop: None,
            has_refused: false,
            usage: None,
            think: ReasoningTags::new(),
            drafts: Drafts::default(),
            logprob_min: None,
        }
    }

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
        match self.stop {
            Some(stop) => Ok(self.done(stop)),
            None => Err(ReplyFault::Cut),
        }
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
