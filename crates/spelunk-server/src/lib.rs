//! Spelunk as a service: the HTTP server with its web pages, and the Model Context Protocol server.

#[doc(hidden)]
pub mod fuzzing;
pub mod http;
pub mod mcp;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ignores poisoning: what a thread that panicked left behind is still usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
