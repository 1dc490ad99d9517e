//! Rates: how many requests and tokens a provider takes in a minute, kept by two buckets and a look back on the last
//! minute. A pure type: it is told the time and says how long to wait; who waits, and in which order, is the engine's
//! business.

use std::collections::VecDeque;
use std::time::Duration;

const MINUTE_MS: u64 = 60_000;

/// A tenth of what a minute allows may go at once; the rest is spread, so that no minute sees more than its limit.
const BURST_SHARE: u64 = 10;

/// What was taken within this time is remembered as one, as if all of it had been taken last.
const STRETCH_MS: u64 = 500;

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
    /// Requests are never larger than their bucket; tokens may be.
    past: Option<Past>,
}

impl RateBucket {
    /// Full buckets, at this time of any clock that does not jump.
    pub fn new(rate: Rate, now_ms: u64) -> Self {
        let level = |per_minute: Option<u64>| per_minute.map(|per_minute| Level::full(per_minute, now_ms));
        Self {
            requests: level(rate.requests_per_minute),
            tokens: level(rate.tokens_per_minute),
            past: rate.tokens_per_minute.map(|per_minute| Past::new(per_minute, now_ms)),
        }
    }

    /// Takes a request that may use so many tokens, or says how long to wait before asking again. A request for more
    /// than the bucket holds goes when the bucket is full and the last minute has left room for all of it, and later ones
    /// wait for it; one for more than a minute allows goes after a minute without any.
    pub fn take(&mut self, tokens: u64, now_ms: u64) -> Result<(), Duration> {
        let wait_ms = |level: &mut Option<Level>, amount| {
            level.as_mut().map_or(0, |level| {
                level.refill(now_ms);
                level.wait_ms(amount)
            })
        };
        let wait_ms = wait_ms(&mut self.requests, 1).max(wait_ms(&mut self.tokens, tokens));
        let wait_ms = wait_ms.max(self.past.as_mut().map_or(0, |past| past.wait_ms(tokens, now_ms)));
        if wait_ms > 0 {
            return Err(Duration::from_millis(wait_ms));
        }
        if let Some(requests) = &mut self.requests {
            requests.left -= units(1);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.left -= units(tokens);
        }
        if let Some(past) = &mut self.past {
            past.add(tokens);
        }
        Ok(())
    }

    /// Corrects what was taken at some time by what was used.
    pub fn settle(&mut self, (taken_tokens, taken_at_ms): (u64, u64), used_tokens: u64) {
        if let Some(bucket) = &mut self.tokens {
            bucket.left = (bucket.left + units(taken_tokens) - units(used_tokens)).min(bucket.capacity);
        }
        if let Some(past) = &mut self.past {
            past.correct(taken_at_ms, taken_tokens, used_tokens);
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

/// What the last minute saw, in stretches of half a second: at most about as many as fit into a minute.
#[derive(Debug, Clone)]
struct Past {
    per_minute: u128,
    stretches: VecDeque<Stretch>,
    /// Of all stretches.
    sum: u128,
    now_ms: u64,
}

#[derive(Debug, Clone)]
struct Stretch {
    from_ms: u64,
    to_ms: u64,
    amount: u128,
}

impl Past {
    fn new(per_minute: u64, now_ms: u64) -> Self {
        Self { per_minute: u128::from(per_minute.max(1)), stretches: VecDeque::new(), sum: 0, now_ms }
    }

    /// How long until so much fits into the minute that ends then.
    fn wait_ms(&mut self, amount: u64, now_ms: u64) -> u64 {
        self.now_ms = self.now_ms.max(now_ms);
        while let Some(oldest) = self.stretches.front()
            && self.now_ms.saturating_sub(oldest.to_ms) >= MINUTE_MS
        {
            self.sum = self.sum.saturating_sub(oldest.amount);
            self.stretches.pop_front();
        }
        let room = self.per_minute - u128::from(amount).min(self.per_minute);
        let mut sum = self.sum;
        for stretch in &self.stretches {
            if sum <= room {
                break;
            }
            sum = sum.saturating_sub(stretch.amount);
            if sum <= room {
                return MINUTE_MS - self.now_ms.saturating_sub(stretch.to_ms);
            }
        }
        0
    }

    /// What is taken now.
    fn add(&mut self, amount: u64) {
        let (now_ms, amount) = (self.now_ms, u128::from(amount));
        self.sum += amount;
        match self.stretches.back_mut() {
            Some(last) if now_ms.saturating_sub(last.from_ms) < STRETCH_MS => {
                last.to_ms = now_ms;
                last.amount += amount;
            }
            Some(_) | None => self.stretches.push_back(Stretch { from_ms: now_ms, to_ms: now_ms, amount }),
        }
    }

    /// What was taken longer ago than a minute is of no account any more.
    fn correct(&mut self, at_ms: u64, taken: u64, used: u64) {
        let is_of = |stretch: &&mut Stretch| stretch.from_ms <= at_ms && at_ms <= stretch.to_ms;
        if let Some(stretch) = self.stretches.iter_mut().find(is_of) {
            let corrected = (stretch.amount + u128::from(used)).saturating_sub(u128::from(taken));
            self.sum = (self.sum + corrected).saturating_sub(stretch.amount);
            stretch.amount = corrected;
        }
    }
}

fn units(amount: u64) -> i128 {
    i128::from(amount) * i128::from(MINUTE_MS)
}

#[cfg(test)]
mod tests;
