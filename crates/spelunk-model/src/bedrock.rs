//! The AWS Bedrock converse format, for every model that Bedrock offers. Requests are signed or carry a Bedrock API
//! key; replies arrive in binary frames. A schema becomes a tool that the model must call, and the call becomes the
//! answer.

use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::aws::{AwsAuth, AwsSigner};
use crate::aws_event_stream::EventStreamParser;
use crate::caller::{BEARER, Caller, present, request_body, unless_empty};
use crate::event_parser::{EVENT_BYTES_MAX, EventParser};
use crate::http::percent_encoded;
use crate::reply::{Decode, ReplyFault, parse_whole, reasoning_delta, stream_reply, text_delta};
use crate::tool_drafts::Drafts;
use crate::wire::bedrock as wire;
use crate::wire::error::ProviderError;
use crate::wire::tool::{images, sorted};
use crate::{
    Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Prompt, ToolResult,
};

/// The tool that represents an answer with a schema.
const ANSWER_TOOL: &str = "spelunk_answer";

/// A model called with `POST {base_url}/model/{name}/converse-stream`.
#[derive(Debug, Clone)]
pub struct BedrockModel {
    caller: Caller,
    path: String,
    /// `None` if an API key goes into a header instead.
    signer: Option<Arc<AwsSigner>>,
    marks_cache: bool,
}

impl BedrockModel {
    /// Validates the URL and the key; sends nothing. The name is that of a model, an inference profile or an ARN;
    /// `options.key` is ignored.
    pub fn new(mut options: ModelOptions, region: &str, auth: AwsAuth) -> Result<Self, ModelError> {
        let (bearer, signer) = match auth {
            AwsAuth::Bearer(token) => (Some(token), None),
            AwsAuth::Signed { source, now } => {
                (None, Some(Arc::new(AwsSigner::new(source, now, region, "bedrock"))))
            }
        };
        options.key = bearer;
        let marks_cache = caches(&options.name);
        let caller = Caller::open("bedrock", options, BEARER, "")?;
        let path = format!("/model/{}/converse-stream", percent_encoded(&caller.reference.name));
        Ok(Self { caller, path, signer, marks_cache })
    }

    /// The base URL of a region.
    pub fn base_url(region: &str) -> String {
        format!("https://bedrock-runtime.{region}.amazonaws.com")
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let cache_point = || json!({ "cachePoint": { "type": "default" } });
        let mut system = Vec::new();
        if !prompt.system.is_empty() {
            system.push(json!({ "text": prompt.system }));
            system.extend(self.marks_cache.then(cache_point));
        }
        let cached = prompt.cached_messages();
        let said = prompt.messages.iter().enumerate().map(|(message_idx, message)| {
            let mut content = content(message);
            content.extend((self.marks_cache && cached.contains(&Some(message_idx))).then(cache_point));
            json!({ "role": message.speaker.role(), "content": content })
        });
        let inference = json!({ "maxTokens": prompt.output_tokens_max, "temperature": prompt.temperature() });
        request_body(
            json!({
                "system": unless_empty(system.into_iter()),
                "inferenceConfig": present(inference),
                "toolConfig": tool_config(prompt),
                "outputConfig": prompt.effort.map(|effort| json!({ "effort": effort.word() })),
            }),
            "messages",
            said,
        )
    }
}

impl Model for BedrockModel {
    fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    fn facts(&self) -> ModelFacts {
        self.caller.facts
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let body = self.body(prompt);
        let Some(signer) = self.signer.clone() else {
            return self.caller.stream(&self.path, (prompt, call), body, Decoder::default());
        };
        let request = self.caller.post(&self.path, call, body.clone());
        let (host, path) = self.caller.endpoint.host_and_path(&self.path);
        let unsent = Box::pin(async move { signer.signed(request, (&host, &path, &body)).await });
        stream_reply(unsent, self.caller.context(prompt), self.caller.facts.price, Decoder::default())
    }
}

/// Whether Bedrock caches prompts for this model. It rejects a cache mark for other models.
fn caches(name: &str) -> bool {
    const WITHOUT: [&str; 6] = [
        "claude-v2",
        "claude-instant",
        "claude-3-haiku",
        "claude-3-sonnet",
        "claude-3-opus",
        "claude-3-5-sonnet-20240620",
    ];
    name.contains("amazon.nova")
        || name.contains("anthropic.claude") && !WITHOUT.iter().any(|old| name.contains(old))
}

fn content(message: &Message) -> Vec<Value> {
    let (calls, results) = sorted(&message.parts);
    let result = |result: &ToolResult| {
        let status = if result.is_error { "error" } else { "success" };
        let content = [json!({ "text": result.text })];
        json!({ "toolResult": { "toolUseId": result.call_id, "content": content, "status": status } })
    };
    let mut content: Vec<Value> = results.into_iter().map(result).collect();
    content.extend(images(&message.parts).map(|image| {
        let source = json!({ "bytes": image.base64() });
        if image.is_pdf() {
            // Each document of a request needs a distinct name of letters, digits and hyphens.
            json!({ "document": { "format": "pdf", "name": image.digest.to_string(), "source": source } })
        } else {
            json!({ "image": { "format": image.format(), "source": source } })
        }
    }));
    if !message.text.is_empty() || message.parts.is_empty() {
        content.push(json!({ "text": message.text }));
    }
    content.extend(calls.into_iter().map(
        |call| json!({ "toolUse": { "toolUseId": call.id, "name": call.name, "input": call.object() } }),
    ));
    content
}

fn tool_config(prompt: &Prompt) -> Option<Value> {
    let spec = |name: &str, description: &str, schema: &Value| {
        let description = Some(description).filter(|description| !description.is_empty());
        let spec = json!({ "name": name, "description": description, "inputSchema": { "json": schema } });
        json!({ "toolSpec": present(spec) })
    };
    let mut tools: Vec<_> =
        prompt.tools.iter().map(|tool| spec(&tool.name, &tool.description, &tool.schema)).collect();
    let one =
        if tools.is_empty() { json!({ "tool": { "name": ANSWER_TOOL } }) } else { json!({ "any": {} }) };
    let tool_choice = (prompt.must_call || prompt.schema.is_some()).then_some(one);
    tools.extend(prompt.schema.as_deref().map(|schema| spec(ANSWER_TOOL, "Gives the final answer.", schema)));
    (!tools.is_empty()).then(|| present(json!({ "tools": tools, "toolChoice": tool_choice })))
}

/// Decodes events. The stop reason comes before the usage, so the end is held back until the usage
/// arrives or the body ends.
#[derive(Debug, Default)]
struct Decoder {
    stop: Option<StopReason>,
    usage: Option<Usage>,
    drafts: Drafts,
    answer_block: Option<u64>,
    has_answered: bool,
}

impl Decoder {
    fn begin(&mut self, index: u64, tool_use: wire::ToolUse) -> Result<Option<ModelDelta>, ReplyFault> {
        let input = tool_use.input.map(|input| input.to_string()).unwrap_or_default();
        if tool_use.name.as_deref() == Some(ANSWER_TOOL) {
            self.answer_block = Some(index);
            self.has_answered = true;
            return Ok(text_delta(input));
        }
        self.drafts.add(index, tool_use.id, tool_use.name, &input)?;
        Ok(None)
    }

    fn go_on(&mut self, index: u64, delta: wire::Delta) -> Result<Vec<ModelDelta>, ReplyFault> {
        let mut deltas = Vec::new();
        deltas.extend(delta.reasoning_content.and_then(reasoning));
        deltas.extend(delta.text.and_then(text_delta));
        if let Some(tool_use) = delta.tool_use {
            match self.answer_block {
                Some(answer) if answer == index => deltas.extend(text_delta(tool_use.input)),
                Some(_) | None => self.drafts.go_on(index, &tool_use.input)?,
            }
        }
        Ok(deltas)
    }

    fn stopped(&mut self, reason: Option<&str>) {
        self.stop = Some(match reason {
            Some("end_turn" | "stop_sequence") => StopReason::Finished,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("guardrail_intervened" | "content_filtered") => StopReason::Filtered,
            // The tool was ours, and the call was the answer.
            Some("tool_use") if self.has_answered => StopReason::Finished,
            Some("tool_use") => StopReason::ToolUse,
            Some(_) | None => StopReason::Other,
        });
    }

    fn done(&mut self, stop: StopReason) -> Vec<ModelDelta> {
        let mut deltas = self.drafts.finish_all();
        deltas.push(ModelDelta::Done { stop, usage: self.usage });
        deltas
    }
}

impl Decode for Decoder {
    const STREAM_TYPE: &'static str = "application/vnd.amazon.eventstream";

    fn parser() -> Box<dyn EventParser> {
        Box::new(EventStreamParser::new(EVENT_BYTES_MAX))
    }

    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let event: wire::Event = match serde_json::from_str(data) {
            Ok(event) => event,
            // The provider may add events at any time; an unknown event is fine if it is JSON.
            Err(error) if error.to_string().starts_with("unknown variant") => return unknown(data),
            Err(error) => return Err(ReplyFault::Malformed(format!("an event is not valid: {error}"))),
        };
        match event {
            wire::Event::ContentBlockStart { content_block_index, start } => {
                match start.and_then(|start| start.tool_use) {
                    Some(tool_use) => Ok(self.begin(content_block_index, tool_use)?.into_iter().collect()),
                    None => Ok(Vec::new()),
                }
            }
            wire::Event::ContentBlockDelta { content_block_index, delta } => {
                self.go_on(content_block_index, delta)
            }
            wire::Event::ContentBlockStop { content_block_index } => {
                Ok(self.drafts.finish(content_block_index).into_iter().collect())
            }
            wire::Event::MessageStop { stop_reason } => {
                self.stopped(stop_reason.as_deref());
                Ok(Vec::new())
            }
            wire::Event::Metadata { usage } => {
                self.usage = usage.map(usage_of);
                Ok(self.stop.map(|stop| self.done(stop)).unwrap_or_default())
            }
            wire::Event::ThrottlingException(said) => Err(refused(429, said)),
            wire::Event::ServiceUnavailableException(said) => Err(refused(503, said)),
            wire::Event::InternalServerException(said) => Err(refused(500, said)),
            wire::Event::ModelStreamErrorException(said) => Err(refused(502, said)),
            wire::Event::ModelTimeoutException(said) => Err(refused(504, said)),
            wire::Event::ValidationException(said) => Err(refused(400, said)),
            wire::Event::AccessDeniedException(said) => Err(refused(403, said)),
            wire::Event::ResourceNotFoundException(said) => Err(refused(404, said)),
        }
    }

    fn end(&mut self) -> Result<Vec<ModelDelta>, ReplyFault> {
        let stop = self.stop.ok_or(ReplyFault::Cut)?;
        Ok(self.done(stop))
    }

    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let whole: wire::FullReply = parse_whole(body)?;
        let mut deltas = Vec::new();
        for (index, block) in (0..).zip(whole.output.message.content) {
            deltas.extend(block.reasoning_content.and_then(reasoning));
            deltas.extend(block.text.and_then(text_delta));
            if let Some(tool_use) = block.tool_use {
                deltas.extend(self.begin(index, tool_use)?);
            }
        }
        self.usage = whole.usage.map(usage_of);
        self.stopped(whole.stop_reason.as_deref());
        let stop = self.stop.unwrap_or(StopReason::Other);
        deltas.extend(self.done(stop));
        Ok(deltas)
    }
}

/// An unknown event is ignored unless it is an exception.
fn unknown(data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
    let name = data.split('"').nth(1).unwrap_or_default();
    if name.ends_with("Exception") || name.ends_with("Failure") || name.ends_with("Error") {
        return Err(ReplyFault::Refused(500, ProviderError::in_words(data.to_owned())));
    }
    Ok(Vec::new())
}

fn reasoning(content: wire::ReasoningContent) -> Option<ModelDelta> {
    let whole = content.reasoning_text.and_then(|reasoning| reasoning.text);
    content.text.or(whole).and_then(reasoning_delta)
}

fn usage_of(usage: wire::Usage) -> Usage {
    let cached = usage.cache_read_input_tokens.unwrap_or(0);
    let written = usage.cache_write_input_tokens.unwrap_or(0);
    Usage {
        input_tokens: usage.input_tokens.saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        cache_written_tokens: written,
        output_tokens: usage.output_tokens,
        cost_microusd: 0,
    }
}

fn refused(status: u16, said: wire::Exception) -> ReplyFault {
    ReplyFault::Refused(status, ProviderError::in_words(said.message.unwrap_or_default()))
}

#[cfg(test)]
mod tests;
