//! The adapters under test, and how a test asks them.

use std::sync::Arc;

use futures_util::StreamExt;
use spelunk_model::{
    AnthropicModel, Model, ModelDelta, ModelError, ModelOptions, ModelStream, OpenAiModel, Prompt, Reply,
    Secret, collect,
};
use spelunk_types::CallId;

/// The key every adapter under test holds.
pub(crate) const KEY: &str = "sk-very-secret";

/// The longest reply a test takes.
pub(crate) const REPLY_BYTES_MAX: u64 = 20_000_000;

/// Which adapter is under test.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Adapter {
    OpenAi,
    Anthropic,
}

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
            Self::Anthropic => Arc::new(AnthropicModel::new(options).unwrap()),
        }
    }

    /// The base URL as this adapter shows it.
    pub(crate) fn shown(self, base_url: &str) -> String {
        match self {
            Self::OpenAi => base_url.to_owned(),
            Self::Anthropic => base_url.trim_end_matches("/v1").to_owned(),
        }
    }
}

/// The prompt of every test that does not care: 8 bytes with the line end between its parts.
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

/// Every delta of a stream and what ended it.
pub(crate) async fn deltas(mut stream: ModelStream) -> (Vec<ModelDelta>, Option<ModelError>) {
    let mut seen = Vec::new();
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(delta) => seen.push(delta),
            Err(error) => return (seen, Some(error)),
        }
    }
    (seen, None)
}
