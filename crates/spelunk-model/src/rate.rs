//! Rate limits: the requests and tokens a provider accepts per minute, enforced by two token
//! buckets and a sliding window over the last minute. A pure type: it is given the time and returns
//! how long to wait; the engine decides who waits, and in which order.

use std::collections::VecDeque;
use std::time::Duration;

const MINUTE_MS: u64 = 60_000;

/// A tenth of a minute's allowance may be used at once; the rest is spread, so that no minute exceeds its limit.
const BURST_SHARE: u64 = 10;

/// Amounts taken within this time are recorded as one, at the time of the last.
const STRETCH_MS: u64 = 500;

/// What a provider accepts. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// Requests.
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens together.
    pub tokens_per_minute: Option<u64>,
}

/// The remaining allowance.
#[derive(Debug, Clone)]
pub struct RateBucket {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    /// For tokens only: a request for tokens may be larger than its bucket.
    last_minute: Option<LastMinute>,
    /// What may be used of the rate, if not all of it.
    part: Option<Rate>,
}

impl RateBucket {
    /// Full buckets, at this time of any monotonic clock.
    pub fn new(rate: Rate, now_ms: u64) -> Self {
        let bucket = |per_minute: Option<u64>| per_minute.map(|per_minute| Bucket::full(per_minute, now_ms));
        Self {
            requests: bucket(rate.requests_per_minute),
            tokens: bucket(rate.tokens_per_minute),
            last_minute: rate.tokens_per_minute.map(|per_minute| LastMinute::new(per_minute, now_ms)),
            part: None,
        }
    }

    /// From now on, only this part of the rate may be used; the first part begins empty, because others may just have used
    /// it.
    pub fn limit_to(&mut self, part: Rate, now_ms: u64) {
        if self.part == Some(part) {
            return;
        }
        let is_first = self.part.replace(part).is_none();
        let limit = |bucket: &mut Option<Bucket>, per_minute: Option<u64>| {
            if let (Some(bucket), Some(per_minute)) = (bucket, per_minute) {
                bucket.refill(now_ms);
                let limited = Bucket::full(per_minute, now_ms);
                let left = if is_first { 0 } else { bucket.left.min(limited.capacity) };
                *bucket = Bucket { left, ..limited };
            }
        };
        limit(&mut self.requests, part.requests_per_minute);
        limit(&mut self.tokens, part.tokens_per_minute);
        if let (Some(last_minute), Some(per_minute)) = (&mut self.last_minute, part.tokens_per_minute) {
            last_minute.per_minute = u128::from(per_minute.max(1));
        }
    }

    /// The time until now adds nothing: others had the rate.
    pub fn pass_over(&mut self, now_ms: u64) {
        for bucket in [&mut self.requests, &mut self.tokens].into_iter().flatten() {
            bucket.at_ms = bucket.at_ms.max(now_ms);
        }
    }

    /// Takes a request that may use this many tokens, or returns how long to wait before trying again. A request for
    /// more than the bucket holds starts when the bucket is full and the last minute has room for all of it, and later
    /// ones wait for it; one for more than a minute's allowance starts after an idle minute.
    pub fn take(&mut self, tokens: u64, now_ms: u64) -> Result<(), Duration> {
        let wait_ms = |bucket: &mut Option<Bucket>, amount| {
            bucket.as_mut().map_or(0, |bucket| {
                bucket.refill(now_ms);
                bucket.wait_ms(amount)
            })
        };
        let wait_ms = wait_ms(&mut self.requests, 1).max(wait_ms(&mut self.tokens, tokens));
        let wait_ms = wait_ms
            .max(self.last_minute.as_mut().map_or(0, |last_minute| last_minute.wait_ms(tokens, now_ms)));
        if wait_ms > 0 {
            return Err(Duration::from_millis(wait_ms));
        }
        if let Some(requests) = &mut self.requests {
            requests.left -= units(1);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.left -= units(tokens);
        }
        if let Some(last_minute) = &mut self.last_minute {
            last_minute.add(tokens);
        }
        Ok(())
    }

    /// Corrects an earlier reservation to the tokens actually used.
    pub fn settle(&mut self, (taken_tokens, taken_at_ms): (u64, u64), used_tokens: u64) {
        if let Some(bucket) = &mut self.tokens {
            bucket.left = (bucket.left + units(taken_tokens) - units(used_tokens)).min(bucket.capacity);
        }
        if let Some(last_minute) = &mut self.last_minute {
            last_minute.correct(taken_at_ms, taken_tokens, used_tokens);
        }
    }
}

/// One bucket. Amounts are in units of 1/60,000, so that the refill of a millisecond is an integer.
#[derive(Debug, Clone)]
struct Bucket {
    capacity: i128,
    /// Negative after a request larger than the bucket.
    left: i128,
    refill_per_ms: i128,
    at_ms: u64,
}

impl Bucket {
    fn full(per_minute: u64, now_ms: u64) -> Self {
        // A limit of zero would block everything, so it counts as one.
        let per_minute = per_minute.max(1);
        let burst = (per_minute / BURST_SHARE).max(1);
        let refill_per_ms = i128::from((per_minute - burst).max(1));
        Self { capacity: units(burst), left: units(burst), refill_per_ms, at_ms: now_ms }
    }

    fn refill(&mut self, now_ms: u64) {
        let passed_ms = i128::from(now_ms.saturating_sub(self.at_ms));
        self.at_ms = self.at_ms.max(now_ms);
        self.left = (self.left + passed_ms * self.refill_per_ms).min(self.capacity);
    }

    fn wait_ms(&self, amount: u64) -> u64 {
        let missing = units(amount).min(self.capacity) - self.left;
        if missing <= 0 {
            return 0;
        }
        let wait_ms = (missing + self.refill_per_ms - 1) / self.refill_per_ms;
        u64::try_from(wait_ms).unwrap_or(u64::MAX)
    }
}

/// What was taken in the last minute, in intervals of half a second: at most about as many as fit into a minute.
#[derive(Debug, Clone)]
struct LastMinute {
    per_minute: u128,
    intervals: VecDeque<Interval>,
    sum: u128,
    now_ms: u64,
}

#[derive(Debug, Clone)]
struct Interval {
    from_ms: u64,
    to_ms: u64,
    amount: u128,
}

impl LastMinute {
    fn new(per_minute: u64, now_ms: u64) -> Self {
        Self { per_minute: u128::from(per_minute.max(1)), intervals: VecDeque::new(), sum: 0, now_ms }
    }

    /// How long until this amount fits into the minute that ends then.
    fn wait_ms(&mut self, amount: u64, now_ms: u64) -> u64 {
        self.now_ms = self.now_ms.max(now_ms);
        while let Some(oldest) = self.intervals.front()
            && self.now_ms.saturating_sub(oldest.to_ms) >= MINUTE_MS
        {
            self.sum = self.sum.saturating_sub(oldest.amount);
            self.intervals.pop_front();
        }
        let room = self.per_minute - u128::from(amount).min(self.per_minute);
        let mut sum = self.sum;
        for interval in &self.intervals {
            if sum <= room {
                break;
            }
            sum = sum.saturating_sub(interval.amount);
            if sum <= room {
                return MINUTE_MS - self.now_ms.saturating_sub(interval.to_ms);
            }
        }
        0
    }

    fn add(&mut self, amount: u64) {
        let (now_ms, amount) = (self.now_ms, u128::from(amount));
        self.sum += amount;
        match self.intervals.back_mut() {
            Some(last) if now_ms.saturating_sub(last.from_ms) < STRETCH_MS => {
                last.to_ms = now_ms;
                last.amount += amount;
            }
            Some(_) | None => self.intervals.push_back(Interval { from_ms: now_ms, to_ms: now_ms, amount }),
        }
    }

    /// Corrects an amount; anything older than a minute no longer counts.
    fn correct(&mut self, at_ms: u64, taken: u64, used: u64) {
        let is_of = |interval: &&mut Interval| interval.from_ms <= at_ms && at_ms <= interval.to_ms;
        if let Some(interval) = self.intervals.iter_mut().find(is_of) {
            let corrected = (interval.amount + u128::from(used)).saturating_sub(u128::from(taken));
            self.sum = (self.sum + corrected).saturating_sub(interval.amount);
            interval.amount = corrected;
        }
    }
}

fn units(amount: u64) -> i128 {
    i128::from(amount) * i128::from(MINUTE_MS)
}

#[cfg(test)]
mod tests;
