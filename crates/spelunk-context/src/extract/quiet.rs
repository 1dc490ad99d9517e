//! Turns a panic in a library that reads a hostile document into an error, without printing it.

use std::cell::Cell;
use std::panic::{self, UnwindSafe};
use std::sync::Once;

use crate::ExtractError;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; a panic in it is reported as damage in the document.
pub(super) fn catch<T>(
    work: impl FnOnce() -> Result<T, ExtractError> + UnwindSafe,
) -> Result<T, ExtractError> {
    static HOOK: Once = Once::new();
    // The program's panic hook stays in place for every other panic.
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                previous(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let outcome = panic::catch_unwind(work);
    IS_QUIET.set(false);
    outcome.unwrap_or_else(|_| Err(ExtractError::Damaged { what: "its reader stopped".to_owned() }))
}
