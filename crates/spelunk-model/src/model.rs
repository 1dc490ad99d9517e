//! The `Model` trait: one request, one stream of deltas.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::{Effort, ModelDelta, ModelError, Price, Prompt, Rate, ToolCall};

/// A streaming reply.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelDelta, ModelError>> + Send>>;

/// What is known of a model besides its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// What it costs.
    pub price: Option<Price>,
    /// The provider's limits per minute; the engine enforces them.
    pub rate: Rate,
    /// Whether it runs inside this process. Such a model is slow and sends a sign of life every second, so a call is
    /// bounded only by the time limit of its run.
    pub computes_here: bool,
    /// The context window, shared by a prompt and its reply.
    pub window_tokens: Option<u64>,
    /// Whether prompts may contain images.
    pub sees_images: bool,
    /// Whether prompts may contain pages of a PDF.
    pub reads_pdf: bool,
    /// How long it should think, if its settings say so; the engine puts it into every prompt.
    pub effort: Option<Effort>,
}

/// One request per call. Retries, budget, cache and journal belong to the engine, so that each is implemented once.
pub trait Model: Send + Sync {
    /// Which model this is, without the key.
    fn reference(&self) -> &ModelRef;

    /// What else is known of it.
    fn facts(&self) -> ModelFacts;

    /// The models of a chain in order, including the first; empty if this is not a chain.
    fn links(&self) -> &[Arc<dyn Model>] {
        &[]
    }

    /// Sends the prompt. `call` identifies the request in tests; it is sent only if the adapter is configured to.
    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream;
}

/// Sends one prompt from the place that makes the call. Dropping it, or the stream, frees the place.
pub type CallPlace = Box<dyn FnOnce(&dyn Model, &Prompt, &CallId) -> ModelStream + Send>;

/// Whether a call was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It is new.
    Now,
    /// Whoever made it may still have the reply.
    Before,
}

/// Where calls are made: in this process, or by another node of a fleet that has the same model.
pub trait CallPlaces: Send + Sync {
    /// Waits for a free place. Nothing is sent before the place is used.
    fn enter<'a>(&'a self, model: &'a dyn Model, asked: Asked) -> BoxFuture<'a, CallPlace>;

    /// The part of a model's rate that this process may use now; `None` while it has none.
    fn share(&self, model: &ModelRef, rate: Rate) -> Option<Rate>;
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The answer, without reasoning.
    pub text: String,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What the call consumed.
    pub usage: Option<Usage>,
    /// The tool calls of the model, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The model that answered, if it was not the requested one; set by the code that walks a chain.
    pub answered_by: Option<ModelRef>,
    /// The probability of its least likely token, in thousandths, if it was requested and the provider reports it.
    pub certainty_permille: Option<u16>,
}

impl Reply {
    /// Whether it has neither text nor tool calls.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.tool_calls.is_empty()
    }
}

/// Collects a stream into a reply of at most `bytes_max`; `on_text` sees each piece of the answer as it arrives. An
/// empty reply is an error, unless a filter withheld it.
pub async fn collect(
    mut stream: ModelStream,
    bytes_max: u64,
    mut on_text: impl FnMut(&str),
) -> Result<Reply, ModelError> {
    let mut text = String::new();
    let mut tool_calls = Vec::new();
    let mut certainty_permille = None;
    while let Some(delta) = stream.next().await {
        match delta? {
            ModelDelta::Text(piece) => {
                if (text.len() + piece.len()) as u64 > bytes_max {
                    return Err(ModelError::ReplyTooLong { bytes_max });
                }
                on_text(&piece);
                text.push_str(&piece);
            }
            ModelDelta::Reasoning(_) => {}
            ModelDelta::ToolCall(call) => tool_calls.push(call),
            ModelDelta::Certainty(permille) => certainty_permille = Some(permille),
            ModelDelta::Done { stop, usage } => {
                let reply = Reply { text, stop, usage, tool_calls, answered_by: None, certainty_permille };
                if reply.is_empty() && stop != StopReason::Filtered {
                    return Err(ModelError::ReplyEmpty { stop, usage });
                }
                return Ok(reply);
            }
        }
    }
    Err(ModelError::StreamCut)
}
