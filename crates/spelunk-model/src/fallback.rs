//! A chain of models: if one is down, the next is tried. The chain only lists them; the engine
//! walks it, because each model has its own rate limit, timeout and price.

use std::sync::Arc;

use spelunk_types::{CallId, ModelRef};

use crate::{Model, ModelFacts, ModelStream, Price, Prompt};

/// Models in the order in which they are tried. Used directly, the chain behaves as its first model.
#[derive(Clone)]
pub struct FallbackModel {
    /// At least one.
    links: Vec<Arc<dyn Model>>,
}

impl FallbackModel {
    /// A chain that starts with this model and has its reference.
    pub fn new(first: Arc<dyn Model>, others: Vec<Arc<dyn Model>>) -> Self {
        Self { links: std::iter::once(first).chain(others).collect() }
    }
}

impl Model for FallbackModel {
    fn reference(&self) -> &ModelRef {
        self.links[0].reference()
    }

    /// Those of the first, except where any of them may have to answer: the highest price for each kind of token must be
    /// reserved, and all of them must take what is sent.
    fn facts(&self) -> ModelFacts {
        let each = || self.links.iter().map(|model| model.facts());
        ModelFacts {
            price: each().filter_map(|facts| facts.price).reduce(Price::highest),
            sees_images: each().all(|facts| facts.sees_images),
            reads_pdf: each().all(|facts| facts.reads_pdf),
            ..self.links[0].facts()
        }
    }

    fn links(&self) -> &[Arc<dyn Model>] {
        &self.links
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.links[0].stream(prompt, call)
    }
}
