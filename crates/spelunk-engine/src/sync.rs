//! Locks and threads for the whole engine.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use spelunk_context::QueryWatch;

/// Locks a mutex. A panic of another holder does not matter: the protected data is valid at every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs work that blocks or computes for long on its own thread, because the executor has other
/// calls to serve. A panic in it continues in the caller.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// The same for queries, which end early when the result is no longer needed, as after Ctrl-C.
pub(crate) async fn watched<T: Send + 'static>(
    ms_max: u64,
    work: impl FnOnce(&QueryWatch) -> T + Send + 'static,
) -> T {
    struct Waiting(QueryWatch);
    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.is_abandoned.store(true, Ordering::Relaxed);
        }
    }
    let waiting = Waiting(QueryWatch::of_ms(ms_max));
    let watch = waiting.0.clone();
    blocking(move || work(&watch)).await
}
