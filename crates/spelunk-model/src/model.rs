//! The `Model` trait: one request, one stream of deltas.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::{ModelError, Price, Prompt, Rate, ToolCall};

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelDelta {
    /// More of the answer.
    Text(String),
    /// More of the reasoning, which is never part of the answer. An empty piece is a sign of life: the model is at work
    /// and has nothing to show yet.
    Reasoning(String),
    /// A tool call, whole.
    ToolCall(ToolCall),
    /// The end mark: nothing follows. `cost_microusd` is filled in from the price.
    Done {
        /// Why the model stopped.
        stop: StopReason,
        /// What the call consumed; `None` if the provider did not say.
        usage: Option<Usage>,
    },
}

/// A reply on its way.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelDelta, ModelError>> + Send>>;

/// One request per call. Retry, budget, cache and journal belong to the engine, so each is written once.
pub trait Model: Send + Sync {
    /// Which model this is, without the key.
    fn reference(&self) -> &ModelRef;

    /// What it costs, if known.
    fn price(&self) -> Option<Price>;

    /// What its provider takes in a minute, where that is known; the engine keeps to it.
    fn rate(&self) -> Rate {
        Rate::default()
    }

    /// Whether it computes on this machine, inside this process. Such a model is slow and gives a sign of life every
    /// second, so that only the time of its run bounds a call.
    fn computes_here(&self) -> bool {
        false
    }

    /// How many tokens a prompt and its reply may have together, where that is known.
    fn window_tokens(&self) -> Option<u64> {
        None
    }

    /// The models that are asked in turn, this one's first link included, where it is a chain; else none.
    fn links(&self) -> &[Arc<dyn Model>] {
        &[]
    }

    /// Sends the prompt. `call` names the request in tests; it reaches the wire only where the adapter was told so.
    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream;
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The answer, without reasoning.
    pub text: String,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What the call consumed.
    pub usage: Option<Usage>,
    /// What the model wants to have called, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// Who answered, where it was not the model that was asked; whoever goes through a chain says it.
    pub answered_by: Option<ModelRef>,
}

impl Reply {
    /// Whether it says nothing and calls nothing.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.tool_calls.is_empty()
    }
}

/// Collects a stream into a reply of at most `bytes_max`; `on_text` sees each piece of the answer as it arrives. A reply
/// that says nothing is an error, unless a filter withheld it.
pub async fn collect(
    mut stream: ModelStream,
    bytes_max: u64,
    mut on_text: impl FnMut(&str),
) -> Result<Reply, ModelError> {
    let mut text = String::new();
    let mut tool_calls = Vec::new();
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
            ModelDelta::Done { stop, usage } => {
                let reply = Reply { text, stop, usage, tool_calls, answered_by: None };
                if reply.is_empty() && stop != StopReason::Filtered {
                    return Err(ModelError::ReplyEmpty { stop, usage });
                }
                return Ok(reply);
            }
        }
    }
    Err(ModelError::StreamCut)
}
