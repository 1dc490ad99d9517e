//! Rates: how many requests and tokens a provider takes in a minute, kept by two buckets. A pure type: it is told the
//! time and says how long to wait; who waits is the engine's gate.

use std::time::Duration;

const MINUTE_MS: u64 = 60_000;

/// A tenth of what a minute allows may go at once; the rest is spread, so that no minute sees more than its limit.
const BURST_SHARE: u64 = 10;

/// What a provider takes. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// Requests.
    pub requests_per_minute: Option<u64>,
    /// Tokens in both directions.
    pub tokens_per_minute: Option<u64>,
}

/// What is left of a rate.
#[derive(Debug, Clone)]
pub struct RateBucket {
    requests: Option<Level>,
    tokens: Option<Level>,
}

impl RateBucket {
    /// Full buckets, at this time of any clock that does not jump.
    pub fn new(rate: Rate, now_ms: u64) -> Self {
        let level = |per_minute: Option<u64>| per_minute.map(|per_minute| Level::full(per_minute, now_ms));
        Self { requests: level(rate.requests_per_minute), tokens: level(rate.tokens_per_minute) }
    }

    /// Takes a request that may use so many tokens, or says how long to wait before asking again. A request for more
    /// than the bucket holds goes when the bucket is full, and later ones wait for it.
    pub fn take(&mut self, tokens: u64, now_ms: u64) -> Result<(), Duration> {
        let wait_ms = |level: &mut Option<Level>, amount| {
            level.as_mut().map_or(0, |level| {
                level.refill(now_ms);
                level.wait_ms(amount)
            })
        };
        let wait_ms = wait_ms(&mut self.requests, 1).max(wait_ms(&mut self.tokens, tokens));
        if wait_ms > 0 {
            return Err(Duration::from_millis(wait_ms));
        }
        if let Some(requests) = &mut self.requests {
            requests.left -= units(1);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.left -= units(tokens);
        }
        Ok(())
    }

    /// Corrects what was taken by what was used.
    pub fn settle(&mut self, taken_tokens: u64, used_tokens: u64) {
        if let Some(bucket) = &mut self.tokens {
            bucket.left = (bucket.left + units(taken_tokens) - units(used_tokens)).min(bucket.capacity);
        }
    }
}

/// One bucket. Amounts are counted in parts of 60,000, so that a millisecond of refill is a whole number.
#[derive(Debug, Clone)]
struct Level {
    capacity: i128,
    /// Below zero after a request that was larger than the bucket.
    left: i128,
    refill_per_ms: i128,
    at_ms: u64,
}

impl Level {
    fn full(per_minute: u64, now_ms: u64) -> Self {
        // A limit of zero would never let anything through; it is taken for one.
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

fn units(amount: u64) -> i128 {
    i128::from(amount) * i128::from(MINUTE_MS)
}

#[cfg(test)]
mod tests;
