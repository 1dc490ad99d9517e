//! The frame: a strategy's only access to the outside. On replay it returns the recorded outcome and sends no request;
//! otherwise the outcome is on disk before the strategy sees it.
//!
//! This file contains the frame and its knowledge of the run. Its operations are in the files below: `ask` (models),
//! `child` (sub-tasks), `image` (images of a call), `effect` (external tools), `record` (cells, an agent's tools, other
//! values), `budget` (what is left), `solve` (the frame itself). Below those, `call` and `retry` make one call, and
//! `failure` records what went wrong.

mod ask;
mod attempt;
mod budget;
mod call;
mod child;
mod effect;
mod failure;
mod image;
mod record;
mod retry;
mod run;
mod solve;
mod texts;
mod wasted_request;

use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use spelunk_context::{Detector, Mode};
use spelunk_model::Model;
use spelunk_sandbox::Sandbox;
use spelunk_types::{FrameId, Limits};

use self::failure::Failure;
pub(crate) use self::image::ShownImages;
pub(crate) use self::record::{ChangedFile, REPLAY_TIME_FACTOR, ToolRecord};
use self::run::Role;
pub use self::run::RunSettings;
pub(crate) use self::run::{Models, Run};
pub(crate) use self::texts::Texts;
use crate::retrieval::Retrieval;
use crate::{Answer, FrameError, ModelCapacity, NamedModels, Task};

/// One recursive invocation inside a run. Clones are handles to the same frame.
#[derive(Clone)]
pub struct Frame {
    shared: Arc<Shared>,
}

/// A caller's own strategy. It must be deterministic: everything it learns comes from its frame.
pub type Program = Arc<dyn Fn(Frame, Task) -> BoxFuture<'static, Result<Answer, FrameError>> + Send + Sync>;

struct Shared {
    run: Arc<Run>,
    id: FrameId,
    /// The model of this frame, if its parent named one.
    model: Option<Arc<dyn Model>>,
    counters: Counters,
    /// Failures that the strategy has seen but not yet moved past.
    unsettled: Mutex<Vec<Failure>>,
}

/// How many of each the frame has begun: their ordinals, which a replay finds them by.
#[derive(Default)]
struct Counters {
    calls: AtomicU32,
    children: AtomicU32,
    notes: AtomicUsize,
    cells: AtomicU32,
    tools: AtomicU32,
    observed: AtomicU32,
    effects: AtomicU32,
}

impl Frame {
    pub(crate) fn new(run: Arc<Run>, id: FrameId) -> Self {
        Self::asking(run, id, None)
    }

    fn asking(run: Arc<Run>, id: FrameId, model: Option<Arc<dyn Model>>) -> Self {
        let (counters, unsettled) = (Counters::default(), Mutex::default());
        Self { shared: Arc::new(Shared { run, id, model, counters, unsettled }) }
    }

    /// The position of this frame in the tree.
    pub fn id(&self) -> &FrameId {
        &self.shared.id
    }

    /// Unix time of the run's start: the same for every process that works on it.
    pub(crate) fn started_at_ms(&self) -> u64 {
        self.run().started_at_ms
    }

    /// The limits of the run.
    pub fn limits(&self) -> &Limits {
        &self.run().settings.limits
    }

    /// The limits the run was started with. Text that is shown to a model or stored may mention only these.
    pub(crate) fn limits_at_start(&self) -> &Limits {
        &self.run().limits_at_start
    }

    fn run(&self) -> &Run {
        &self.shared.run
    }
}

impl Frame {
    pub(crate) fn model(&self) -> &Arc<dyn Model> {
        let role = if self.id().depth() == 0 { Role::Root } else { Role::Sub };
        self.shared.model.as_ref().unwrap_or_else(|| self.run().model(role))
    }

    pub(crate) fn model_reference(&self) -> String {
        self.model().reference().to_string()
    }

    pub(crate) fn reader(&self) -> ModelCapacity {
        ModelCapacity::of(self.model().reference(), self.limits())
    }

    /// Tokens of text that fit into one prompt of this frame besides a reply; unlimited if the
    /// model's window is unknown. A quarter is left free, because token counts are estimates.
    pub(crate) fn room_tokens(&self) -> u64 {
        let Some(window) = self.model().facts().window_tokens else { return u64::MAX };
        let n_reply = self.limits().root_output_tokens_max.min(window / 4);
        (window - n_reply) / 4 * 3
    }

    /// The sub-model with its URL.
    pub(crate) fn sub_model_name(&self) -> String {
        let reference = self.run().model(Role::Sub).reference();
        format!("{reference} {}", reference.base_url)
    }

    pub(crate) fn caches_replies(&self) -> bool {
        self.run().settings.cache_replies
    }

    pub(crate) fn sub_model_reference(&self) -> String {
        self.run().model(Role::Sub).reference().to_string()
    }

    pub(crate) fn named_models(&self) -> &NamedModels {
        &self.run().models.named
    }
}

/// What the frames of a run share.
impl Frame {
    pub(crate) fn program(&self) -> Option<&Program> {
        self.run().program.as_ref()
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.run().sandbox
    }

    pub(crate) fn detector(&self) -> &Detector {
        &self.run().detector
    }

    pub(crate) fn mode(&self) -> Mode {
        self.run().mode
    }

    pub(crate) fn finder(&self) -> &Arc<Retrieval> {
        &self.run().retrieval
    }

    pub(crate) fn texts(&self) -> &Arc<Texts> {
        &self.run().texts
    }
}
