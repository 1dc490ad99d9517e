//! The OpenAI chat-completions format: `api.openai.com` and the many servers that speak it, local ones above all.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::http::{CALL_HEADER, Endpoint};
use crate::price::{Price, price_of};
use crate::refusal::Asked;
use crate::reply::{Decode, ReplyFault, stream_reply};
use crate::wire::error::{ErrorField, ProviderError};
use crate::wire::openai as wire;
use crate::{Model, ModelDelta, ModelError, ModelOptions, ModelStream, Prompt, Speaker};

/// A model behind `POST {base_url}/chat/completions`.
#[derive(Debug, Clone)]
pub struct OpenAiModel {
    endpoint: Endpoint,
    reference: ModelRef,
    asked: Asked,
    authorization: Option<HeaderValue>,
    price: Option<Price>,
    label_calls: bool,
}

impl OpenAiModel {
    /// Checks the address and the key; nothing is sent.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let ModelOptions { base_url, name, key, price, label_calls } = options;
        let endpoint = Endpoint::open(&base_url)?;
        let authorization = endpoint.key_header(key.as_ref(), "Bearer ")?;
        let base_url = endpoint.base_url.clone();
        let asked = Asked { base_url: base_url.clone(), model: name.clone(), key };
        let reference = ModelRef { provider: "openai".to_owned(), name, base_url };
        let price = price_of(&reference, endpoint.is_local, price);
        Ok(Self { endpoint, reference, asked, authorization, price, label_calls })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let system = wire::RequestMessage { role: "system", content: &prompt.system };
        let said = prompt.messages.iter().map(|message| wire::RequestMessage {
            role: match message.speaker {
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            },
            content: &message.text,
        });
        let system = (!prompt.system.is_empty()).then_some(system);
        let tokens_max = Some(prompt.output_tokens_max);
        let is_openai = self.endpoint.host == "api.openai.com";
        let request = wire::Request {
            model: &self.reference.name,
            messages: system.into_iter().chain(said).collect(),
            stream: true,
            stream_options: wire::StreamOptions { include_usage: true },
            max_completion_tokens: if is_openai { tokens_max } else { None },
            max_tokens: if is_openai { None } else { tokens_max },
        };
        serde_json::to_vec(&request).expect("strings and numbers are JSON")
    }
}

impl Model for OpenAiModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let url = format!("{}/chat/completions", self.endpoint.base_url);
        let mut request = self.endpoint.client.post(url).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if self.label_calls {
            request = request.header(CALL_HEADER, call.to_string());
        }
        let request = request.body(self.body(prompt));
        stream_reply(request, self.asked.clone(), self.price, Decoder::new())
    }
}

/// Reads chunks. The finish reason comes before the usage, and the usage before the end mark, so the end is held back.
/// Either mark ends a reply: some servers send no `[DONE]`, some no finish reason.
#[derive(Debug)]
struct Decoder {
    stop: Option<StopReason>,
    has_refused: bool,
    usage: Option<Usage>,
}

impl Decoder {
    fn new() -> Self {
        Self { stop: None, has_refused: false, usage: None }
    }

    fn done(&self, stop: StopReason) -> Vec<ModelDelta> {
        let stop = if self.has_refused { StopReason::Filtered } else { stop };
        vec![ModelDelta::Done { stop, usage: self.usage }]
    }

    fn take(&mut self, said: wire::Said, finish_reason: Option<&str>) -> Vec<ModelDelta> {
        let mut deltas = Vec::new();
        let reasoning = said.reasoning_content.or(said.reasoning).filter(|text| !text.is_empty());
        deltas.extend(reasoning.map(ModelDelta::Reasoning));
        deltas.extend(said.content.filter(|text| !text.is_empty()).map(ModelDelta::Text));
        if let Some(refusal) = said.refusal.filter(|text| !text.is_empty()) {
            self.has_refused = true;
            deltas.push(ModelDelta::Text(refusal));
        }
        if let Some(reason) = finish_reason {
            self.stop = Some(stop_reason(reason));
        }
        deltas
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        if data.trim() == "[DONE]" {
            return Ok(self.done(self.stop.unwrap_or(StopReason::Other)));
        }
        let chunk: wire::Chunk = serde_json::from_str(data)
            .map_err(|error| ReplyFault::Malformed(format!("an event cannot be read: {error}")))?;
        if let Some(error) = chunk.error {
            return Err(refused(error));
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage_of(usage));
        }
        let Some(choices) = chunk.choices else {
            return Err(ReplyFault::Malformed("an event holds no `choices`".to_owned()));
        };
        // Only one choice was asked for.
        match choices.into_iter().next() {
            Some(choice) => Ok(self.take(choice.delta.unwrap_or_default(), choice.finish_reason.as_deref())),
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
        let whole: wire::Whole = serde_json::from_str(body)
            .map_err(|error| ReplyFault::Malformed(format!("the reply cannot be read: {error}")))?;
        if let Some(error) = whole.error {
            return Err(refused(error));
        }
        let Some(choice) = whole.choices.and_then(|choices| choices.into_iter().next()) else {
            return Err(ReplyFault::Malformed("the reply holds no choice".to_owned()));
        };
        self.usage = whole.usage.map(usage_of);
        let mut deltas = self.take(choice.message, choice.finish_reason.as_deref());
        deltas.extend(self.done(self.stop.unwrap_or(StopReason::Other)));
        Ok(deltas)
    }
}

fn usage_of(usage: wire::Usage) -> Usage {
    let cached_tokens = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
    Usage {
        input_tokens: usage.prompt_tokens,
        cached_tokens,
        output_tokens: usage.completion_tokens,
        cost_microusd: 0,
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::Finished,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Filtered,
        _ => StopReason::Other,
    }
}

/// An error inside a 200. Some servers give the status as the code; elsewhere the names are known.
fn refused(error: ErrorField) -> ReplyFault {
    let said = ProviderError::from(error);
    let status = said.codes.iter().find_map(|code| match code.as_str() {
        "rate_limit_exceeded" | "rate_limit_error" | "insufficient_quota" => Some(429),
        "overloaded" | "overloaded_error" => Some(503),
        "invalid_api_key" | "authentication_error" => Some(401),
        "model_not_found" | "not_found_error" => Some(404),
        "context_length_exceeded" | "exceed_context_size_error" | "invalid_request_error" => Some(400),
        other => other.parse().ok().filter(|status| (400..600).contains(status)),
    });
    ReplyFault::Refused(status.unwrap_or(500), said)
}

#[cfg(test)]
mod tests;
