//! Reader threads: a few threads read documents on behalf of tasks. With one thread per task, a wave of replies would
//! wake a hundred threads at once, all queueing for the same texts.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use tokio::sync::Semaphore;

use crate::sync::blocking;

/// The most threads that read at once: the model, the executor and the journal writer need cores too.
static THREADS_MAX: LazyLock<usize> = LazyLock::new(|| {
    let n_cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
    (n_cores / 2).clamp(1, 4)
});

/// The permits to read, one per thread. Tasks wait for them in order of arrival.
#[derive(Debug)]
pub(crate) struct Readers(Arc<Semaphore>);

impl Default for Readers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(*THREADS_MAX)))
    }
}

impl Readers {
    /// Runs `read` on a thread that may block on the disk.
    pub(crate) async fn have<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> T {
        let permit = Arc::clone(&self.0).acquire_owned().await.expect("the semaphore is never closed");
        // The thread holds the permit, so that a caller that no longer waits does not free it.
        blocking(move || {
            let _permit = permit;
            read()
        })
        .await
    }
}

#[cfg(test)]
mod tests;
