//! A model with what the user says about it: how long its window is and how much its provider takes in a minute.

use std::sync::Arc;

use futures_util::stream;
use spelunk_model::{Model, ModelError, ModelStream, Price, Prompt, Rate, estimate_tokens};
use spelunk_types::{CallId, ModelRef};

/// Refuses what cannot fit, and knows its rate.
pub(super) struct BoundedModel {
    inner: Arc<dyn Model>,
    context_tokens: Option<u64>,
    rate: Rate,
}

impl BoundedModel {
    /// The model with its bounds; `None` where there are none.
    pub(super) fn around(inner: &Arc<dyn Model>, context_tokens: Option<u64>, rate: Rate) -> Option<Self> {
        let is_bounded = context_tokens.is_some() || rate != Rate::default();
        is_bounded.then(|| Self { inner: Arc::clone(inner), context_tokens, rate })
    }
}

impl Model for BoundedModel {
    fn reference(&self) -> &ModelRef {
        self.inner.reference()
    }

    fn price(&self) -> Option<Price> {
        self.inner.price()
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn computes_here(&self) -> bool {
        self.inner.computes_here()
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let Some(window) = self.context_tokens else { return self.inner.stream(prompt, call) };
        let of_messages = prompt.messages.iter().map(|message| estimate_tokens(&message.text));
        let estimated = of_messages.fold(estimate_tokens(&prompt.system), u64::saturating_add);
        if estimated <= window {
            return self.inner.stream(prompt, call);
        }
        let detail = format!("about {estimated} tokens, and `context_tokens` is {window}");
        Box::pin(stream::once(std::future::ready(Err(ModelError::PromptTooLong { detail }))))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _};
    use spelunk_types::FrameId;

    use super::*;
    use crate::cli::Nobody;

    #[test]
    fn a_prompt_longer_than_the_window_is_refused_before_it_is_sent() {
        let inner: Arc<dyn Model> = Arc::new(Nobody::new());
        let model = BoundedModel::around(&inner, Some(10), Rate::default()).unwrap();
        let call = CallId { frame: FrameId::root(), ordinal: 0 };
        let first = |text: &str| {
            let prompt = Prompt::single("", text, 10);
            model.stream(&prompt, &call).next().now_or_never().flatten().unwrap().unwrap_err()
        };
        assert_eq!(
            first(&"word ".repeat(100)).to_string(),
            "the prompt is longer than the model's window: about 125 tokens, and `context_tokens` is 10"
        );
        assert!(matches!(first("word"), ModelError::NotFound { .. }));
        assert!(BoundedModel::around(&inner, None, Rate::default()).is_none());
    }
}
