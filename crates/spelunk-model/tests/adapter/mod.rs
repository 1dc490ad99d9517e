//! The adapters under test, and how tests call them.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::StreamExt;
use spelunk_model::{
    AnthropicModel, AwsAuth, AwsKeys, AwsSource, BedrockModel, GeminiModel, Model, ModelDelta, ModelError,
    ModelOptions, ModelStream, OpenAiModel, Prompt, Reply, ResponsesModel, Secret, collect,
};
use spelunk_types::CallId;

/// The key of every adapter under test.
pub(crate) const KEY: &str = "sk-very-secret";

/// The longest reply a test accepts.
pub(crate) const REPLY_BYTES_MAX: u64 = 20_000_000;

/// Which adapter is under test.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Adapter {
    OpenAi,
    Azure,
    Responses,
    Anthropic,
    Gemini,
    /// Signs with static keys; without a key in the options, uses a Bedrock API key.
    Bedrock,
}

/// The Bedrock API key of an adapter without a key in its options.
pub(crate) const BEARER: &str = "bedrock-api-key-of-tests";

impl Adapter {
    /// The adapter for this server, with a key and labelled calls.
    pub(crate) fn open(self, base_url: &str) -> Arc<dyn Model> {
        let options = ModelOptions {
            base_url: base_url.to_owned(),
            name: "scripted".to_owned(),
            key: Some(Secret::new(KEY)),
            price: None,
            label_calls: true,
        };
        self.open_with(options)
    }

    pub(crate) fn open_with(self, options: ModelOptions) -> Arc<dyn Model> {
        match self {
            Self::OpenAi => Arc::new(OpenAiModel::new(options).unwrap()),
            Self::Azure => Arc::new(OpenAiModel::azure(options, "2024-10-21").unwrap()),
            Self::Responses => Arc::new(ResponsesModel::new(options).unwrap()),
            Self::Anthropic => Arc::new(AnthropicModel::new(options).unwrap()),
            Self::Gemini => Arc::new(GeminiModel::new(options).unwrap()),
            Self::Bedrock => {
                let auth = match options.key.clone() {
                    Some(secret) => AwsAuth::Signed { source: AwsSource::Keys(aws_keys(secret)), now: now() },
                    None => AwsAuth::Bearer(Secret::new(BEARER)),
                };
                Arc::new(BedrockModel::new(options, "us-east-1", auth).unwrap())
            }
        }
    }

    /// The name of the provider.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Azure => "azure",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// The base URL as this adapter shows it.
    pub(crate) fn shown(self, base_url: &str) -> String {
        match self {
            Self::OpenAi | Self::Azure | Self::Responses | Self::Gemini | Self::Bedrock => {
                base_url.to_owned()
            }
            Self::Anthropic => base_url.trim_end_matches("/v1").to_owned(),
        }
    }
}

/// AWS keys with this secret.
pub(crate) fn aws_keys(secret: Secret) -> AwsKeys {
    AwsKeys {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: secret,
        session_token: None,
        expires_at: None,
    }
}

/// A stopped clock: 2015-08-30 12:36:00.
pub(crate) fn now() -> spelunk_model::Now {
    Arc::new(|| UNIX_EPOCH + Duration::from_mins(24_015_636))
}

/// The prompt of tests that do not care: 8 bytes, including the newline between its parts.
pub(crate) fn prompt() -> Prompt {
    Prompt::single("Sys", "User", 100)
}

pub(crate) fn call(id: &str) -> CallId {
    id.parse().unwrap()
}

pub(crate) fn stream(model: &dyn Model, id: &str) -> ModelStream {
    model.stream(&prompt(), &call(id))
}

pub(crate) async fn ask(model: &dyn Model, id: &str) -> Result<Reply, ModelError> {
    collect(stream(model, id), REPLY_BYTES_MAX, |_| {}).await
}

/// The next delta of a stream, without signs of life: how many there are depends on how bytes are split.
pub(crate) async fn next(stream: &mut ModelStream) -> Option<Result<ModelDelta, ModelError>> {
    loop {
        match stream.next().await {
            Some(Ok(ModelDelta::Reasoning(text))) if text.is_empty() => {}
            said => return said,
        }
    }
}

/// Every delta of a stream and what ended it.
pub(crate) async fn deltas(mut stream: ModelStream) -> (Vec<ModelDelta>, Option<ModelError>) {
    let mut seen = Vec::new();
    while let Some(delta) = next(&mut stream).await {
        match delta {
            Ok(delta) => seen.push(delta),
            Err(error) => return (seen, Some(error)),
        }
    }
    (seen, None)
}
