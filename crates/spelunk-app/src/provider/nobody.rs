//! The placeholder for a missing model: every call fails with an explanation of how to configure one.

use spelunk_model::{Model, ModelError, ModelFacts, ModelStream, Price, Prompt};
use spelunk_types::{CallId, ModelRef};

pub struct Nobody {
    reference: ModelRef,
}

impl Default for Nobody {
    fn default() -> Self {
        let reference = ModelRef { provider: "none".into(), name: "none".into(), base_url: String::new() };
        Self { reference }
    }
}

impl Model for Nobody {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts { price: Some(Price::FREE), ..ModelFacts::default() }
    }

    fn stream(&self, _: &Prompt, _: &CallId) -> ModelStream {
        let detail =
            "no model is configured; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server".into();
        let error = ModelError::NotFound { base_url: String::new(), model: "none".into(), detail };
        Box::pin(futures_util::stream::once(std::future::ready(Err(error))))
    }
}
