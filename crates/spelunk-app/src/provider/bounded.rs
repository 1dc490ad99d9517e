//! A model with the user's configuration: its context window, rate per minute, reasoning effort,
//! and whether it accepts images and PDF.

use std::sync::Arc;

use futures_util::stream;
use spelunk_model::{
    Effort, Message, Model, ModelError, ModelFacts, ModelStream, Part, Prompt, Rate, estimate_tokens,
    image_tokens,
};
use spelunk_types::{CallId, ModelRef};

/// Rejects prompts that cannot fit, and carries its rate.
pub struct BoundedModel {
    inner: Arc<dyn Model>,
    context_tokens: Option<u64>,
    facts: ModelFacts,
}

impl BoundedModel {
    /// Wraps the model with its bounds; `None` if there are none.
    pub(super) fn around(
        inner: &Arc<dyn Model>,
        context_tokens: Option<u64>,
        rate: Rate,
        effort: Option<Effort>,
        [vision, pdf]: [Option<bool>; 2],
    ) -> Option<Self> {
        let is_bounded = context_tokens.is_some()
            || rate != Rate::default()
            || effort.is_some()
            || vision.or(pdf).is_some();
        if !is_bounded {
            return None;
        }
        let known = inner.facts();
        let window_tokens = match (context_tokens, known.window_tokens) {
            (Some(told), Some(of_file)) if known.computes_here => Some(told.min(of_file)),
            (told, known) => told.or(known),
        };
        let sees_images = vision.unwrap_or(known.sees_images);
        let reads_pdf = pdf.unwrap_or(known.reads_pdf);
        let facts = ModelFacts { rate, effort, window_tokens, sees_images, reads_pdf, ..known };
        Some(Self { inner: Arc::clone(inner), context_tokens, facts })
    }
}

impl Model for BoundedModel {
    fn reference(&self) -> &ModelRef {
        self.inner.reference()
    }

    fn facts(&self) -> ModelFacts {
        self.facts
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let Some(window) = self.context_tokens else { return self.inner.stream(prompt, call) };
        let estimated = estimated(self.reference(), prompt);
        if estimated <= window {
            return self.inner.stream(prompt, call);
        }
        let detail = format!("about {estimated} tokens, but `context_tokens` is {window}");
        Box::pin(stream::once(std::future::ready(Err(ModelError::PromptTooLong { detail }))))
    }
}

/// The estimated tokens of a prompt, including its tool definitions.
fn estimated(model: &ModelRef, prompt: &Prompt) -> u64 {
    let of_part = |part: &Part| match part {
        Part::ToolCall(call) => estimate_tokens(&call.arguments),
        Part::ToolResult(result) => estimate_tokens(&result.text),
        Part::Image(image) => image_tokens(model, image),
    };
    let of_message = |message: &Message| {
        message.parts.iter().map(of_part).fold(estimate_tokens(&message.text), u64::saturating_add)
    };
    let of_messages = prompt.messages.iter().map(of_message);
    let of_tools = prompt.tools.iter().map(|tool| estimate_tokens(&tool.description));
    of_messages.chain(of_tools).fold(estimate_tokens(&prompt.system), u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _};
    use spelunk_model::{Image, ToolResult};
    use spelunk_types::FrameId;

    use super::*;
    use crate::provider::Nobody;

    #[test]
    fn a_prompt_longer_than_the_window_is_refused_before_it_is_sent() {
        let inner: Arc<dyn Model> = Arc::new(Nobody::default());
        let model = BoundedModel::around(&inner, Some(10), Rate::default(), None, [None; 2]).unwrap();
        let call = CallId { frame: FrameId::root(), ordinal: 0 };
        let first = |text: &str| {
            let prompt = Prompt::single("", text, 10);
            model.stream(&prompt, &call).next().now_or_never().flatten().unwrap().unwrap_err()
        };
        assert_eq!(
            first(&"word ".repeat(100)).to_string(),
            "the prompt exceeds the model's context window: about 125 tokens, but `context_tokens` is 10"
        );
        assert!(matches!(first("word"), ModelError::NotFound { .. }));
        assert_eq!(model.facts().window_tokens, Some(10));
        let mut with_result = Prompt::single("", "word", 10);
        let text = "word ".repeat(100);
        let result = ToolResult { call_id: "1".into(), name: "Read".into(), text, is_error: false };
        with_result.messages.push(Message::user("").with_parts([Part::ToolResult(result)]));
        let refused = model.stream(&with_result, &call).next().now_or_never().flatten().unwrap();
        assert!(matches!(refused, Err(ModelError::PromptTooLong { .. })), "{refused:?}");
        assert!(BoundedModel::around(&inner, None, Rate::default(), None, [None; 2]).is_none());
        assert!(!model.facts().sees_images);
        let abilities = [Some(true), None];
        let seeing = BoundedModel::around(&inner, Some(10_000), Rate::default(), None, abilities).unwrap();
        assert!(seeing.facts().sees_images && !seeing.facts().reads_pdf);
        let reading = BoundedModel::around(&inner, None, Rate::default(), None, [None, Some(true)]).unwrap();
        assert!(reading.facts().reads_pdf && !reading.facts().sees_images);
        let digest = spelunk_types::BlobId::from_hash([0; 32]);
        let (name, bytes) = ("a.png".to_owned(), Arc::from([]));
        let image =
            Image { name, media_type: "image/png", width: 8000, height: 8000, pages: 1, digest, bytes };
        let prompt = Prompt {
            messages: vec![Message::user("word").with_parts([Part::Image(image)])],
            ..Prompt::default()
        };
        let refused = seeing.stream(&prompt, &call).next().now_or_never().flatten().unwrap().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the prompt exceeds the model's context window: about 16385 tokens, but `context_tokens` is 10000"
        );
    }
}
