//! A chain of models: if one is down, the next is tried. The chain only lists them; the engine
//! walks it, because each model has its own rate limit, timeout and price.

use std::sync::Arc;

use spelunk_types::{CallId, ModelRef};

use crate::{Effort, Model, ModelStream, Price, Prompt, Rate};

/// Models in the order in which they are tried. Used directly, the chain behaves as its first model.
#[derive(Clone)]
pub struct FallbackModel {
    first: Arc<dyn Model>,
    links: Vec<Arc<dyn Model>>,
}

impl FallbackModel {
    /// A chain that starts with this model and has its reference.
    pub fn new(first: Arc<dyn Model>, others: Vec<Arc<dyn Model>>) -> Self {
        let links = std::iter::once(Arc::clone(&first)).chain(others).collect();
        Self { first, links }
    }
}

impl Model for FallbackModel {
    fn reference(&self) -> &ModelRef {
        self.first.reference()
    }

    /// The highest price in the chain for each kind of token: it must be reserved before it is known who answers.
    fn price(&self) -> Option<Price> {
        self.links.iter().filter_map(|model| model.price()).reduce(Price::highest)
    }

    fn rate(&self) -> Rate {
        self.first.rate()
    }

    fn computes_here(&self) -> bool {
        self.first.computes_here()
    }

    fn window_tokens(&self) -> Option<u64> {
        self.first.window_tokens()
    }

    /// Any model of the chain may have to answer.
    fn sees_images(&self) -> bool {
        self.links.iter().all(|model| model.sees_images())
    }

    fn reads_pdf(&self) -> bool {
        self.links.iter().all(|model| model.reads_pdf())
    }

    fn effort(&self) -> Option<Effort> {
        self.first.effort()
    }

    fn links(&self) -> &[Arc<dyn Model>] {
        &self.links
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.first.stream(prompt, call)
    }
}
