//! Enforces a cell's CPU limit in the worker. Wall-clock time would stop an innocent cell on a busy machine.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::monty::Capture;
use crate::wire::{self, RESPONSE_BYTES_MAX, Response};
use crate::{CellEnd, Raised, Step};

pub(super) struct CpuLimit {
    /// What is watched, and the start of a cell.
    shared: Arc<(Mutex<Watched>, Condvar)>,
}

#[derive(Default)]
struct Watched {
    /// The CPU time at which the cell is stopped; none while no cell runs.
    until: Option<Duration>,
    cell_ms_max: u64,
    printed: Option<Capture>,
}

impl CpuLimit {
    /// Starts the watchdog. If a cell takes too long, it answers on `output` in the cell's place and ends the process:
    /// no state of the cell can be trusted afterwards.
    pub(super) fn start(mut output: File) -> io::Result<Self> {
        let shared: Arc<(Mutex<Watched>, Condvar)> = Arc::default();
        let watching = Arc::clone(&shared);
        let watch = move || {
            let (watched, begun) = &*watching;
            let mut watched = lock(watched);
            loop {
                watched = match watched.until.map(|until| until.saturating_sub(used())) {
                    None => begun.wait(watched).unwrap_or_else(PoisonError::into_inner),
                    Some(Duration::ZERO) => {
                        // We hold the lock: the cell cannot finish now and answer as well.
                        watched.stop(&mut output);
                        std::process::exit(0);
                    }
                    Some(rest) => {
                        let waited = begun.wait_timeout(watched, rest);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                };
            }
        };
        std::thread::Builder::new().name("cpu".into()).stack_size(256 << 10).spawn(watch)?;
        Ok(Self { shared })
    }

    pub(super) fn set_printed(&self, printed: Capture) {
        lock(&self.shared.0).printed = Some(printed);
    }

    /// Runs work of a cell that has `left` of its time; returns what is left afterwards.
    pub(super) fn run<T>(&self, cell_ms_max: u64, left: Duration, work: impl FnOnce() -> T) -> (T, Duration) {
        let began = used();
        {
            let mut watched = lock(&self.shared.0);
            (watched.until, watched.cell_ms_max) = (Some(began.saturating_add(left)), cell_ms_max);
        }
        self.shared.1.notify_one();
        let done = work();
        lock(&self.shared.0).until = None;
        (done, left.saturating_sub(used().saturating_sub(began)))
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    fn stop(&self, output: &mut File) {
        // This allocation is ours and not the cell's.
        monty_alloc::set_hard_limit(None).ok();
        let message =
            format!("time limit exceeded: this cell used more than {} ms of CPU time", self.cell_ms_max);
        let raised = Raised {
            kind: "TimeoutError".into(),
            traceback: format!("TimeoutError: {message}"),
            message,
            is_poisoned: true,
        };
        let printed = self.printed.as_ref().map(Capture::finish).unwrap_or_default();
        let step = Step::Finished(CellEnd::Raised { output: printed, raised });
        // If the host has stopped listening, no response is needed.
        drop(wire::write(output, &Response::Step(Cow::Owned(step)), RESPONSE_BYTES_MAX));
    }
}

fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
