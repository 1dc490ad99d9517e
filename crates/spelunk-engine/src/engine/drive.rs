//! A run in progress: drives it from its root frame to its outcome, which is the answer, a cancellation, a limit or an
//! error, and lets its owner wait for that or stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use spelunk_context::{DocEntry, Drift};
use spelunk_types::{ErrorCode, EventKind, Explain, FrameId, Grounding, RunId, RunOutcome};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::frame::Run;
use crate::{
    Answer, BudgetExceeded, Cancel, EventStream, Frame, FrameError, JournalResult, Result, Stop, Task,
};

#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RunResult {
    pub run: RunId,
    pub outcome: RunOutcome,
    pub answer: Option<Answer>,
    /// Why there is no answer, or only a partial one.
    pub error: Option<FrameError>,
}

impl RunResult {
    /// What stopped the run, if anything.
    pub fn stopped_by(&self) -> Option<ErrorCode> {
        match &self.outcome {
            RunOutcome::Answered => None,
            RunOutcome::Partial { stopped_by } => Some(*stopped_by),
            RunOutcome::Failed { code, .. } => Some(*code),
            RunOutcome::Cancelled => Some(ErrorCode::Cancelled),
        }
    }
}

#[expect(missing_docs, reason = "the names say it")]
pub struct RunHandle {
    pub run: RunId,
    /// Every event of the run, from the first.
    pub events: EventStream,
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

pub(crate) async fn drive(run: Arc<Run>, task: Task, cancel: Cancel, time_left: Duration) -> RunResult {
    let ended = solve_within(&run, task, &cancel, time_left).await;
    let (answer, error) = match ended {
        Ok(answer) => (Some(answer), None),
        Err(error) => (None, Some(run.replay.explained(error))),
    };
    let outcome = outcome_of(answer.as_ref(), error.as_ref());
    trim_cache(&run);
    // If the journal cannot be written, recording the end reports it.
    drop(warn_of_drift(&run).await);
    let recorded = record_end(&run, error.as_ref(), outcome.clone()).await;
    let (outcome, error) = match recorded {
        Ok(()) => (outcome, error),
        Err(unwritten) => {
            let error = FrameError::from(unwritten);
            (outcome_of(None, Some(&error)), Some(error))
        }
    };
    RunResult { run: run.id.clone(), outcome, answer, error }
}

/// Runs the root frame until it answers, is cancelled or times out. Remaining work, including requests in flight, is
/// dropped here, before the end is recorded.
async fn solve_within(run: &Arc<Run>, task: Task, cancel: &Cancel, time_left: Duration) -> Result<Answer> {
    let root = Frame::new(Arc::clone(run), FrameId::root());
    let solving = std::pin::pin!(root.solve(task));
    let cancelled = std::pin::pin!(cancel.requested());
    // The answer is polled first: it counts even if the user cancelled just now.
    match timeout(time_left, select(solving, cancelled)).await {
        Ok(Either::Left((answer, _))) => answer,
        Ok(Either::Right(((), _))) => Err(Stop::Cancelled.into()),
        Err(_) => {
            let value = run.settings.limits.run_ms_max;
            Err(Stop::Limit(BudgetExceeded { limit: "run_ms_max", value }).into())
        }
    }
}

const DRIFTS_TOLD_MAX: usize = 20;

/// Warns of files that changed since the scan, whatever the outcome of the run.
async fn warn_of_drift(run: &Run) -> JournalResult {
    let view = run.retrieval.whole.clone();
    let looking = tokio::task::spawn_blocking(move || {
        let told = |(document, drift): (&DocEntry, Drift)| format!("`{}` {drift}", document.name);
        view.drifts().into_iter().map(told).collect::<Vec<_>>()
    });
    let mut told = looking.await.unwrap_or_default();
    let n_more = told.len().saturating_sub(DRIFTS_TOLD_MAX);
    told.truncate(DRIFTS_TOLD_MAX);
    told.extend((n_more > 0).then(|| format!("{n_more} more files changed while they were read")));
    for message in told {
        let hint = "ask again to read the current version".to_owned();
        run.writer.record(&FrameId::root(), EventKind::WarningRaised { message, hint }).await?;
    }
    Ok(())
}

fn outcome_of(answer: Option<&Answer>, error: Option<&FrameError>) -> RunOutcome {
    match error {
        None => match answer.map(|answer| answer.grounding) {
            Some(Grounding::Partial { stopped_by }) => RunOutcome::Partial { stopped_by },
            Some(Grounding::Cited | Grounding::Computed | Grounding::Uncited) | None => RunOutcome::Answered,
        },
        Some(FrameError::Stopped(Stop::Cancelled)) => RunOutcome::Cancelled,
        Some(FrameError::Stopped(Stop::Limit(exceeded))) => {
            RunOutcome::Partial { stopped_by: exceeded.code() }
        }
        Some(error) => RunOutcome::Failed { code: error.code(), message: error.to_string() },
    }
}

/// Trims the reply cache on the journal writer's thread. A failure leaves a large cache, not a wrong one.
fn trim_cache(run: &Run) {
    let bytes_max = run.settings.limits.cache_bytes_max;
    drop(run.writer.chore(Box::new(move |replies| drop(replies.trim(bytes_max)))));
}

/// Records the end. A journal that cannot be written cannot record that either, so the error goes to the user.
async fn record_end(run: &Run, error: Option<&FrameError>, outcome: RunOutcome) -> JournalResult {
    let root = FrameId::root();
    match error {
        Some(FrameError::Stopped(Stop::Journal(_))) => return Ok(()),
        Some(FrameError::Stopped(Stop::Limit(BudgetExceeded { limit, value }))) => {
            let kind = EventKind::LimitReached { limit: (*limit).to_owned(), value: *value };
            run.writer.record(&root, kind).await?;
        }
        Some(_) | None => {}
    }
    run.writer.record(&root, EventKind::RunFinished { outcome }).await
}
