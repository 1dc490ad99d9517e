//! The Anthropic messages format. The system text is marked for the provider's cache, because every call of a run begins
//! with the same one.

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::http::{CALL_HEADER, Endpoint};
use crate::price::{Price, price_of};
use crate::refusal::Asked;
use crate::reply::{Decode, ReplyFault, stream_reply};
use crate::wire::anthropic as wire;
use crate::wire::error::{ErrorField, ProviderError};
use crate::{Model, ModelDelta, ModelError, ModelOptions, ModelStream, Prompt, Speaker};

/// The version of the format we speak.
const VERSION: &str = "2023-06-01";

/// A model behind `POST {base_url}/v1/messages`.
#[derive(Debug, Clone)]
pub struct AnthropicModel {
    endpoint: Endpoint,
    reference: ModelRef,
    asked: Asked,
    api_key: Option<HeaderValue>,
    price: Option<Price>,
    label_calls: bool,
}

impl AnthropicModel {
    /// Checks the address, with or without `/v1` at its end, and the key; nothing is sent.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let ModelOptions { base_url, name, key, price, label_calls } = options;
        let endpoint = Endpoint::open(&base_url)?;
        let api_key = endpoint.key_header(key.as_ref(), "")?;
        let base_url = endpoint.base_url.strip_suffix("/v1").unwrap_or(&endpoint.base_url).to_owned();
        let asked = Asked { base_url: base_url.clone(), model: name.clone(), key };
        let reference = ModelRef { provider: "anthropic".to_owned(), name, base_url };
        let price = price_of(&reference, endpoint.is_local, price);
        Ok(Self { endpoint, reference, asked, api_key, price, label_calls })
    }

    fn body(&self, prompt: &Prompt) -> Vec<u8> {
        let system = wire::SystemBlock {
            kind: "text",
            text: &prompt.system,
            cache_control: wire::CacheControl { kind: "ephemeral" },
        };
        let said = prompt.messages.iter().map(|message| wire::RequestMessage {
            role: match message.speaker {
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            },
            content: &message.text,
        });
        let request = wire::Request {
            model: &self.reference.name,
            max_tokens: prompt.output_tokens_max,
            // An empty block is refused by the provider.
            system: (!prompt.system.is_empty()).then_some(system).into_iter().collect(),
            messages: said.collect(),
            stream: true,
        };
        serde_json::to_vec(&request).expect("strings and numbers are JSON")
    }
}

impl Model for AnthropicModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let url = format!("{}/v1/messages", self.reference.base_url);
        let mut request = self.endpoint.client.post(url);
        request = request.header(CONTENT_TYPE, "application/json").header("anthropic-version", VERSION);
        if let Some(api_key) = &self.api_key {
            request = request.header("x-api-key", api_key);
        }
        if self.label_calls {
            request = request.header(CALL_HEADER, call.to_string());
        }
        let request = request.body(self.body(prompt));
        stream_reply(request, self.asked.clone(), self.price, Decoder::new())
    }
}

/// Reads events. Counts of usage are cumulative: later ones replace earlier ones.
#[derive(Debug)]
struct Decoder {
    stop: StopReason,
    usage: Option<Usage>,
}

impl Decoder {
    fn new() -> Self {
        Self { stop: StopReason::Other, usage: None }
    }

    fn count(&mut self, usage: Option<wire::Usage>) {
        let Some(usage) = usage else { return };
        let counted = self.usage.get_or_insert_default();
        // The three kinds of input come together, and the first one is always there.
        if let Some(fresh) = usage.input_tokens {
            let cached = usage.cache_read_input_tokens.unwrap_or(0);
            let written = usage.cache_creation_input_tokens.unwrap_or(0);
            counted.input_tokens = fresh.saturating_add(cached).saturating_add(written);
            counted.cached_tokens = cached;
        }
        if let Some(output) = usage.output_tokens {
            counted.output_tokens = output;
        }
    }

    fn done(&self) -> ModelDelta {
        ModelDelta::Done { stop: self.stop, usage: self.usage }
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let event: wire::Event = serde_json::from_str(data)
            .map_err(|error| ReplyFault::Malformed(format!("an event cannot be read: {error}")))?;
        let delta = match event {
            wire::Event::MessageStart { message } => {
                self.count(message.usage);
                None
            }
            wire::Event::ContentBlockStart { content_block } => said(content_block),
            wire::Event::ContentBlockDelta { delta } => match delta {
                wire::BlockDelta::TextDelta { text } => said(wire::Block::Text { text }),
                wire::BlockDelta::ThinkingDelta { thinking } => said(wire::Block::Thinking { thinking }),
                wire::BlockDelta::Other => None,
            },
            wire::Event::MessageDelta { delta, usage } => {
                self.count(usage);
                if let Some(reason) = delta.stop_reason {
                    self.stop = stop_reason(&reason);
                }
                None
            }
            wire::Event::MessageStop => Some(self.done()),
            wire::Event::Error { error } => return Err(refused(error)),
            wire::Event::Other => None,
        };
        Ok(delta.into_iter().collect())
    }

    fn end(&mut self) -> Result<Vec<ModelDelta>, ReplyFault> {
        Err(ReplyFault::Cut)
    }

    fn whole(&mut self, body: &str) -> Result<Vec<ModelDelta>, ReplyFault> {
        let whole: wire::Whole = serde_json::from_str(body)
            .map_err(|error| ReplyFault::Malformed(format!("the reply cannot be read: {error}")))?;
        match whole {
            wire::Whole::Message { content, stop_reason: reason, usage } => {
                self.count(usage);
                self.stop = reason.as_deref().map_or(StopReason::Other, stop_reason);
                Ok(content.into_iter().filter_map(said).chain([self.done()]).collect())
            }
            wire::Whole::Error { error } => Err(refused(error)),
        }
    }
}

fn said(block: wire::Block) -> Option<ModelDelta> {
    match block {
        wire::Block::Text { text } if !text.is_empty() => Some(ModelDelta::Text(text)),
        wire::Block::Thinking { thinking } if !thinking.is_empty() => Some(ModelDelta::Reasoning(thinking)),
        wire::Block::Text { .. } | wire::Block::Thinking { .. } | wire::Block::Other => None,
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::Finished,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Filtered,
        _ => StopReason::Other,
    }
}

/// An error inside a 200: its type stands for a status.
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
