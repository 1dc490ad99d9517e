//! Asking models: which model is called, for what, and under which call id. `call.rs` makes the call.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::{BoxFuture, FutureExt, join_all};
use spelunk_model::{Model, Prompt, Reply};
use spelunk_types::CallId;

use super::Frame;
use super::call::{Ask, Purpose};
use super::failure::durable;
use crate::Result;

type Asking = BoxFuture<'static, Result<Reply>>;

impl Frame {
    /// Calls this frame's model. The call's id is assigned now, before anything is awaited:
    /// identity follows program order.
    pub fn ask(&self, prompt: Prompt) -> Asking {
        self.ask_for(Purpose::Turn, self.model(), prompt)
    }

    /// Like [`Self::ask`], with a reply that is not from the cache. If too little budget remains, the call is refused and
    /// the run continues.
    pub(crate) fn ask_anew(&self, prompt: Prompt) -> Asking {
        self.ask_for(Purpose::FreshSubCall, self.model(), prompt)
    }

    /// Sends many prompts at once; replies are in the order of the prompts.
    pub fn ask_all(&self, prompts: Vec<Prompt>) -> BoxFuture<'static, Vec<Result<Reply>>> {
        join_all(prompts.into_iter().map(|prompt| self.ask(prompt))).boxed()
    }

    /// Calls the sub-model with a smaller question. Leaves the frames above enough budget to conclude; if too little
    /// remains, the call is refused and the run continues.
    pub(crate) fn ask_sub(&self, prompt: impl Into<Arc<Prompt>>) -> Asking {
        self.ask_sub_of(prompt, None)
    }

    /// Like [`Self::ask_sub`], with a reply that is not from the cache.
    pub(crate) fn ask_sub_anew(&self, prompt: Prompt) -> Asking {
        self.ask_for(Purpose::FreshSubCall, &self.run().models.sub, prompt)
    }

    /// Like [`Self::ask_sub`], with a named model.
    pub(crate) fn ask_sub_of(&self, prompt: impl Into<Arc<Prompt>>, named: Option<Arc<dyn Model>>) -> Asking {
        self.ask_sub_at(self.take_call(), prompt, named)
    }

    /// Like [`Self::ask_sub_of`], under an id that was taken before.
    pub(crate) fn ask_sub_at(
        &self,
        call: CallId,
        prompt: impl Into<Arc<Prompt>>,
        named: Option<Arc<dyn Model>>,
    ) -> Asking {
        let model = named.unwrap_or_else(|| Arc::clone(&self.run().models.sub));
        self.ask_at(call, Ask { prompt: prompt.into(), model, purpose: Purpose::SubCall })
    }

    /// Calls the synthesis model from a frame below the root. If the budget is exhausted, the call is refused and the
    /// run continues.
    pub(crate) fn ask_synthesis(&self, prompt: Prompt) -> Asking {
        self.ask_for(Purpose::Synthesis, &self.run().models.synthesis, prompt)
    }

    fn ask_for(&self, purpose: Purpose, model: &Arc<dyn Model>, prompt: Prompt) -> Asking {
        let (prompt, model) = (Arc::new(prompt), Arc::clone(model));
        self.ask_at(self.take_call(), Ask { prompt, model, purpose })
    }

    pub(crate) fn next_call(&self) -> CallId {
        CallId { frame: self.id().clone(), ordinal: self.shared.counters.calls.load(Ordering::Relaxed) }
    }

    pub(crate) fn take_call(&self) -> CallId {
        let ordinal = self.shared.counters.calls.fetch_add(1, Ordering::Relaxed);
        CallId { frame: self.id().clone(), ordinal }
    }

    /// The id of a possible follow-up call, taken together with that of the call it depends on, so
    /// that the order of replies does not affect it. Older journals have none.
    pub(crate) fn take_correction(&self) -> Option<CallId> {
        self.run().replay.reserves_corrections().then(|| self.take_call())
    }

    fn ask_at(&self, call: CallId, mut ask: Ask) -> Asking {
        if let Some(effort) = ask.model.facts().effort {
            Arc::make_mut(&mut ask.prompt).effort = Some(effort);
        }
        let (frame, past) = (self.clone(), self.move_past_failures());
        Box::pin(async move {
            durable(past).await?;
            frame.ask_as(call, ask).await
        })
    }
}
