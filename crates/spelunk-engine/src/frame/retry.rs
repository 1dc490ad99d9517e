//! A call and the models that may answer it: the one that was asked, and those that stand in when it is out. Each has
//! its own pace, its own patience and its own price. This is the one policy for asking again and for asking elsewhere.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use spelunk_model::{Model, ModelError, Reply};
use spelunk_types::{CallId, ErrorCode, EventKind, Explain};
use tokio::time::Instant;

use super::Frame;
use super::call::Paying;
use super::wasted_request::Sent;
use crate::attempt::{self, Seen, Wait};
use crate::budget::BudgetExceeded;
use crate::rate_limit::{RateLimit, RateLimits};
use crate::{FrameError, estimate};

/// One model of a chain, and how fast it may be asked.
struct Link {
    model: Arc<dyn Model>,
    pace: Arc<RateLimit>,
}

/// Why a call has no reply.
pub(super) enum Unsettled {
    /// What the models said last.
    Error(ModelError),
    /// What failed requests cost leaves too little for another.
    Unaffordable(BudgetExceeded),
}

/// What came of asking each model once.
enum Round {
    Replied(Reply),
    /// Every link that was asked is out, or one has said something that another must not cover up.
    Unanswered {
        error: ModelError,
        link_idx: usize,
    },
    /// There is too little left to ask the next one.
    Unaffordable(BudgetExceeded),
}

/// The models of a call, the one that was asked first.
fn links(model: &Arc<dyn Model>, paces: &RateLimits) -> Vec<Link> {
    let link = |model: &Arc<dyn Model>| Link { model: Arc::clone(model), pace: paces.of(model.as_ref()) };
    match model.links() {
        [] => vec![link(model)],
        links => links.iter().map(link).collect(),
    }
}

/// In which order they are asked now: those that were out a moment ago come last.
fn order(links: &[Link]) -> Vec<usize> {
    let (resting, ready): (Vec<_>, Vec<_>) = (0..links.len()).partition(|idx| links[*idx].pace.is_resting());
    ready.into_iter().chain(resting).collect()
}

/// Whether the model has too short a window for the request, or does not have what it asks for.
fn is_lacking(error: &ModelError) -> bool {
    matches!(error, ModelError::PromptTooLong { .. } | ModelError::FeatureRefused { .. })
}

impl Frame {
    /// Asks until there is a reply, with its usage priced, or no use in asking again. The outer error ends the run.
    pub(super) async fn attempt_until_settled(
        &self,
        paying: Paying<'_>,
    ) -> Result<Result<Reply, Unsettled>, FrameError> {
        let run = self.run();
        let Paying { call, ask, reservation, .. } = paying;
        let links = links(&ask.model, &run.paces);
        let (mut n_failed, mut may_pass_on) = (0, links.len() > 1);
        loop {
            let (error, link_idx) = match self.go_round(paying, &links, n_failed + 1).await? {
                Round::Replied(reply) => return Ok(Ok(reply)),
                Round::Unanswered { error, link_idx } => (error, link_idx),
                Round::Unaffordable(exceeded) => return Ok(Err(Unsettled::Unaffordable(exceeded))),
            };
            n_failed += 1;
            let pace = &links[link_idx].pace;
            let wait = attempt::wait(&error, (&run.id, call), n_failed, self.limits());
            let is_limited = error.code() == ErrorCode::ModelRateLimited;
            if wait.is_none() && !(is_limited && std::mem::take(&mut may_pass_on)) {
                return Ok(Err(Unsettled::Error(error)));
            }
            if let Err(exceeded) = reservation.again() {
                return Ok(Err(Unsettled::Unaffordable(exceeded)));
            }
            let Some(Wait { pause_ms, wait_ms }) = wait else {
                // A provider that still has no room after all waits is as good as out.
                pace.rest();
                self.record_retry(call, n_failed, error.code(), 0).await?;
                n_failed = 0;
                continue;
            };
            self.record_retry(call, n_failed, error.code(), wait_ms).await?;
            if matches!(error.code(), ErrorCode::ModelRateLimited | ErrorCode::ModelOverloaded) {
                pace.refused(Duration::from_millis(pause_ms));
            }
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
    }

    /// Asks each model at most once, and the next only where one is out.
    async fn go_round(&self, paying: Paying<'_>, links: &[Link], attempt: u32) -> Result<Round, FrameError> {
        let (mut last, mut refused) = (None, None);
        for link_idx in order(links) {
            if let Some(code) = refused {
                if let Err(exceeded) = paying.reservation.again() {
                    return Ok(Round::Unaffordable(exceeded));
                }
                // Whoever watches sees the reply begin anew.
                self.record_retry(paying.call, attempt, code, 0).await?;
            }
            let link = &links[link_idx];
            let error = match self.ask_link(paying, link, attempt).await? {
                Ok(reply) => {
                    let answered_by = (link_idx > 0).then(|| link.model.reference().clone());
                    return Ok(Round::Replied(Reply { answered_by, ..reply }));
                }
                Err(Unsettled::Error(error)) => error,
                Err(Unsettled::Unaffordable(exceeded)) => return Ok(Round::Unaffordable(exceeded)),
            };
            refused = Some(error.code());
            if link_idx > 0 && is_lacking(&error) {
                // What a stand-in cannot do says nothing about the model that was asked.
                continue;
            }
            if !error.is_outage() {
                return Ok(Round::Unanswered { error, link_idx });
            }
            link.pace.failed(&error);
            if error.code() == ErrorCode::ModelOverloaded && links.len() > 1 {
                link.pace.overloaded(Duration::from_millis(attempt::pause_ms(&error, self.limits())));
            }
            last = Some((error, link_idx));
        }
        let (error, link_idx) = last.expect("the model that was asked is among them");
        Ok(Round::Unanswered { error, link_idx })
    }

    /// Sends the request to one model, and once more without its schema where that is refused.
    async fn ask_link(
        &self,
        paying: Paying<'_>,
        link: &Link,
        attempt: u32,
    ) -> Result<Result<Reply, Unsettled>, FrameError> {
        let (run, pace, Paying { call, ask, reservation, .. }) = (self.run(), &link.pace, paying);
        let tokens = estimate::at_most(link.model.as_ref(), &ask.prompt).tokens();
        let mut prompt = Cow::Borrowed(ask.prompt.as_ref());
        loop {
            if prompt.schema.as_ref().is_some_and(|schema| !pace.takes_schema(schema)) {
                // The answer is held against the schema here, too; the model is told of it in words.
                prompt.to_mut().schema = None;
            }
            let turn = pace.enter(tokens).await;
            if reservation.send() {
                self.record_sent(paying).await?;
            }
            let began = Instant::now();
            let mut first_word = None;
            let on_text = |text: &str| {
                first_word.get_or_insert_with(|| began.elapsed());
                let text = text.to_owned();
                run.scribe.show(self.id(), EventKind::CallStreamed { call: call.clone(), text });
            };
            let (model, seen) = (link.model.as_ref(), Seen::default());
            let sent = Sent::new((self, call), (model, &ask.prompt), &seen, reservation);
            let error = match attempt::attempt(model, &prompt, call, self.limits(), &seen, on_text).await {
                Ok(mut reply) => {
                    sent.replied();
                    turn.settle(reply.usage.map_or(tokens, |usage| usage.tokens()));
                    pace.succeeded(first_word.unwrap_or_else(|| began.elapsed()));
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
            pace.refuse_schema(&schema);
            prompt.to_mut().schema = None;
        }
    }

    /// Writes down that another request follows, and waits until that is written, as for the first one.
    async fn record_retry(
        &self,
        call: &CallId,
        attempt: u32,
        code: ErrorCode,
        wait_ms: u64,
    ) -> Result<(), FrameError> {
        let kind = EventKind::CallRetried { call: call.clone(), attempt, code, wait_ms };
        Ok(self.run().scribe.post(self.id(), Box::new(move |_| Ok(kind))).written().await?)
    }
}

#[cfg(test)]
mod tests;
