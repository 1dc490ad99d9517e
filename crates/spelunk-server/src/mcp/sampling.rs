//! The client's own model, called through the protocol.
#![expect(
    deprecated,
    reason = "sampling is deprecated by the protocol, and kept for the clients that have it"
)]

use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use rmcp::ServiceError;
use rmcp::model::{
    CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ErrorCode, InputRequest,
    ModelPreferences, SamplingMessage, SamplingMessageContentBlock,
};
use spelunk_app::provider::OF_CLIENT;
use spelunk_model::{Model, ModelDelta, ModelError, ModelFacts, ModelStream, Prompt, Speaker};
use spelunk_types::{CallId, ModelRef, StopReason};

use super::{ClientChannel, lock, plain_head};

/// How long a call may take: a client may show its user the request and wait for approval.
pub(super) const CALL_MS_MAX: u64 = 600_000;
const DETAIL_CHARS_MAX: usize = 300;
const NAME_CHARS_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelRole {
    Root,
    /// Answers the root's many sub-calls.
    Sub,
}

/// The name of the client's model from its last reply; empty before the first.
pub(super) type ClientModelName = Arc<Mutex<String>>;

pub(super) struct SamplingModel {
    reference: ModelRef,
    role: ModelRole,
    channel: ClientChannel,
    name: ClientModelName,
}

impl SamplingModel {
    pub(super) fn new(role: ModelRole, channel: ClientChannel, name: ClientModelName) -> Self {
        let known_as = match role {
            ModelRole::Root => "client",
            ModelRole::Sub => "client-sub",
        };
        let reference =
            ModelRef { provider: OF_CLIENT.into(), name: known_as.into(), base_url: String::new() };
        Self { reference, role, channel, name }
    }
}

impl Model for SamplingModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::default()
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let params = request(prompt, self.role);
        let channel = self.channel.clone();
        let (call, role, name) = (call.clone(), self.role, Arc::clone(&self.name));
        let asking = async move {
            let reply = match channel {
                ClientChannel::Request(peer) => {
                    peer.create_message(params).await.map_err(|error| refusal(&error))
                }
                ClientChannel::Rounds(questions) => {
                    let asked = InputRequest::CreateMessage(CreateMessageRequest::new(params));
                    match questions.ask(&call, asked).await {
                        Some(reply) => serde_json::from_value(reply)
                            .map_err(|error| refused(&format!("its reply is not valid: {error}"))),
                        None => Err(refused("it did not answer this request")),
                    }
                }
            };
            if let (Ok(reply), ModelRole::Root) = (&reply, role) {
                let given = plain_head(&reply.model, NAME_CHARS_MAX);
                *lock(&name) = given;
            }
            reply
        };
        Box::pin(stream::once(asking).flat_map(|reply| stream::iter(deltas(reply))))
    }
}

/// A prompt in the protocol's format: two roles, a separate system text, and always a limit on the reply.
fn request(prompt: &Prompt, role: ModelRole) -> CreateMessageRequestParams {
    let message = |message: &spelunk_model::Message| match message.speaker {
        Speaker::User => SamplingMessage::user_text(&message.text),
        Speaker::Assistant => SamplingMessage::assistant_text(&message.text),
    };
    let messages = prompt.messages.iter().map(message).collect();
    let tokens_max = u32::try_from(prompt.output_tokens_max).unwrap_or(u32::MAX);
    let (intelligence, cost, speed) = match role {
        ModelRole::Root => (0.9, 0.3, 0.3),
        ModelRole::Sub => (0.4, 0.8, 0.7),
    };
    let preferences = ModelPreferences::new()
        .with_intelligence_priority(intelligence)
        .with_cost_priority(cost)
        .with_speed_priority(speed);
    let mut params = CreateMessageRequestParams::new(messages, tokens_max);
    params.system_prompt = Some(prompt.system.clone());
    params.model_preferences = Some(preferences);
    #[expect(clippy::cast_possible_truncation, reason = "thousandths fit")]
    let temperature = prompt.temperature().map(|temperature| temperature as f32);
    params.temperature = temperature;
    params
}

fn deltas(reply: Result<CreateMessageResult, ModelError>) -> Vec<Result<ModelDelta, ModelError>> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return vec![Err(error)],
    };
    let mut text = String::new();
    for block in reply.message.content.into_vec() {
        if let SamplingMessageContentBlock::Text(piece) = block {
            text.push_str(&piece.text);
        }
    }
    let stop = match reply.stop_reason.as_deref() {
        Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN) => StopReason::Length,
        Some(_) | None => StopReason::Finished,
    };
    vec![Ok(ModelDelta::Text(text)), Ok(ModelDelta::Done { stop, usage: None })]
}

fn refusal(error: &ServiceError) -> ModelError {
    let ServiceError::McpError(error) = error else {
        return ModelError::Unreachable {
            base_url: OF_CLIENT.into(),
            detail: plain_head(&error.to_string(), DETAIL_CHARS_MAX),
        };
    };
    if error.code != ErrorCode::METHOD_NOT_FOUND {
        return refused(&error.message);
    }
    let detail = "the client does not support sampling; configure a provider".into();
    ModelError::NotFound { base_url: OF_CLIENT.into(), model: "client".into(), detail }
}

/// The client or its user declined. The call is not retried.
fn refused(detail: &str) -> ModelError {
    ModelError::RequestRefused {
        status: 403,
        detail: format!("the client rejected the sampling request: {}", plain_head(detail, DETAIL_CHARS_MAX)),
    }
}
