//! A call from start to settlement: replay, concurrency limit, cache, budget, journal. `retry.rs` decides which
//! models are called and how often.

use std::sync::Arc;

use spelunk_journal::Blobs;
use spelunk_model::{Model, Prompt, Reply};
use spelunk_types::{BlobId, CallId, CallOutcome, Durability, ErrorCode, EventKind, Explain, Served, Usage};

use super::Frame;
use super::retry::Unsettled;
use super::run::is_kept;
use crate::journal::wire;
use crate::journal::writer::{Draft, Mark, Receipt};
use crate::limits::budget::{BudgetExceeded, Reservation};
use crate::limits::estimate;
use crate::sync::lock;
use crate::{FrameError, JournalResult, Result, Stop};

pub(super) struct Ask {
    /// Shared with the journal writer.
    pub(super) prompt: Arc<Prompt>,
    pub(super) model: Arc<dyn Model>,
    pub(super) purpose: Purpose,
}

#[derive(Clone, Copy)]
pub(super) struct Paying<'a> {
    pub(super) call: &'a CallId,
    pub(super) ask: &'a Ask,
    pub(super) digest: &'a BlobId,
    pub(super) reservation: &'a Reservation,
}

/// The purpose of a call: determines what may be spent on it and what a refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The frame's own next step: without it the run cannot continue and ends.
    Turn,
    /// A smaller question: part of the budget is reserved for others, and the caller copes with a refusal.
    SubCall,
    /// A smaller question whose reply must be new: the cache is neither read nor written.
    FreshSubCall,
    /// Merging parts: may spend the budget that was reserved for merging.
    Synthesis,
}

/// The result of paying for a call: a reply, or a refusal that the frame can handle.
type Paid = Result<Reply, BudgetExceeded>;

impl Frame {
    pub(super) async fn ask_as(&self, call: CallId, ask: Ask) -> Result<Reply> {
        let run = self.run();
        // The prompt is complete: it cannot depend on events that arrive while it waits.
        let reasons = run.writer.mark();
        let model = &ask.model;
        let digest = wire::prompt_digest(model.reference(), &ask.prompt);
        let was_asked = run.replay.was_asked(&call, &digest);
        if was_asked == Some(false) {
            return Err(Stop::Diverged { what: format!("call `{call}` differs") }.into());
        }
        if let Some(outcome) = run.replay.settled.get(&call).filter(|_| was_asked.is_some()) {
            return self.replay_outcome(call, outcome);
        }
        let key = wire::cache_key(&digest, model.reference());
        // Identical prompts of one tree wait for the first one instead of being sent again.
        let flight = run.in_flight.of(&key);
        let is_shared = run.settings.cache_replies && ask.purpose == Purpose::SubCall;
        let mut shared = if is_shared { Some(flight.lock().await) } else { None };
        let at_hand = shared.as_ref().and_then(|reply| (**reply).clone());
        let _pass = run.concurrency.enter().await;
        run.writer.check()?;
        let known = match at_hand {
            Some(reply) => Some(reply),
            None if ask.purpose == Purpose::FreshSubCall => None,
            None => run.cached(&key).await,
        };
        if let Some(reply) = known {
            // Free now, and on replay too.
            let reply = Reply { usage: Some(Usage::default()), ..reply };
            self.record_unsent(&call, &ask, &digest).await?;
            self.record_reply(&call, &reply, Usage::default(), Served::Cache);
            return Ok(reply);
        }
        match self.ask_live((&call, &ask), (&digest, &key), reasons).await? {
            Ok(reply) => {
                if let Some(shared) = &mut shared {
                    **shared = Some(reply.clone());
                }
                Ok(reply)
            }
            Err(exceeded) => {
                self.tell_limit(&exceeded).await?;
                let (code, message) = (exceeded.code(), exceeded.to_string());
                Err(self.remember_failure(call, code, message))
            }
        }
    }

    /// Pays for a reply: reserve, send, settle, cache.
    async fn ask_live(
        &self,
        (call, ask): (&CallId, &Ask),
        (digest, key): (&BlobId, &BlobId),
        reasons: Mark,
    ) -> Result<Paid> {
        let run = self.run();
        let reservation = match self.reserve(ask) {
            Ok(reservation) => reservation,
            Err(exceeded) => {
                self.record_unsent(call, ask, digest).await?;
                return Self::refused(ask, exceeded);
            }
        };
        // A power failure must not leave a request without the replies it depends on. Of other
        // replies, a full disk may lose at most half as many as may be in flight.
        let recent = run.writer.replies_before_last(self.limits().calls_parallel_max / 2);
        run.writer.written_before(reasons.max(recent)).await?;
        let paying = Paying { call, ask, digest, reservation: &reservation };
        let reply = match self.attempt_until_settled(paying).await? {
            Ok(reply) => reply,
            Err(Unsettled::Unaffordable(exceeded)) => return Self::refused(ask, exceeded),
            Err(Unsettled::Error(error)) => {
                // Requests without a reply are already charged.
                reservation.settle(Usage::default());
                return Err(self.remember_failure(call.clone(), error.code(), error.to_string()));
            }
        };
        self.tell_stand_in(ask, &reply).await?;
        let usage = reply.usage.unwrap_or_default();
        self.record_reply(call, &reply, usage, Served::Live);
        reservation.settle(usage);
        if ask.purpose != Purpose::FreshSubCall {
            run.keep_in_cache(key.clone(), &reply)?;
        }
        Ok(Ok(reply))
    }

    /// Handles a refusal by the budget: a frame cannot continue without its next step.
    fn refused(ask: &Ask, exceeded: BudgetExceeded) -> Result<Paid> {
        match ask.purpose {
            Purpose::Turn => Err(Stop::Limit(exceeded).into()),
            Purpose::SubCall | Purpose::FreshSubCall | Purpose::Synthesis => Ok(Err(exceeded)),
        }
    }

    /// Warns once per process that a fallback model answers: it may cost more and be less capable.
    async fn tell_stand_in(&self, ask: &Ask, reply: &Reply) -> JournalResult {
        let Some(answering) = &reply.answered_by else { return Ok(()) };
        let run = self.run();
        let message = format!("{} is unavailable: {answering} answers instead", ask.model.reference());
        let is_new = lock(&run.stand_ins_told).insert(message.clone());
        if is_new {
            let hint = "check it with `spelunk doctor`".to_owned();
            run.writer.record(self.id(), EventKind::WarningRaised { message, hint }).await?;
        }
        Ok(())
    }

    /// Reports once per process that a limit was reached; the run continues.
    pub(super) async fn tell_limit(&self, exceeded: &BudgetExceeded) -> JournalResult {
        let written = {
            // Queued while locked, so that everything that follows from the refusal comes after it in the journal.
            let mut told = lock(&self.run().limits_told);
            told.insert(exceeded.limit).then(|| self.post_limit(exceeded))
        };
        match written {
            Some(receipt) => receipt.written().await,
            None => Ok(()),
        }
    }

    pub(super) fn post_limit(&self, exceeded: &BudgetExceeded) -> Receipt {
        let kind = EventKind::LimitReached { limit: exceeded.limit.to_owned(), value: exceeded.value };
        self.run().writer.post_event(self.id(), kind)
    }

    fn reserve(&self, ask: &Ask) -> Result<Reservation, BudgetExceeded> {
        let run = self.run();
        let estimate = estimate::at_most(ask.model.as_ref(), &ask.prompt);
        if matches!(ask.purpose, Purpose::SubCall | Purpose::FreshSubCall) {
            run.budget.reserve_leaving(estimate, &run.kept_for_conclusions())
        } else {
            run.budget.reserve(estimate)
        }
    }

    fn replay_outcome(&self, call: CallId, outcome: &CallOutcome) -> Result<Reply> {
        match outcome {
            CallOutcome::Replied { reply, stop, usage, tool_calls, certainty_permille } => {
                let text = self.run().blobs.text(reply).map_err(Arc::new)?;
                let called = tool_calls.as_ref().map(|calls| self.run().blobs.text(calls)).transpose();
                let tool_calls = wire::read_tool_calls(called.map_err(Arc::new)?.as_deref());
                Ok(Reply {
                    text,
                    stop: *stop,
                    usage: Some(*usage),
                    tool_calls,
                    answered_by: None,
                    certainty_permille: *certainty_permille,
                })
            }
            CallOutcome::Failed { code, message } => {
                Err(FrameError::Call { call, code: *code, message: message.clone() })
            }
        }
    }

    fn remember_failure(&self, call: CallId, code: ErrorCode, message: String) -> FrameError {
        let outcome = CallOutcome::Failed { code, message: message.clone() };
        let settled = EventKind::CallSettled { call: call.clone(), outcome, served: Served::Live };
        self.remember(call.frame.clone(), settled);
        FrameError::Call { call, code, message }
    }

    /// Whether the journal has this frame's next call with this prompt. On replay, decisions that depend on time or
    /// money are repeated as recorded.
    pub(crate) fn next_call_was(&self, prompt: &Prompt) -> Option<bool> {
        let digest = wire::prompt_digest(self.model().reference(), prompt);
        self.run().replay.was_asked(&self.next_call(), &digest)
    }

    /// Whether a sub-call with this prompt can be answered without a request. On replay the
    /// recorded decision is repeated. Reads a small file, only when the budget is exhausted.
    pub(crate) fn is_at_hand(&self, prompt: &Prompt) -> bool {
        let run = self.run();
        let model = run.models.sub.reference();
        let digest = wire::prompt_digest(model, prompt);
        if let Some(was_asked) = run.replay.was_asked(&self.next_call(), &digest) {
            return was_asked;
        }
        if self.is_replaying() {
            // The journal continues with something else: this call was refused.
            return false;
        }
        let record = || run.replies.get(&wire::cache_key(&digest, model));
        run.settings.cache_replies
            && record().and_then(|record| wire::read_reply(&record)).is_some_and(|reply| is_kept(&reply))
    }

    /// Records that a request is about to be sent and waits until that is written: if the process dies during
    /// the request, the journal has a record of it. A power failure may lose the record.
    pub(super) async fn record_sent(&self, paying: Paying<'_>) -> JournalResult {
        let Paying { call, ask, digest, reservation } = paying;
        let draft = started(call, ask, digest, Some(reservation.estimate));
        self.run().writer.post(self.id(), draft).written().await
    }

    /// Records a call that needs no request. A resumed run may have it already.
    async fn record_unsent(&self, call: &CallId, ask: &Ask, digest: &BlobId) -> JournalResult {
        if self.run().replay.was_asked(call, digest).is_some() {
            return Ok(());
        }
        let draft = started(call, ask, digest, None);
        self.run().writer.record_draft(self.id(), Durability::Buffered, draft).await
    }

    /// Queues the reply for the journal. The caller may use it at once; nothing leaves the run before it is on disk.
    fn record_reply(&self, call: &CallId, reply: &Reply, usage: Usage, served: Served) {
        let (call, text, stop) = (call.clone(), reply.text.clone(), reply.stop);
        let certainty_permille = reply.certainty_permille;
        let called = wire::write_tool_calls(&reply.tool_calls);
        let draft = move |blobs: &Blobs| {
            let tool_calls = called.map(|called| blobs.keep_said(&called)).transpose()?;
            let reply = blobs.keep_said(&text)?;
            let outcome = CallOutcome::Replied { reply, stop, usage, tool_calls, certainty_permille };
            Ok(EventKind::CallSettled { call, outcome, served })
        };
        self.run().writer.post_reply(self.id(), Box::new(draft));
    }
}

fn started(call: &CallId, ask: &Ask, digest: &BlobId, reserved: Option<Usage>) -> Draft {
    let model = ask.model.reference().clone();
    let (call, prompt, digest) = (call.clone(), Arc::clone(&ask.prompt), digest.clone());
    Box::new(move |blobs| {
        let record = wire::prompt_record(&model, &prompt, |text| blobs.keep_prompt(text))?;
        let text = blobs.keep_prompt(&record)?;
        Ok(EventKind::CallStarted { call, model: model.to_string(), prompt: digest, text, reserved })
    })
}
