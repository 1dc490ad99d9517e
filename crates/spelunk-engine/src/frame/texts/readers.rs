//! Reader threads: a few threads read documents on behalf of tasks. With one thread per task, a wave of replies would
//! wake a hundred threads at once, all queueing for the same texts.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio::sync::oneshot;

/// Threads that read at once. The model, the executor and the journal writer need cores, too.
static THREADS_MAX: LazyLock<usize> = LazyLock::new(|| {
    let n_cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
    (n_cores / 2).clamp(1, 4)
});

type Job = Box<dyn FnOnce() + Send>;

/// A queue of reads, bounded by the number of active tasks.
#[derive(Default)]
pub(crate) struct Readers {
    queue: Arc<Mutex<Queue>>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    n_threads: usize,
}

impl Readers {
    /// Runs `read` on a thread that may block on the disk.
    pub(crate) async fn have<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> T {
        let (tell, told) = oneshot::channel::<Result<T, Box<dyn Any + Send>>>();
        self.add(Box::new(move || {
            // The receiver may be gone, which is fine.
            let _unheard = tell.send(catch_unwind(AssertUnwindSafe(read)));
        }));
        let outcome = told.await.expect("a job stays in the queue until it is done");
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn add(&self, job: Job) {
        let mut queue = lock(&self.queue);
        queue.jobs.push_back(job);
        if queue.n_threads < *THREADS_MAX {
            queue.n_threads += 1;
            let queue = Arc::clone(&self.queue);
            drop(tokio::task::spawn_blocking(move || work(&queue)));
        }
    }
}

/// Runs until the queue is empty; whoever adds a job then starts a new thread.
fn work(queue: &Mutex<Queue>) {
    loop {
        let mut waiting = lock(queue);
        let Some(job) = waiting.jobs.pop_front() else {
            waiting.n_threads -= 1;
            return;
        };
        drop(waiting);
        job();
    }
}

fn lock(queue: &Mutex<Queue>) -> std::sync::MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
