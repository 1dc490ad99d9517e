//! The Google Gemini format. A stream has no end mark: the last response has a finish reason. The provider caches
//! common prefixes automatically.

use reqwest::header::HeaderName;
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::caller::{Caller, KeyHeader};
use crate::http::percent_encoded;
use crate::reply::{Decode, ReplyFault, parse_event, parse_whole, reasoning_delta, text_delta};
use crate::tool::{images, sorted};
use crate::tool_drafts::Drafts;
use crate::wire::error::{ErrorField, ProviderError};
use crate::wire::gemini as wire;
use crate::{
    Message, Model, ModelDelta, ModelError, ModelFacts, ModelOptions, ModelStream, Prompt, Speaker, Tool,
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
        let key_header = KeyHeader { name: HeaderName::from_static("x-goog-api-key"), prefix: "" };
        let caller = Caller::open("gemini", options, &key_header, "")?;
        let path =
            format!("/models/{}:streamGenerateContent?alt=sse", percent_encoded(&caller.reference.name));
        Ok(Self { caller, path })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let text = |text| wire::RequestPart { text: Some(text), ..wire::RequestPart::default() };
        let system = (!prompt.system.is_empty())
            .then(|| wire::RequestContent { role: None, parts: vec![text(&prompt.system)] });
        let schema = prompt.schema.as_deref();
        // Models before the third generation need no signatures.
        let is_early =
            ["gemini-1", "gemini-2"].iter().any(|early| self.caller.reference.name.contains(early));
        let unsigned = (!is_early).then_some(UNSIGNED);
        let declarations: Vec<_> = prompt.tools.iter().map(declaration).collect();
        let request = wire::Request {
            system_instruction: system,
            contents: prompt.messages.iter().map(|message| content(message, unsigned)).collect(),
            generation_config: wire::GenerationConfig {
                temperature: prompt.temperature(),
                max_output_tokens: prompt.output_tokens_max,
                response_mime_type: schema.map(|_| "application/json"),
                response_json_schema: schema,
                thinking_config: prompt.effort.map(|effort| wire::ThinkingConfig {
                    thinking_level: effort.word().to_ascii_uppercase(),
                }),
            },
            tools: if declarations.is_empty() {
                Vec::new()
            } else {
                vec![wire::RequestTools { function_declarations: declarations }]
            },
            tool_config: prompt.must_call.then_some(wire::ToolConfig {
                function_calling_config: wire::FunctionCallingConfig { mode: "ANY" },
            }),
        };
        serde_json::to_vec(&request).expect("strings, numbers and JSON are JSON")
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

fn declaration(tool: &Tool) -> wire::FunctionDeclaration<'_> {
    let Tool { name, description, schema } = tool;
    wire::FunctionDeclaration { name, description, parameters_json_schema: schema }
}

/// Sent as the signature of a call whose own is unknown: callers with their own tools do not send
/// it back, and the provider rejects a call without one.
const UNSIGNED: &str = "skip_thought_signature_validator";

fn content<'a>(message: &'a Message, unsigned: Option<&'a str>) -> wire::RequestContent<'a> {
    let (calls, results) = sorted(&message.parts);
    let mut parts: Vec<wire::RequestPart<'_>> = results
        .into_iter()
        .map(|result| wire::RequestPart {
            function_response: Some(wire::RequestCallResponse {
                name: &result.name,
                response: if result.is_error {
                    wire::CallResponse::Error(&result.text)
                } else {
                    wire::CallResponse::Output(&result.text)
                },
            }),
            ..wire::RequestPart::default()
        })
        .collect();
    parts.extend(images(&message.parts).map(|image| wire::RequestPart {
        inline_data: Some(wire::InlineData { mime_type: image.media_type, data: image.base64() }),
        ..wire::RequestPart::default()
    }));
    if !message.text.is_empty() || message.parts.is_empty() {
        parts.push(wire::RequestPart { text: Some(&message.text), ..wire::RequestPart::default() });
    }
    // Only the first of parallel calls is signed.
    let unsigned = unsigned.filter(|_| calls.iter().all(|call| call.signature.is_none()));
    parts.extend(calls.into_iter().enumerate().map(|(idx, call)| wire::RequestPart {
        function_call: Some(wire::RequestCall { name: &call.name, args: call.object() }),
        thought_signature: call.signature.as_deref().or(unsigned.filter(|_| idx == 0)),
        ..wire::RequestPart::default()
    }));
    let role = match message.speaker {
        Speaker::User => "user",
        Speaker::Assistant => "model",
    };
    wire::RequestContent { role: Some(role), parts }
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
            return Ok(self.drafts.finish(index).map(|delta| signed(delta, part.thought_signature)));
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
        match self.stop {
            Some(stop) => Ok(vec![self.done(stop)]),
            None => Err(ReplyFault::Cut),
        }
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

fn signed(delta: ModelDelta, signature: Option<String>) -> ModelDelta {
    match delta {
        ModelDelta::ToolCall(mut call) => {
            call.signature = signature;
            ModelDelta::ToolCall(call)
        }
        ModelDelta::Text(_)
        | ModelDelta::Reasoning(_)
        | ModelDelta::Certainty(_)
        | ModelDelta::Done { .. } => delta,
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
