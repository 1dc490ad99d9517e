//! Rate limits: how fast one model may be called, shared by all runs of an engine. Enforces the configured
//! requests and tokens per minute, and adapts the number of parallel calls to the provider: fewer after a
//! refusal or when the time to first token rises sharply, one more after each full round of successes. A
//! model that was unavailable rests for a while, and its fallbacks are called first.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use spelunk_model::{Model, ModelError, Rate, RateBucket};
use spelunk_types::BlobId;
use tokio::time::{Instant, sleep};

use crate::limits::concurrency::{ConcurrencyLimit, Pass};
use crate::sync::lock;

/// Higher than any provider accepts from one machine.
const WIDTH_MAX: u64 = 4096;
/// How many models are remembered; beyond this, unused ones are forgotten.
const MODELS_MAX: usize = 1000;
/// A time to first token this many times the fastest so far means that the provider is congested.
const CROWDED_FACTOR: u32 = 4;
/// Shorter waits say nothing about the provider.
const CROWDED_MIN: Duration = Duration::from_secs(2);
/// Congestion alone never reduces the width below this: a model that reasons before its first token looks the same.
const CROWDED_WIDTH_MIN: usize = 8;
const WAITS_AVERAGED: u32 = 16;

/// Consecutive outages after which a model rests. A single one may be an accident.
const OUTAGES_MAX: u32 = 3;
/// How long it rests. Each call sent meanwhile would wait as long as the first did.
const REST: Duration = Duration::from_secs(30);

const SHARE_WAIT: Duration = Duration::from_millis(100);
/// How often a call that waits for its share asks for it: much more often than a lease ends.
const SHARE_ASKED: Duration = Duration::from_secs(1);

/// How many rejected schemas are remembered per model; each further one costs an extra request each time.
const SCHEMAS_MAX: usize = 1000;

#[derive(Debug)]
pub(crate) struct RateLimit {
    concurrency: ConcurrencyLimit,
    bucket: Option<Mutex<RateBucket>>,
    /// Calls queue here for the bucket in order of arrival, so that small ones cannot overtake a large one forever.
    line: tokio::sync::Mutex<()>,
    waits: Mutex<Waits>,
    outages: Mutex<Outages>,
    refused_schemas: Mutex<HashSet<BlobId>>,
    began: Instant,
}

/// The part of a rate that may be used now; `None` while there is none.
pub(crate) type Share<'a> = &'a (dyn Fn() -> Option<Rate> + Sync);

#[derive(Debug, Default)]
struct Waits {
    quickest: Option<Duration>,
    average: Duration,
    n_since_change: u32,
}

#[derive(Debug, Default)]
struct Outages {
    n_in_a_row: u32,
    rests_until: Option<Instant>,
    /// The end of the pause that the provider requested; a reply to an earlier request does not shorten it.
    pauses_until: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Turn<'a> {
    rate_limit: &'a RateLimit,
    tokens_taken: u64,
    taken_at_ms: u64,
    _pass: Pass<'a>,
}

impl RateLimit {
    pub(crate) fn new(rate: Rate) -> Self {
        let is_rated = rate != Rate::default();
        Self {
            concurrency: ConcurrencyLimit::new(WIDTH_MAX),
            bucket: is_rated.then(|| Mutex::new(RateBucket::new(rate, 0))),
            line: tokio::sync::Mutex::default(),
            waits: Mutex::default(),
            outages: Mutex::default(),
            refused_schemas: Mutex::default(),
            began: Instant::now(),
        }
    }

    /// Waits until a call that may use this many tokens can be sent.
    pub(crate) async fn enter(&self, tokens: u64) -> Turn<'_> {
        self.enter_within(tokens, None).await
    }

    /// The same where others use the rate, too: how much of it may be used here now.
    pub(crate) async fn enter_within(&self, tokens: u64, share: Option<Share<'_>>) -> Turn<'_> {
        let pass = self.concurrency.enter().await;
        let mut taken_at_ms = 0;
        if let Some(bucket) = &self.bucket {
            let _first = self.line.lock().await;
            loop {
                taken_at_ms = self.now_ms();
                match Self::take(bucket, tokens, taken_at_ms, share) {
                    Ok(()) => break,
                    // A share that is not asked for is given back.
                    Err(wait) if share.is_some() => sleep(wait.min(SHARE_ASKED)).await,
                    Err(wait) => sleep(wait).await,
                }
            }
        }
        Turn { rate_limit: self, tokens_taken: tokens, taken_at_ms, _pass: pass }
    }

    fn take(
        bucket: &Mutex<RateBucket>,
        tokens: u64,
        now_ms: u64,
        share: Option<Share<'_>>,
    ) -> Result<(), Duration> {
        let mut bucket = lock(bucket);
        if let Some(share) = share {
            let Some(part) = share() else {
                bucket.pass_over(now_ms);
                return Err(SHARE_WAIT);
            };
            bucket.limit_to(part, now_ms);
        }
        bucket.take(tokens, now_ms)
    }

    pub(crate) fn refused(&self, wait: Duration) {
        self.concurrency.narrow(wait);
    }

    /// Called when the model is unavailable. A silent one costs its callers the most time, so it rests at once.
    pub(crate) fn failed(&self, error: &ModelError) {
        let is_silent = matches!(error, ModelError::TimedOut { .. });
        let mut outages = lock(&self.outages);
        outages.n_in_a_row = outages.n_in_a_row.saturating_add(1);
        if is_silent || outages.n_in_a_row >= OUTAGES_MAX {
            outages.rests_until = Some(Instant::now() + REST);
        }
    }

    pub(crate) fn rest(&self) {
        lock(&self.outages).rests_until = Some(Instant::now() + REST);
    }

    /// Called when the provider has no capacity: halves the width, pauses, and makes callers with a
    /// fallback use it instead of waiting.
    pub(crate) fn overloaded(&self, pause: Duration) {
        self.concurrency.narrow(pause);
        let until = Instant::now() + pause;
        let mut outages = lock(&self.outages);
        outages.pauses_until = Some(outages.pauses_until.map_or(until, |before| before.max(until)));
    }

    pub(crate) fn is_resting(&self) -> bool {
        let Outages { rests_until, pauses_until, .. } = *lock(&self.outages);
        rests_until.max(pauses_until).is_some_and(|until| until > Instant::now())
    }

    /// Called when a call succeeded; its first token took this long.
    pub(crate) fn succeeded(&self, first_word: Duration) {
        {
            let mut outages = lock(&self.outages);
            (outages.n_in_a_row, outages.rests_until) = (0, None);
        }
        if self.is_crowded(first_word) {
            self.concurrency.narrow_above(Duration::ZERO, CROWDED_WIDTH_MIN);
        } else {
            self.concurrency.widen();
        }
    }

    /// Whether to send this schema.
    pub(crate) fn takes_schema(&self, schema: &Value) -> bool {
        let refused = lock(&self.refused_schemas);
        refused.is_empty() || !refused.contains(&schema_key(schema))
    }

    /// Called when the provider rejects this schema for this model. That says nothing about other schemas.
    pub(crate) fn refuse_schema(&self, schema: &Value) {
        let mut refused = lock(&self.refused_schemas);
        if refused.len() < SCHEMAS_MAX {
            refused.insert(schema_key(schema));
        }
    }

    /// Whether first tokens take much longer than they could. True at most once per round of calls,
    /// so that a change takes effect before the next.
    fn is_crowded(&self, first_word: Duration) -> bool {
        let mut waits = lock(&self.waits);
        let quickest = waits.quickest.map_or(first_word, |quickest| quickest.min(first_word));
        waits.quickest = Some(quickest);
        waits.average = if waits.n_since_change == 0 {
            first_word
        } else {
            (waits.average * (WAITS_AVERAGED - 1) + first_word) / WAITS_AVERAGED
        };
        waits.n_since_change += 1;
        let has_seen_enough = waits.n_since_change >= WAITS_AVERAGED;
        let is_crowded = has_seen_enough
            && waits.average >= CROWDED_MIN
            && waits.average >= quickest.saturating_mul(CROWDED_FACTOR);
        if is_crowded {
            waits.n_since_change = 0;
            // The fastest time may never be reached again, so the reference rises slowly.
            waits.quickest = Some(quickest * 2);
        }
        is_crowded
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Turn<'_> {
    pub(crate) fn settle(&self, tokens_used: u64) {
        if let Some(bucket) = &self.rate_limit.bucket {
            lock(bucket).settle((self.tokens_taken, self.taken_at_ms), tokens_used);
        }
    }
}

/// The rate limits of all models. Engines that share one are limited together. Clones are handles to the same limits.
#[derive(Debug, Clone, Default)]
pub struct RateLimits {
    by_model: Arc<Mutex<HashMap<String, Arc<RateLimit>>>>,
}

impl RateLimits {
    pub(crate) fn of(&self, model: &dyn Model) -> Arc<RateLimit> {
        let reference = model.reference();
        let rate = model.facts().rate;
        let key = format!("{reference} {} {rate:?}", reference.base_url);
        let mut by_model = lock(&self.by_model);
        if by_model.len() >= MODELS_MAX && !by_model.contains_key(&key) {
            by_model.retain(|_, rate_limit| Arc::strong_count(rate_limit) > 1);
        }
        Arc::clone(by_model.entry(key).or_insert_with(|| Arc::new(RateLimit::new(rate))))
    }
}

fn schema_key(schema: &Value) -> BlobId {
    spelunk_journal::digest(schema.to_string().as_bytes())
}

#[cfg(test)]
mod tests;
