//! A request in flight. If it breaks after the provider began to answer, or is abandoned, it may be charged:
//! its estimated cost is taken from the budget and recorded, so that a resumed run counts the same. A request
//! in flight when the process dies is counted on resume (`RunView::unanswered`). One that is abandoned because
//! the provider rejects the key or does not have the model costs nothing: it would be refused, too.

use std::sync::atomic::Ordering;

use spelunk_model::{Model, ModelError, Prompt};
use spelunk_types::{CallId, ErrorCode, EventKind, Explain, Usage};

use super::Frame;
use crate::frame::attempt::{ReceivedTokens, may_cost};
use crate::limits::budget::Reservation;
use crate::limits::estimate;
use crate::sync::lock;

/// A request in flight. Dropping it abandons the request.
pub(super) struct SentRequest<'a> {
    frame: &'a Frame,
    call: &'a CallId,
    model: &'a dyn Model,
    prompt: &'a Prompt,
    seen: &'a ReceivedTokens,
    reservation: &'a Reservation,
    is_over: bool,
}

impl<'a> SentRequest<'a> {
    pub(super) fn new(
        (frame, call): (&'a Frame, &'a CallId),
        (model, prompt): (&'a dyn Model, &'a Prompt),
        seen: &'a ReceivedTokens,
        reservation: &'a Reservation,
    ) -> Self {
        Self { frame, call, model, prompt, seen, reservation, is_over: false }
    }

    /// It was answered; its cost is settled with the reply.
    pub(super) fn replied(mut self) {
        self.is_over = true;
        lock(&self.frame.run().refused_by).remove(self.model.reference());
    }

    /// It failed without a reply.
    pub(super) fn broke(mut self, error: &ModelError) {
        self.is_over = true;
        if matches!(error.code(), ErrorCode::ModelUnauthorized | ErrorCode::ModelNotFound) {
            lock(&self.frame.run().refused_by).insert(self.model.reference().clone());
        }
        if let ModelError::ReplyEmpty { usage: Some(told), .. } = error {
            self.count(estimate::priced(self.model, *told));
        } else if may_cost(error, self.seen) {
            self.count(self.estimated());
        }
    }

    fn estimated(&self) -> Usage {
        estimate::wasted(self.model, self.prompt, self.seen.tokens())
    }

    fn count(&self, usage: Usage) {
        self.reservation.spend(usage);
        let kind = EventKind::CallWasted { call: self.call.clone(), usage };
        // Not awaited here: later requests wait for everything that was posted before.
        drop(self.frame.run().writer.post_event(self.frame.id(), kind));
    }
}

impl Drop for SentRequest<'_> {
    fn drop(&mut self) {
        let run = self.frame.run();
        let is_refused = self.seen.tokens() == 0 && lock(&run.refused_by).contains(self.model.reference());
        if !self.is_over && !is_refused && !run.is_cut_off.load(Ordering::Relaxed) {
            self.count(self.estimated());
        }
    }
}
