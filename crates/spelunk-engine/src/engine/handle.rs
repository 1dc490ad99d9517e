//! A run in progress: waiting for its end, and stopping it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use spelunk_types::{ErrorCode, FrameId, RunId, RunOutcome};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::RunResult;
use crate::{Cancel, EventStream, FrameError, Stop};

/// A run in progress.
pub struct RunHandle {
    /// The id of the run.
    pub run: RunId,
    /// Every event of the run, from the first.
    pub events: EventStream,
    /// Cancels the run.
    pub cancel: Cancel,
    pub(super) cut_off: CutOff,
    pub(super) driver: JoinSet<RunResult>,
    pub(super) written: oneshot::Receiver<()>,
}

/// Marks the run as cut off when dropped before its end: nothing is recorded from then on.
pub(super) struct CutOff(pub(super) Arc<AtomicBool>);

impl Drop for CutOff {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl RunHandle {
    /// Waits for the end of the run. Dropping the handle instead stops the run immediately, as a crash would.
    pub async fn join(mut self) -> RunResult {
        drop(self.events);
        let ended = self.driver.join_next().await.expect("the set holds the run's task");
        // The journal is complete and unlocked once the writer thread has finished.
        drop(self.written.await);
        ended.unwrap_or_else(|error| {
            let stop = Stop::Bug { frame: FrameId::root(), message: error.to_string() };
            let outcome = RunOutcome::Failed { code: ErrorCode::Bug, message: stop.to_string() };
            RunResult { run: self.run, outcome, answer: None, error: Some(FrameError::Stopped(stop)) }
        })
    }

    /// Stops the run immediately, as a crash would: nothing more is recorded, and calls in flight are lost. Returns
    /// once another handle can resume it.
    pub async fn abandon(self) {
        let Self { cut_off, mut driver, written, .. } = self;
        drop(cut_off);
        driver.shutdown().await;
        drop(written.await);
    }
}
