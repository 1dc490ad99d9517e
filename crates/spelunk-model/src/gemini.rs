//! The Google Gemini format. A stream has no end mark: the last response has a finish reason. The provider caches
//! common prefixes automatically.

use serde_json::{Value, json};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::caller::{Caller, present, request_body, unless_empty};
use crate::http::percent_encoded;
use crate::reply::{Decode, ReplyFault, parse_event, parse_whole, reasoning_delta, text_delta};
use crate::tool_drafts::Drafts;
use crate::wire::error::{ErrorField, ProviderError};
use crate::wire::gemini as wire;
use crate::wire::tool::{images, sorted};
use crate::{
    Effort, Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Prompt, Speaker,
    Tool, ToolResult,
};

/// A model called with `POST {base_url}/models/{name}:streamGenerateContent`.
#[derive(Debug, Clone)]
pub struct GeminiModel {
    caller: Caller,
    path: String,
}

impl GeminiModel {
    /// Validates the URL and the key; sends nothing. The name may be written with or without `models/`.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let name = options.name.trim_start_matches("models/").to_owned();
        let options = ModelOptions { name, ..options };
        // The key goes into a header: in the query it would end up in logs.
        let caller = Caller::open("gemini", options, ("x-goog-api-key", ""), "")?;
        let path =
            format!("/models/{}:streamGenerateContent?alt=sse", percent_encoded(&caller.reference.name));
        Ok(Self { caller, path })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        // Models before the third generation need no signatures.
        let is_early =
            ["gemini-1", "gemini-2"].iter().any(|early| self.caller.reference.name.contains(early));
        let unsigned = (!is_early).then_some(UNSIGNED);
        let schema = prompt.schema.as_deref();
        let thinking = |effort: Effort| json!({ "thinkingLevel": effort.word().to_ascii_uppercase() });
        let declarations = unless_empty(prompt.tools.iter().map(declaration));
        request_body(
            json!({
                "systemInstruction": (!prompt.system.is_empty())
                    .then(|| json!({ "parts": [{ "text": prompt.system }] })),
                "generationConfig": present(json!({
                    "temperature": prompt.temperature(),
                    "maxOutputTokens": prompt.output_tokens_max,
                    "responseMimeType": schema.map(|_| "application/json"),
                    "responseJsonSchema": schema,
                    "thinkingConfig": prompt.effort.map(thinking),
                })),
                "tools": declarations.map(|declarations| [json!({ "functionDeclarations": declarations })]),
                "toolConfig": prompt.must_call
                    .then(|| json!({ "functionCallingConfig": { "mode": "ANY" } })),
            }),
            "contents",
            prompt.messages.iter().map(|message| content(message, unsigned)),
        )
    }
}

impl Model for GeminiModel {
    fn reference(&self) -> &ModelRef {
        &self.caller.reference
    }

    fn facts(&self) -> ModelFacts {
        self.caller.facts
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.caller.stream(&self.path, (prompt, call), self.body(prompt), Decoder::default())
    }
}

fn declaration(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema })
}

/// Sent as the signature of a call whose own is unknown: callers with their own tools do not send
/// it back, and the provider rejects a call without one.
const UNSIGNED: &str = "skip_thought_signature_validator";

fn content(message: &Message, unsigned: Option<&str>) -> Value {
    let (calls, results) = sorted(&message.parts);
    let result = |result: &ToolResult| {
        let kind = if result.is_error { "error" } else { "output" };
        json!({ "functionResponse": { "name": result.name, "response": { kind: result.text } } })
    };
    let mut parts: Vec<Value> = results.into_iter().map(result).collect();
    parts.extend(
        images(&message.parts)
            .map(|image| json!({ "inlineData": { "mimeType": image.media_type, "data": image.base64() } })),
    );
    if !message.text.is_empty() || message.parts.is_empty() {
        parts.push(json!({ "text": message.text }));
    }
    // Only the first of parallel calls is signed.
    let unsigned = unsigned.filter(|_| calls.iter().all(|call| call.signature.is_none()));
    parts.extend(calls.into_iter().enumerate().map(|(idx, call)| {
        let signature = call.signature.as_deref().or(unsigned.filter(|_| idx == 0));
        let function = json!({ "name": call.name, "args": call.object() });
        present(json!({ "functionCall": function, "thoughtSignature": signature }))
    }));
    let role = match message.speaker {
        Speaker::User => "user",
        Speaker::Assistant => "model",
    };
    json!({ "role": role, "parts": parts })
}

/// Decodes responses. Usage is cumulative: later counts replace earlier ones.
#[derive(Debug, Default)]
struct Decoder {
    stop: Option<StopReason>,
    usage: Option<Usage>,
    drafts: Drafts,
    n_calls: u64,
}

impl Decoder {
    fn take(&mut self, response: wire::Response) -> Result<Vec<ModelDelta>, ReplyFault> {
        if let Some(error) = response.error {
            return Err(refused(error));
        }
        let wire::Response { candidates, prompt_feedback, usage_metadata, error: _ } = response;
        if candidates.is_none() && prompt_feedback.is_none() && usage_metadata.is_none() {
            return Err(ReplyFault::Malformed("an event has no `candidates`".to_owned()));
        }
        if let Some(usage) = usage_metadata {
            self.usage = Some(usage_of(usage));
        }
        if prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
            self.stop = Some(StopReason::Filtered);
        }
        // Only one candidate was requested.
        let Some(candidate) = candidates.and_then(|candidates| candidates.into_iter().next()) else {
            return Ok(Vec::new());
        };
        let mut deltas = Vec::new();
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            deltas.extend(self.part(part)?);
        }
        if let Some(reason) = candidate.finish_reason {
            self.stop = Some(stop_reason(&reason));
        }
        Ok(deltas)
    }

    fn part(&mut self, part: wire::Part) -> Result<Option<ModelDelta>, ReplyFault> {
        if let Some(call) = part.function_call {
            let index = self.n_calls;
            self.n_calls += 1;
            let arguments = call.args.map(|args| args.to_string()).unwrap_or_default();
            self.drafts.add(index, call.id, call.name, &arguments)?;
            let mut delta = self.drafts.finish(index);
            if let Some(ModelDelta::ToolCall(call)) = &mut delta {
                call.signature = part.thought_signature;
            }
            return Ok(delta);
        }
        let delta = if part.thought == Some(true) { reasoning_delta } else { text_delta };
        Ok(part.text.and_then(delta))
    }

    fn done(&self, stop: StopReason) -> ModelDelta {
        // The provider reports a plain stop when the model calls a tool.
        let stop = if stop == StopReason::Finished && self.n_calls > 0 { StopReason::ToolUse } else { stop };
        ModelDelta::Done { stop, usage: self.usage }
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let response: wire::Response = parse_event(data)?;
        self.take(response)
    }

    fn end(&mut self) -> Result<Vec<ModelDelta>, ReplyFault> {
        Ok(vec![self.done(self.stop.ok_or(ReplyFault::Cut)?)])
    }

    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let whole: wire::FullReply = parse_whole(body)?;
        let responses = match whole {
            wire::FullReply::List(responses) => responses,
            wire::FullReply::One(response) => vec![*response],
        };
        let mut deltas = Vec::new();
        for response in responses {
            deltas.extend(self.take(response)?);
        }
        deltas.push(self.done(self.stop.unwrap_or(StopReason::Other)));
        Ok(deltas)
    }
}

fn usage_of(usage: wire::Usage) -> Usage {
    let candidates = usage.candidates_token_count.unwrap_or(0);
    Usage {
        input_tokens: usage.prompt_token_count.unwrap_or(0),
        cached_tokens: usage.cached_content_token_count.unwrap_or(0),
        output_tokens: candidates.saturating_add(usage.thoughts_token_count.unwrap_or(0)),
        ..Usage::default()
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::Finished,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY"
        | "LANGUAGE" => StopReason::Filtered,
        _ => StopReason::Other,
    }
}

/// An error inside a 200: its code is the status.
fn refused(error: ErrorField) -> ReplyFault {
    let said = ProviderError::from(error);
    let statuses = said.codes.iter().filter_map(|code| code.parse().ok());
    let status = statuses.into_iter().find(|status| (400..600).contains(status));
    ReplyFault::Refused(status.unwrap_or(500), said)
}

#[cfg(test)]
mod tests;
