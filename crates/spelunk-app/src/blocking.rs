//! Runs blocking work on separate threads. A panic there becomes an error for its caller only.

use spelunk_types::ErrorCode;

use crate::failure::{Failure, FixedError};

/// The work panicked; the panic message is on standard error.
const BROKE: FixedError = FixedError {
    code: ErrorCode::Bug,
    message: "the tool failed with an internal error",
    hint: "see the server's log, or try different arguments",
};

pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(BROKE.into()))
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
