//! The concurrency limit: how many calls may be in flight. It halves when the provider asks for less, pauses
//! as long as the provider requests, and grows by one after each full round of successes. Each tree has one
//! fixed at `calls_parallel_max`; each model has one that adapts to its provider (`rate_limit.rs`).

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

use crate::sync::lock;

#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    width: usize,
    width_max: usize,
    /// Permits to be withdrawn when they are returned.
    owed: usize,
    n_successes: usize,
    /// No call may start before this.
    closed_until: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Pass<'a> {
    concurrency: &'a ConcurrencyLimit,
    permit: Option<SemaphorePermit<'a>>,
}

impl ConcurrencyLimit {
    pub(crate) fn new(width_max: u64) -> Self {
        let width_max = usize::try_from(width_max).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        let state = State { width: width_max, width_max, owed: 0, n_successes: 0, closed_until: None };
        Self { permits: Semaphore::new(width_max), state: Mutex::new(state) }
    }

    /// Waits for a free permit and for the end of any pause.
    pub(crate) async fn enter(&self) -> Pass<'_> {
        let permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let pass = Pass { concurrency: self, permit: Some(permit) };
        loop {
            let closed_until = lock(&self.state).closed_until;
            match closed_until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                Some(_) | None => return pass,
            }
        }
    }

    /// Called when the provider asks for fewer requests: halves the width and pauses for `wait`.
    /// Refusals during the pause belong to the same wave and do not narrow it further.
    pub(crate) fn narrow(&self, wait: Duration) {
        self.narrow_above(wait, 1);
    }

    /// Like [`Self::narrow`], but never below `floor`. Halves the number of calls in flight,
    /// because the limit may be wider than needed.
    pub(crate) fn narrow_above(&self, wait: Duration, floor: usize) {
        let mut state = lock(&self.state);
        let now = Instant::now();
        let is_same_wave = state.closed_until.is_some_and(|until| until > now);
        let until = now + wait;
        state.closed_until = Some(state.closed_until.map_or(until, |closed| closed.max(until)));
        if is_same_wave {
            return;
        }
        let n_issued = state.width.saturating_add(state.owed);
        let n_busy = n_issued.saturating_sub(self.permits.available_permits());
        let in_use = if n_busy == 0 { state.width } else { state.width.min(n_busy) };
        let width = (in_use / 2).max(floor.max(1));
        if width >= state.width {
            return;
        }
        let n_withdrawn = state.width - width;
        let n_idle = self.permits.forget_permits(n_withdrawn);
        state.owed += n_withdrawn - n_idle;
        (state.width, state.n_successes) = (width, 0);
    }

    pub(crate) fn widen(&self) {
        let mut state = lock(&self.state);
        state.n_successes += 1;
        if state.n_successes < state.width || state.width >= state.width_max {
            return;
        }
        (state.width, state.n_successes) = (state.width + 1, 0);
        match state.owed.checked_sub(1) {
            Some(owed) => state.owed = owed,
            None => self.permits.add_permits(1),
        }
    }

    #[cfg(test)]
    fn width(&self) -> usize {
        lock(&self.state).width
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.concurrency.state);
        if let Some(owed) = state.owed.checked_sub(1) {
            state.owed = owed;
            if let Some(permit) = self.permit.take() {
                permit.forget();
            }
        }
    }
}

#[cfg(test)]
mod tests;
