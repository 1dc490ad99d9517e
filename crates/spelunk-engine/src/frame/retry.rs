//! A call and the chain of models that may answer it: the requested one and its fallbacks. Each has
//! its own rate limit, retries and price. This is the only policy for retries and fallbacks.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use spelunk_model::{Asked, Model, ModelError, Reply};
use spelunk_types::{CallId, ErrorCode, EventKind, Explain};
use tokio::time::Instant;

use super::Frame;
use super::call::Paying;
use super::wasted_request::SentRequest;
use crate::Result;
use crate::frame::attempt::{self, ReceivedTokens, Wait};
use crate::limits::budget::BudgetExceeded;
use crate::limits::estimate;
use crate::limits::rate_limit::{RateLimit, RateLimits, Turn};

struct Link {
    model: Arc<dyn Model>,
    rate_limit: Arc<RateLimit>,
}

pub(super) enum Unsettled {
    Error(ModelError),
    /// Failed requests left too little budget for another.
    Unaffordable(BudgetExceeded),
}

/// The models of a call, the requested one first.
fn links(model: &Arc<dyn Model>, rate_limits: &RateLimits) -> Vec<Link> {
    let link = |model: &Arc<dyn Model>| Link {
        model: Arc::clone(model),
        rate_limit: rate_limits.of(model.as_ref()),
    };
    match model.links() {
        [] => vec![link(model)],
        links => links.iter().map(link).collect(),
    }
}

fn order(links: &[Link]) -> Vec<usize> {
    let (resting, ready): (Vec<_>, Vec<_>) =
        (0..links.len()).partition(|idx| links[*idx].rate_limit.is_resting());
    ready.into_iter().chain(resting).collect()
}

/// Whether the model's window is too short for the request, or it lacks a feature the request needs.
fn is_lacking(error: &ModelError) -> bool {
    matches!(error, ModelError::PromptTooLong { .. } | ModelError::FeatureRefused { .. })
}

impl Frame {
    /// Sends requests until there is a reply, with its usage priced, or retrying is pointless. The outer error ends
    /// the run.
    pub(super) async fn attempt_until_settled(&self, paying: Paying<'_>) -> Result<Result<Reply, Unsettled>> {
        let run = self.run();
        let Paying { call, ask, reservation, .. } = paying;
        let links = links(&ask.model, &run.rate_limits);
        let (mut n_failed, mut may_pass_on) = (0, links.len() > 1);
        loop {
            let (error, link_idx) = match self.go_round(paying, &links, n_failed + 1).await? {
                Ok(reply) => return Ok(Ok(reply)),
                Err((Unsettled::Error(error), link_idx)) => (error, link_idx),
                Err((unaffordable, _)) => return Ok(Err(unaffordable)),
            };
            n_failed += 1;
            let rate_limit = &links[link_idx].rate_limit;
            let wait = attempt::wait(&error, (&run.id, call), n_failed, self.limits());
            let is_limited = error.code() == ErrorCode::ModelRateLimited;
            if wait.is_none() && !(is_limited && std::mem::take(&mut may_pass_on)) {
                return Ok(Err(Unsettled::Error(error)));
            }
            if let Err(exceeded) = reservation.again() {
                return Ok(Err(Unsettled::Unaffordable(exceeded)));
            }
            let Some(Wait { pause_ms, wait_ms }) = wait else {
                // A provider that is still overloaded after all waits counts as unavailable.
                rate_limit.rest();
                self.record_retry(call, n_failed, error.code(), 0).await?;
                n_failed = 0;
                continue;
            };
            self.record_retry(call, n_failed, error.code(), wait_ms).await?;
            if matches!(error.code(), ErrorCode::ModelRateLimited | ErrorCode::ModelOverloaded) {
                rate_limit.refused(Duration::from_millis(pause_ms));
            }
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
    }

    /// Calls each model at most once, and the next only if one is unavailable. If all are, the error is that of the
    /// last of the chain, whatever the order in which resting models were called.
    async fn go_round(
        &self,
        paying: Paying<'_>,
        links: &[Link],
        attempt: u32,
    ) -> Result<Result<Reply, (Unsettled, usize)>> {
        let (mut last, mut refused) = (None::<(ModelError, usize)>, None);
        for link_idx in order(links) {
            if let Some(code) = refused {
                if let Err(exceeded) = paying.reservation.again() {
                    return Ok(Err((Unsettled::Unaffordable(exceeded), link_idx)));
                }
                // Watchers see the reply start over.
                self.record_retry(paying.call, attempt, code, 0).await?;
            }
            let link = &links[link_idx];
            let error = match self.ask_link(paying, link, attempt).await? {
                Ok(reply) => {
                    let answered_by = (link_idx > 0).then(|| link.model.reference().clone());
                    return Ok(Ok(Reply { answered_by, ..reply }));
                }
                Err(Unsettled::Error(error)) => error,
                Err(unaffordable) => return Ok(Err((unaffordable, link_idx))),
            };
            refused = Some(error.code());
            if link_idx > 0 && is_lacking(&error) {
                // A limitation of a fallback says nothing about the requested model.
                continue;
            }
            if !error.is_outage() {
                // A fallback must not hide it.
                return Ok(Err((Unsettled::Error(error), link_idx)));
            }
            link.rate_limit.failed(&error);
            if error.code() == ErrorCode::ModelOverloaded && links.len() > 1 {
                link.rate_limit.overloaded(Duration::from_millis(attempt::pause_ms(&error, self.limits())));
            }
            if last.as_ref().is_none_or(|(_, last_idx)| *last_idx < link_idx) {
                last = Some((error, link_idx));
            }
        }
        let (error, link_idx) = last.expect("the model that was asked is among them");
        Ok(Err((Unsettled::Error(error), link_idx)))
    }

    /// Sends the request to one model, and again without its schema if that is refused.
    async fn ask_link(
        &self,
        paying: Paying<'_>,
        link: &Link,
        attempt: u32,
    ) -> Result<Result<Reply, Unsettled>> {
        let (run, rate_limit, Paying { call, ask, digest, reservation }) =
            (self.run(), &link.rate_limit, paying);
        let tokens = estimate::at_most(link.model.as_ref(), &ask.prompt).tokens();
        let mut prompt = Cow::Borrowed(ask.prompt.as_ref());
        loop {
            if prompt.schema.as_ref().is_some_and(|schema| !rate_limit.takes_schema(schema)) {
                // We validate the answer ourselves anyway, and the prompt describes the schema in words.
                prompt.to_mut().schema = None;
            }
            let turn = self.turn(link, tokens).await;
            let was_asked = attempt > 1 || run.replay.was_asked(call, digest).is_some();
            let asked = if was_asked { Asked::Before } else { Asked::Now };
            // Before the start is recorded: a call that waits for a place has cost nothing and has no deadline.
            let place = match &run.places {
                Some(places) => Some(places.enter(link.model.as_ref(), asked).await),
                None => None,
            };
            if reservation.send() {
                self.record_sent(paying).await?;
            }
            let began = Instant::now();
            let mut first_word = None;
            let on_text = |text: &str| {
                first_word.get_or_insert_with(|| began.elapsed());
                let text = text.to_owned();
                run.writer.show(self.id(), EventKind::CallStreamed { call: call.clone(), text });
            };
            let (model, seen) = (link.model.as_ref(), ReceivedTokens::default());
            let sent = SentRequest::new((self, call), (model, &ask.prompt), &seen, reservation);
            let error =
                match attempt::attempt((model, place), &prompt, call, self.limits(), &seen, on_text).await {
                    Ok(mut reply) => {
                        sent.replied();
                        turn.settle(reply.usage.map_or(tokens, |usage| usage.tokens()));
                        rate_limit.succeeded(first_word.unwrap_or_else(|| began.elapsed()));
                        reply.usage = Some(estimate::usage_of(model, &ask.prompt, &reply));
                        return Ok(Ok(reply));
                    }
                    Err(error) => error,
                };
            sent.broke(&error);
            drop(turn);
            let Some(schema) = prompt.schema.clone().filter(|_| attempt::refuses_schema(&error)) else {
                return Ok(Err(Unsettled::Error(error)));
            };
            if let Err(exceeded) = reservation.again() {
                return Ok(Err(Unsettled::Unaffordable(exceeded)));
            }
            self.record_retry(call, attempt, error.code(), 0).await?;
            rate_limit.refuse_schema(&schema);
            prompt.to_mut().schema = None;
        }
    }

    /// Waits until the rate of a model has room for this many tokens. In a fleet, this node has a share of it.
    async fn turn<'a>(&self, link: &'a Link, tokens: u64) -> Turn<'a> {
        match &self.run().places {
            None => link.rate_limit.enter(tokens).await,
            Some(places) => {
                let share = || places.share(link.model.reference(), link.model.facts().rate);
                link.rate_limit.enter_within(tokens, Some(&share)).await
            }
        }
    }

    /// Records that another request follows, and waits until that is written, as for the first one.
    async fn record_retry(&self, call: &CallId, attempt: u32, code: ErrorCode, wait_ms: u64) -> Result<()> {
        let kind = EventKind::CallRetried { call: call.clone(), attempt, code, wait_ms };
        Ok(self.run().writer.post_event(self.id(), kind).written().await?)
    }
}

#[cfg(test)]
mod tests;
