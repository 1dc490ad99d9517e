//! RateLimit: how fast one model may be asked, shared by all runs of an engine. It keeps to the requests and tokens per minute
//! that the user states, and finds out by itself how many calls at once the provider likes: fewer after a refusal or when
//! first words come much later than they did, one more after each full round of successes. A model that was out rests for
//! a while: where another can stand in for it, that one is asked first.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use spelunk_model::{Model, ModelError, Rate, RateBucket};
use spelunk_types::BlobId;
use tokio::time::{Instant, sleep};

use crate::concurrency::{ConcurrencyLimit, Pass};

/// More calls of one model at once than any provider takes from one machine.
const WIDTH_MAX: u64 = 4096;
/// Models that are remembered; a process that asks more of them than this begins to forget.
const PACES_MAX: usize = 1000;
/// First words that come this many times later than the quickest so far mean that the provider is crowded.
const CROWDED_FACTOR: u32 = 4;
/// Below this, a wait says nothing about the provider.
const CROWDED_MIN: Duration = Duration::from_secs(2);
/// A crowd alone never takes it below this: a model that thinks before its first word looks like one.
const CROWDED_WIDTH_MIN: usize = 8;
/// Waits that the average looks back on.
const WAITS_AVERAGED: u32 = 16;

/// Outages in a row after which a model rests. One alone may be an accident.
const OUTAGES_MAX: u32 = 3;
/// How long it rests. Each call that still asked it would wait as long as the first did.
const REST: Duration = Duration::from_secs(30);

/// Refused schemas that are remembered for a model; one more costs a request each time.
const SCHEMAS_MAX: usize = 1000;

/// How fast one model may be asked.
#[derive(Debug)]
pub(crate) struct RateLimit {
    gate: ConcurrencyLimit,
    bucket: Option<Mutex<RateBucket>>,
    /// Where calls wait for the bucket, in the order in which they came: a large one is not overtaken for ever by small
    /// ones.
    line: tokio::sync::Mutex<()>,
    waits: Mutex<Waits>,
    outages: Mutex<Outages>,
    /// Schemas that the provider has said it does not take for this model.
    refused_schemas: Mutex<HashSet<BlobId>>,
    began: Instant,
}

/// How long first words take.
#[derive(Debug, Default)]
struct Waits {
    quickest: Option<Duration>,
    average: Duration,
    n_since_change: u32,
}

/// How often a model was out.
#[derive(Debug, Default)]
struct Outages {
    n_in_a_row: u32,
    rests_until: Option<Instant>,
    /// The wait that the provider asked for; a reply to an earlier request does not shorten it.
    pauses_until: Option<Instant>,
}

/// The right to have one call in flight with this model.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pace: &'a RateLimit,
    tokens_taken: u64,
    taken_at_ms: u64,
    _pass: Pass<'a>,
}

impl RateLimit {
    pub(crate) fn new(rate: Rate) -> Self {
        let is_rated = rate != Rate::default();
        Self {
            gate: ConcurrencyLimit::new(WIDTH_MAX),
            bucket: is_rated.then(|| Mutex::new(RateBucket::new(rate, 0))),
            line: tokio::sync::Mutex::default(),
            waits: Mutex::default(),
            outages: Mutex::default(),
            refused_schemas: Mutex::default(),
            began: Instant::now(),
        }
    }

    /// Waits until a call that may use so many tokens can be sent.
    pub(crate) async fn enter(&self, tokens: u64) -> Turn<'_> {
        let pass = self.gate.enter().await;
        let mut taken_at_ms = 0;
        if let Some(bucket) = &self.bucket {
            let _first = self.line.lock().await;
            loop {
                taken_at_ms = self.now_ms();
                let taken = lock(bucket).take(tokens, taken_at_ms);
                match taken {
                    Ok(()) => break,
                    Err(wait) => sleep(wait).await,
                }
            }
        }
        Turn { pace: self, tokens_taken: tokens, taken_at_ms, _pass: pass }
    }

    /// The provider asked for fewer requests.
    pub(crate) fn refused(&self, wait: Duration) {
        self.gate.narrow(wait);
    }

    /// It is out. One that keeps silent costs whoever waits the most, and rests at once.
    pub(crate) fn failed(&self, error: &ModelError) {
        let is_silent = matches!(error, ModelError::TimedOut { .. });
        let mut outages = lock(&self.outages);
        outages.n_in_a_row = outages.n_in_a_row.saturating_add(1);
        if is_silent || outages.n_in_a_row >= OUTAGES_MAX {
            outages.rests_until = Some(Instant::now() + REST);
        }
    }

    /// Nobody who can ask another should ask it for a while.
    pub(crate) fn rest(&self) {
        lock(&self.outages).rests_until = Some(Instant::now() + REST);
    }

    /// The provider has no capacity: half as many from now on, none before `pause` is over, and whoever can ask another
    /// does not stand at its door.
    pub(crate) fn overloaded(&self, pause: Duration) {
        self.gate.narrow(pause);
        let until = Instant::now() + pause;
        let mut outages = lock(&self.outages);
        outages.pauses_until = Some(outages.pauses_until.map_or(until, |before| before.max(until)));
    }

    pub(crate) fn is_resting(&self) -> bool {
        let Outages { rests_until, pauses_until, .. } = *lock(&self.outages);
        rests_until.max(pauses_until).is_some_and(|until| until > Instant::now())
    }

    /// A call succeeded; its first word came after this long.
    pub(crate) fn succeeded(&self, first_word: Duration) {
        {
            let mut outages = lock(&self.outages);
            (outages.n_in_a_row, outages.rests_until) = (0, None);
        }
        if self.is_crowded(first_word) {
            self.gate.narrow_above(Duration::ZERO, CROWDED_WIDTH_MIN);
        } else {
            self.gate.widen();
        }
    }

    /// Whether this schema is worth sending.
    pub(crate) fn takes_schema(&self, schema: &Value) -> bool {
        let refused = lock(&self.refused_schemas);
        refused.is_empty() || !refused.contains(&schema_key(schema))
    }

    /// The provider does not take this schema for this model. One schema that it cannot read says nothing about others.
    pub(crate) fn refuse_schema(&self, schema: &Value) {
        let mut refused = lock(&self.refused_schemas);
        if refused.len() < SCHEMAS_MAX {
            refused.insert(schema_key(schema));
        }
    }

    /// Whether first words come much later than they can. Said at most once for each round of calls, so that what a
    /// change does can be seen before the next.
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
            // What was quick once may never be again: the comparison moves up slowly.
            waits.quickest = Some(quickest * 2);
        }
        is_crowded
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Turn<'_> {
    /// Corrects what was taken from the minute by what was used.
    pub(crate) fn settle(&self, tokens_used: u64) {
        if let Some(bucket) = &self.pace.bucket {
            lock(bucket).settle((self.tokens_taken, self.taken_at_ms), tokens_used);
        }
    }
}

/// How fast each model may be asked. Engines that share one keep to it together. Cloning gives another handle on the
/// same paces.
#[derive(Debug, Clone, Default)]
pub struct RateLimits {
    paces: Arc<Mutex<HashMap<String, Arc<RateLimit>>>>,
}

impl RateLimits {
    /// The pace of a model: the same for all runs.
    pub(crate) fn of(&self, model: &dyn Model) -> Arc<RateLimit> {
        let reference = model.reference();
        let rate = model.rate();
        let key = format!("{reference} {} {rate:?}", reference.base_url);
        let mut paces = lock(&self.paces);
        if paces.len() >= PACES_MAX && !paces.contains_key(&key) {
            paces.retain(|_, pace| Arc::strong_count(pace) > 1);
        }
        Arc::clone(paces.entry(key).or_insert_with(|| Arc::new(RateLimit::new(rate))))
    }
}

fn schema_key(schema: &Value) -> BlobId {
    spelunk_journal::digest(schema.to_string().as_bytes())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
