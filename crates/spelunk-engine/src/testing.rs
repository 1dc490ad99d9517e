//! What unit tests share: a model that has a name and a rate, and is never asked.

use spelunk_model::{Model, ModelStream, Price, Prompt, Rate};
use spelunk_types::{CallId, ModelRef};

/// A model by name and rate alone.
pub(crate) struct Named(pub(crate) ModelRef, pub(crate) Rate);

impl Model for Named {
    fn reference(&self) -> &ModelRef {
        &self.0
    }

    fn price(&self) -> Option<Price> {
        None
    }

    fn rate(&self) -> Rate {
        self.1
    }

    fn stream(&self, _: &Prompt, _: &CallId) -> ModelStream {
        unreachable!("nobody asks it")
    }
}
