//! A run: one question against one corpus, from its first event to its last. Holds the state that all frames of a run
//! share.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Either, select};
use spelunk_context::{Detector, DocEntry, Drift};
use spelunk_journal::{Blobs, JournalError, ReplyCache};
use spelunk_model::{Model, Reply};
use spelunk_sandbox::Sandbox;
use spelunk_types::{
    BlobId, ErrorCode, EventKind, Explain, FrameId, Grounding, Limits, ModelRef, RunId, RunOutcome,
    StopReason, Usage,
};
use tokio::time::{Instant, timeout};

use crate::analyst::Texts;
use crate::budget::Kept;
use crate::concurrency::ConcurrencyLimit;
use crate::in_flight::InFlight;
use crate::journal_writer::JournalWriter;
use crate::replay::Replay;
use crate::retrieval::Retrieval;
use crate::{
    Answer, Budget, BudgetExceeded, Cancel, EngineError, Frame, FrameError, NamedModels, Program, RateLimits,
    Stop, Task, estimate, wire,
};

/// Limits and cache settings of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// All limits.
    pub limits: Limits,
    /// Whether replies are read from and written to the cache.
    pub cache_replies: bool,
    /// Whether the user set `limits.cost_microusd_max`; then it is enforced, or the run is refused. Otherwise it is a
    /// default, and a model without a known price only causes a warning.
    pub cost_is_bounded: bool,
}

impl RunSettings {
    /// Refuses a model without a known price if the cost is bounded: the limit would have no effect.
    pub fn check_prices<'a>(
        &self,
        models: impl IntoIterator<Item = &'a Arc<dyn Model>>,
    ) -> Result<(), EngineError> {
        match models.into_iter().find_map(unpriced) {
            Some(model) if self.cost_is_bounded => Err(EngineError::PriceUnknown { model: model.clone() }),
            Some(_) | None => Ok(()),
        }
    }
}

/// The first model of a chain without a known price.
pub(crate) fn unpriced(model: &Arc<dyn Model>) -> Option<&ModelRef> {
    let links = if model.links().is_empty() { std::slice::from_ref(model) } else { model.links() };
    links.iter().find(|link| link.price().is_none()).map(|link| link.reference())
}

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The id of the run.
    pub run: RunId,
    /// The recorded outcome.
    pub outcome: RunOutcome,
    /// The answer, if there is one.
    pub answer: Option<Answer>,
    /// Why there is no answer, or only a partial one.
    pub error: Option<FrameError>,
}

/// The models of a run.
#[derive(Clone)]
pub(crate) struct Models {
    pub(crate) root: Arc<dyn Model>,
    /// The root's model, unless another was configured.
    pub(crate) sub: Arc<dyn Model>,
    /// The root's model, unless another was configured.
    pub(crate) synthesis: Arc<dyn Model>,
    /// Models that code may call by name.
    pub(crate) roster: NamedModels,
}

impl Models {
    /// Warnings about the models: the default cost limit has no effect on a model without a price.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = EventKind> {
        let unpriced = [&self.root, &self.sub, &self.synthesis].into_iter().filter_map(unpriced);
        let unpriced: BTreeSet<String> = unpriced.map(ToString::to_string).collect();
        unpriced.into_iter().map(|model| EventKind::WarningRaised {
            message: format!("no price is known for {model}: what it costs is not counted"),
            hint: ErrorCode::PriceUnknown.hint().unwrap_or_default().to_owned(),
        })
    }
}

/// What a model is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Turns of the root frame.
    Root,
    /// All calls below the root.
    Sub,
    /// Merging findings.
    Synthesis,
}

/// Calls that sub-calls must leave for the frames above them.
const CALLS_KEPT: u64 = 2;

/// The state shared by all frames of a run.
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) started_at_ms: u64,
    pub(crate) models: Models,
    pub(crate) sandbox: Sandbox,
    pub(crate) detector: Detector,
    pub(crate) texts: Arc<Texts>,
    pub(crate) finder: Arc<Retrieval>,
    /// When the run times out.
    pub(crate) ends_at: Instant,
    pub(crate) settings: RunSettings,
    /// The limits at the start of the run: the same for every process that works on it.
    pub(crate) limits_at_start: Limits,
    pub(crate) purse: Arc<Budget>,
    pub(crate) replay: Replay,
    pub(crate) scribe: JournalWriter,
    pub(crate) gate: ConcurrencyLimit,
    pub(crate) paces: RateLimits,
    pub(crate) flights: InFlight,
    /// Limits already reported as reached.
    pub(crate) limits_told: Mutex<HashSet<&'static str>>,
    /// Fallback models already reported.
    pub(crate) stand_ins_told: Mutex<HashSet<String>>,
    /// Whether the run was abandoned, as by a crash.
    pub(crate) is_cut_off: Arc<AtomicBool>,
    pub(crate) blobs: Blobs,
    pub(crate) replies: ReplyCache,
    pub(crate) program: Option<Program>,
}

impl Run {
    /// The model for this role.
    pub(crate) fn model(&self, role: Role) -> &Arc<dyn Model> {
        match role {
            Role::Root => &self.models.root,
            Role::Sub => &self.models.sub,
            Role::Synthesis => &self.models.synthesis,
        }
    }

    /// The budget that sub-calls must leave: enough to read a transcript and write an answer, but at most a tenth of
    /// each limit.
    pub(crate) fn kept_for_conclusions(&self) -> Kept {
        let limits = &self.settings.limits;
        let (n_read, n_written) = (limits.transcript_tokens_max, limits.root_output_tokens_max);
        let conclusion = estimate::dearest(self.models.root.as_ref(), n_read, n_written);
        let usage = Usage {
            input_tokens: conclusion.tokens().min(limits.tokens_max / 10),
            output_tokens: 0,
            cached_tokens: 0,
            cache_written_tokens: 0,
            cost_microusd: conclusion.cost_microusd.min(limits.cost_microusd_max / 10),
        };
        Kept { calls: CALLS_KEPT.min(limits.calls_max / 4), usage }
    }

    /// A cached reply, if the cache may be used.
    pub(crate) async fn cached(&self, key: &BlobId) -> Option<Reply> {
        if !self.settings.cache_replies {
            return None;
        }
        let (replies, key) = (self.replies.clone(), key.clone());
        let record = tokio::task::spawn_blocking(move || replies.get(&key)).await.ok()??;
        wire::read_reply(&record).filter(is_kept)
    }

    /// Caches a reply for later runs. A cache that cannot be written costs money later, not correctness now.
    pub(crate) fn keep_in_cache(&self, key: BlobId, reply: &Reply) -> Result<(), Arc<JournalError>> {
        // A reply of a fallback model is not this model's reply, and a tool call is not an answer.
        let is_plain = reply.answered_by.is_none() && reply.tool_calls.is_empty();
        if !self.settings.cache_replies || !is_plain || !is_kept(reply) {
            return Ok(());
        }
        let record = wire::write_reply(reply);
        self.scribe.chore(Box::new(move |replies| drop(replies.put(&key, &record))))
    }
}

/// Whether a reply may be reused. An empty, filtered or truncated reply says nothing about the next one.
pub(crate) fn is_kept(reply: &Reply) -> bool {
    matches!(reply.stop, StopReason::Finished | StopReason::Length) && !reply.text.trim().is_empty()
}

/// Drives a run to its end and records the outcome.
pub(crate) async fn drive(run: Arc<Run>, task: Task, cancel: Cancel, time_left: Duration) -> RunResult {
    let ended = solve_within(&run, task, &cancel, time_left).await;
    let (answer, error) = match ended {
        Ok(answer) => (Some(answer), None),
        Err(error) => (None, Some(error)),
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
async fn solve_within(
    run: &Arc<Run>,
    task: Task,
    cancel: &Cancel,
    time_left: Duration,
) -> Result<Answer, FrameError> {
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

/// Changed files that are reported individually.
const DRIFTS_TOLD_MAX: usize = 20;

/// Warns of files that changed since the scan, whatever the outcome of the run.
async fn warn_of_drift(run: &Run) -> Result<(), Arc<JournalError>> {
    let view = run.finder.whole.clone();
    let looking = tokio::task::spawn_blocking(move || {
        let told = |(document, drift): (&DocEntry, Drift)| format!("`{}` {drift}", document.name);
        view.drifts().into_iter().map(told).collect::<Vec<_>>()
    });
    let mut told = looking.await.unwrap_or_default();
    let n_more = told.len().saturating_sub(DRIFTS_TOLD_MAX);
    told.truncate(DRIFTS_TOLD_MAX);
    told.extend((n_more > 0).then(|| format!("{n_more} more files were written to while they were read")));
    for message in told {
        let hint = "ask again to have it read as it is now".to_owned();
        run.scribe.record(&FrameId::root(), EventKind::WarningRaised { message, hint }).await?;
    }
    Ok(())
}

fn outcome_of(answer: Option<&Answer>, error: Option<&FrameError>) -> RunOutcome {
    match error {
        None => match answer.map(|answer| answer.grounding) {
            Some(Grounding::Partial { stopped_by }) => RunOutcome::Partial { stopped_by },
            Some(Grounding::Cited | Grounding::Uncited) | None => RunOutcome::Answered,
        },
        Some(FrameError::Stopped(Stop::Cancelled)) => RunOutcome::Cancelled,
        Some(FrameError::Stopped(Stop::Limit(exceeded))) => {
            RunOutcome::Partial { stopped_by: exceeded.code() }
        }
        Some(error) => RunOutcome::Failed { code: error.code(), message: error.to_string() },
    }
}

/// Trims the reply cache on the journal writer's thread. A cache that cannot be trimmed is large, not wrong.
fn trim_cache(run: &Run) {
    let bytes_max = run.settings.limits.cache_bytes_max;
    drop(run.scribe.chore(Box::new(move |replies| drop(replies.trim(bytes_max)))));
}

/// A journal that cannot be written cannot record that either; the error goes to the user.
async fn record_end(
    run: &Run,
    error: Option<&FrameError>,
    outcome: RunOutcome,
) -> Result<(), Arc<JournalError>> {
    let root = FrameId::root();
    match error {
        Some(FrameError::Stopped(Stop::Journal(_))) => return Ok(()),
        Some(FrameError::Stopped(Stop::Limit(BudgetExceeded { limit, value }))) => {
            let kind = EventKind::LimitReached { limit: (*limit).to_owned(), value: *value };
            run.scribe.record(&root, kind).await?;
        }
        Some(_) | None => {}
    }
    run.scribe.record(&root, EventKind::RunFinished { outcome }).await
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
