//! Runs blocking work off the server's threads, where a panic becomes an error for its caller only, and waits for the
//! network where nothing else does.

use std::io;

use spelunk_types::ErrorCode;

use crate::failure::{FixedError, Result};

/// The work panicked; the panic message is on standard error.
const BROKE: FixedError = FixedError {
    code: ErrorCode::Bug,
    message: "the tool failed with an internal error",
    hint: "see the server's log, or try different arguments",
};

pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(BROKE.into()))
}

/// Waits for the work, on a thread of its own: the caller may be on a thread of a runtime, which must not wait for
/// another one.
pub(crate) fn apart<T: Send, F: Future<Output = T>>(work: impl FnOnce() -> F + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| -> io::Result<T> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(work()))
        });
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_answer() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let broke = runtime.block_on(blocking::<()>(|| panic!("a bug")));
        assert_eq!(broke.err().map(|failure| failure.0.code()), Some(ErrorCode::Bug));
        assert_eq!(runtime.block_on(blocking(|| Ok(1))).ok(), Some(1));
    }
}
