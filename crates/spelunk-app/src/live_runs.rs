//! The runs in progress in this process, whichever interface started them: how many may run at once, and how to stop one.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use spelunk_engine::Cancel;
use spelunk_types::RunId;

#[derive(Default)]
pub struct LiveRuns {
    state: Mutex<State>,
    freed: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct State {
    /// `None` means no limit: only servers have one.
    slots_max: Option<usize>,
    slots_taken: usize,
    cancels: HashMap<RunId, Cancel>,
}

/// A place among the runs in progress, freed when it is dropped.
pub struct Slot {
    runs: Arc<LiveRuns>,
    run: Option<RunId>,
    is_counted: bool,
}

impl LiveRuns {
    pub fn limit(&self, slots_max: usize) {
        self.state().slots_max = Some(slots_max);
    }

    /// Sets the callback for freed slots. Only the first call has an effect.
    pub fn on_free(&self, callback: impl Fn() + Send + Sync + 'static) {
        drop(self.freed.set(Box::new(callback)));
    }

    pub fn take_slot(self: &Arc<Self>) -> Option<Slot> {
        let mut state = self.state();
        if state.slots_max.is_some_and(|slots_max| state.slots_taken >= slots_max) {
            return None;
        }
        state.slots_taken += 1;
        drop(state);
        Some(Slot { runs: Arc::clone(self), run: None, is_counted: true })
    }

    /// A place for a session that mostly waits for its user: it can be cancelled but takes no slot.
    pub fn uncounted(self: &Arc<Self>) -> Slot {
        Slot { runs: Arc::clone(self), run: None, is_counted: false }
    }

    pub fn slots_taken(&self) -> usize {
        self.state().slots_taken
    }

    /// Asks a run to stop. False if it is not in progress here.
    pub fn cancel(&self, run: &RunId) -> bool {
        let cancel = self.state().cancels.get(run).cloned();
        cancel.inspect(Cancel::cancel).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    pub fn hold(&mut self, run: &RunId, cancel: &Cancel) {
        self.runs.state().cancels.insert(run.clone(), cancel.clone());
        self.run = Some(run.clone());
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.runs.state();
            if let Some(run) = &self.run {
                state.cancels.remove(run);
            }
            if !self.is_counted {
                return;
            }
            state.slots_taken = state.slots_taken.saturating_sub(1);
        }
        if let Some(freed) = self.runs.freed.get() {
            freed();
        }
    }
}

impl fmt::Debug for LiveRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRuns").field("slots_taken", &self.slots_taken()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn slots_are_limited_and_freed_when_they_are_dropped() {
        let runs = Arc::new(LiveRuns::default());
        let n_freed = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_freed);
        runs.on_free(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        runs.limit(1);
        let first = runs.take_slot();
        assert!(first.is_some() && runs.take_slot().is_none());
        let session = runs.uncounted();
        assert_eq!(runs.slots_taken(), 1);
        drop(session);
        assert_eq!(n_freed.load(Ordering::Relaxed), 0);
        drop(first);
        assert_eq!((n_freed.load(Ordering::Relaxed), runs.slots_taken()), (1, 0));
        assert!(runs.take_slot().is_some());
    }
}
