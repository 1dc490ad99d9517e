//! A chain of models: when one is out, the next is asked. No model gets a request twice, so each adapter still sends one
//! request per call; a refusal, a wrong key or a reply that has begun is never covered up by asking elsewhere.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use spelunk_types::{CallId, ModelRef};

use crate::{Model, ModelDelta, ModelError, ModelStream, Price, Prompt, Rate};

/// Models in the order in which they are asked.
#[derive(Clone)]
pub struct FallbackModel {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
}

impl FallbackModel {
    /// A chain that begins with this model. Its reference is that of the first.
    pub fn new(first: Arc<dyn Model>, others: Vec<Arc<dyn Model>>) -> Self {
        Self { first, others }
    }
}

impl Model for FallbackModel {
    fn reference(&self) -> &ModelRef {
        self.first.reference()
    }

    /// The dearest of the chain, in each kind of token: what has to be reserved before it is known who answers. The usage
    /// of a reply has the cost at the price of the one that did.
    fn price(&self) -> Option<Price> {
        let prices = self.others.iter().filter_map(|model| model.price());
        self.first.price().into_iter().chain(prices).reduce(dearest)
    }

    /// That of the first: it is the one that is asked as long as it is there.
    fn rate(&self) -> Rate {
        self.first.rate()
    }

    /// A chain with one such model in it may take as long as that one.
    fn computes_here(&self) -> bool {
        self.first.computes_here() || self.others.iter().any(|model| model.computes_here())
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let asking = Asking {
            reply: self.first.stream(prompt, call),
            left: self.others.iter().cloned().collect(),
            answering: None,
            prompt: Arc::new(prompt.clone()),
            call: call.clone(),
            has_begun: false,
            held: VecDeque::new(),
        };
        Box::pin(stream::try_unfold(asking, Asking::advance))
    }
}

fn dearest(one: Price, other: Price) -> Price {
    Price {
        input_microusd_per_mtok: one.input_microusd_per_mtok.max(other.input_microusd_per_mtok),
        cached_microusd_per_mtok: one.cached_microusd_per_mtok.max(other.cached_microusd_per_mtok),
        cache_write_microusd_per_mtok: one
            .cache_write_microusd_per_mtok
            .max(other.cache_write_microusd_per_mtok),
        output_microusd_per_mtok: one.output_microusd_per_mtok.max(other.output_microusd_per_mtok),
    }
}

/// A reply that may still come from another model.
struct Asking {
    reply: ModelStream,
    left: VecDeque<Arc<dyn Model>>,
    /// Who is being asked, where it is not the first.
    answering: Option<ModelRef>,
    prompt: Arc<Prompt>,
    call: CallId,
    has_begun: bool,
    held: VecDeque<ModelDelta>,
}

impl Asking {
    async fn advance(mut self) -> Result<Option<(ModelDelta, Self)>, ModelError> {
        loop {
            if let Some(delta) = self.held.pop_front() {
                return Ok(Some((delta, self)));
            }
            match self.reply.next().await {
                None => return Ok(None),
                Some(Ok(delta)) => {
                    if !self.has_begun {
                        self.has_begun = true;
                        self.held.extend(self.answering.take().map(ModelDelta::AnsweredBy));
                    }
                    self.held.push_back(delta);
                }
                Some(Err(error)) => {
                    let next =
                        if self.has_begun || !error.is_outage() { None } else { self.left.pop_front() };
                    let Some(next) = next else { return Err(error) };
                    self.reply = next.stream(&self.prompt, &self.call);
                    self.answering = Some(next.reference().clone());
                }
            }
        }
    }
}
