//! A run, as its frames see it: settings, models, and the state that they share.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use spelunk_context::{Detector, Mode};
use spelunk_journal::{Blobs, ReplyCache};
use spelunk_model::{CallPlaces, Model, Reply};
use spelunk_sandbox::Sandbox;
use spelunk_types::{BlobId, ErrorCode, EventKind, Limits, ModelRef, RunId, StopReason, Usage};
use tokio::time::Instant;

use super::{Frame, Program, Texts};
use crate::journal::replay::Replay;
use crate::journal::wire;
use crate::journal::writer::JournalWriter;
use crate::limits::budget::KeptBudget;
use crate::limits::concurrency::ConcurrencyLimit;
use crate::limits::estimate;
use crate::limits::in_flight::InFlight;
use crate::models::unpriced;
use crate::retrieval::Retrieval;
use crate::tools::ExternalTools;
use crate::{Answer, Budget, EngineError, JournalResult, NamedModels, RateLimits, Result, Task};

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

#[derive(Clone)]
pub(crate) struct Models {
    pub(crate) root: Arc<dyn Model>,
    /// The root's model unless another is configured.
    pub(crate) sub: Arc<dyn Model>,
    /// The root's model unless another is configured.
    pub(crate) synthesis: Arc<dyn Model>,
    pub(crate) named: NamedModels,
}

impl Models {
    /// Warnings about the models: the default cost limit has no effect on a model without a price.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = EventKind> {
        let unpriced = [&self.root, &self.sub, &self.synthesis].into_iter().filter_map(unpriced);
        let unpriced: BTreeSet<String> = unpriced.map(ToString::to_string).collect();
        unpriced.into_iter().map(|model| EventKind::WarningRaised {
            message: format!("no price is known for {model}: its cost is not counted"),
            hint: ErrorCode::PriceUnknown.hint().unwrap_or_default().to_owned(),
        })
    }
}

/// Calls that sub-calls must leave for the frames above them.
const CALLS_KEPT: u64 = 2;

pub(crate) struct Run {
    pub(crate) id: RunId,
    /// Unix time: the same for every process that works on the run.
    pub(crate) started_at_ms: u64,
    pub(crate) models: Models,
    pub(crate) sandbox: Sandbox,
    pub(crate) detector: Detector,
    pub(crate) mode: Mode,
    pub(crate) texts: Arc<Texts>,
    pub(crate) retrieval: Arc<Retrieval>,
    pub(crate) ends_at: Instant,
    pub(crate) settings: RunSettings,
    /// The limits at the start of the run: the same for every process that works on it. Text that is shown to a model
    /// or stored may mention only these.
    pub(crate) limits_at_start: Limits,
    pub(crate) budget: Arc<Budget>,
    pub(crate) replay: Replay,
    pub(crate) writer: JournalWriter,
    pub(crate) concurrency: ConcurrencyLimit,
    pub(crate) rate_limits: RateLimits,
    /// Other places where calls may be made.
    pub(crate) places: Option<Arc<dyn CallPlaces>>,
    pub(crate) in_flight: InFlight,
    pub(crate) limits_told: Mutex<HashSet<&'static str>>,
    /// Fallback models already reported.
    pub(crate) stand_ins_told: Mutex<HashSet<String>>,
    /// Models whose provider refused the latest request, whatever it asked: a wrong key or name.
    pub(crate) refused_by: Mutex<HashSet<ModelRef>>,
    pub(crate) is_cut_off: Arc<AtomicBool>,
    pub(crate) tools: ExternalTools,
    /// Calls of each tool so far, over all processes that worked on the run.
    pub(crate) tool_calls: Mutex<HashMap<String, u64>>,
    pub(crate) image_bytes: AtomicU64,
    /// Whether secrets stay in the results of tools.
    pub(crate) allows_secrets: bool,
    pub(crate) blobs: Blobs,
    pub(crate) replies: ReplyCache,
    pub(crate) program: Option<Program>,
    pub(crate) solve: Solve,
}

/// Solves a task in its frame. A function pointer, because the strategies depend on frames.
pub(crate) type Solve = fn(Frame, Task) -> BoxFuture<'static, Result<Answer>>;

impl Run {
    /// The budget that sub-calls must leave: enough to read a transcript and write an answer, but
    /// at most a tenth of each limit.
    pub(crate) fn kept_for_conclusions(&self) -> KeptBudget {
        let limits = &self.settings.limits;
        let (n_read, n_written) = (limits.transcript_tokens_max, limits.root_output_tokens_max);
        let conclusion = estimate::dearest(self.models.root.as_ref(), n_read, n_written);
        let usage = Usage {
            input_tokens: conclusion.tokens().min(limits.tokens_max / 10),
            cost_microusd: conclusion.cost_microusd.min(limits.cost_microusd_max / 10),
            ..Usage::default()
        };
        KeptBudget { calls: CALLS_KEPT.min(limits.calls_max / 4), usage }
    }

    pub(crate) async fn cached(&self, key: &BlobId) -> Option<Reply> {
        if !self.settings.cache_replies {
            return None;
        }
        let (replies, key) = (self.replies.clone(), key.clone());
        let record = tokio::task::spawn_blocking(move || replies.get(&key)).await.ok()??;
        wire::read_reply(&record).filter(is_kept)
    }

    /// Caches a reply for later runs. A failure costs money later, not correctness now.
    pub(crate) fn keep_in_cache(&self, key: BlobId, reply: &Reply) -> JournalResult {
        // The reply of a fallback is not a reply of this model.
        if !self.settings.cache_replies || reply.answered_by.is_some() || !is_kept(reply) {
            return Ok(());
        }
        let record = wire::write_reply(reply);
        self.writer.chore(Box::new(move |replies| drop(replies.put(&key, &record))))
    }
}

/// Whether a reply may be reused. An empty, filtered or truncated reply says nothing about the next one.
pub(crate) fn is_kept(reply: &Reply) -> bool {
    match reply.stop {
        StopReason::Finished => !reply.is_empty(),
        StopReason::ToolUse => !reply.tool_calls.is_empty(),
        // The last call may be cut in the middle.
        StopReason::Length => !reply.text.trim().is_empty() && reply.tool_calls.is_empty(),
        StopReason::Filtered | StopReason::Other => false,
    }
}
