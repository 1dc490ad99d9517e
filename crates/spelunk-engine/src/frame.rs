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
use spelunk_model::Model;
use spelunk_types::{EventKind, FrameId, Limits};

pub(crate) use self::image::ShownImages;
pub(crate) use self::record::{ChangedFile, REPLAY_TIME_FACTOR, ToolRecord};
pub use self::run::RunSettings;
pub(crate) use self::run::{Models, Run};
pub(crate) use self::texts::Texts;
use crate::{Answer, ModelCapacity, Result, Task};

/// One recursive invocation inside a run. Clones are handles to the same frame.
#[derive(Clone)]
pub struct Frame {
    shared: Arc<Shared>,
}

/// A caller's own strategy. It must be deterministic: everything it learns comes from its frame.
pub type Program = Arc<dyn Fn(Frame, Task) -> BoxFuture<'static, Result<Answer>> + Send + Sync>;

struct Shared {
    run: Arc<Run>,
    id: FrameId,
    /// The model of this frame, if its parent named one.
    model: Option<Arc<dyn Model>>,
    counters: Counters,
    /// The events of failures that the strategy has seen but not yet moved past.
    unsettled: Mutex<Vec<(FrameId, EventKind)>>,
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

    /// The limits of the run.
    pub fn limits(&self) -> &Limits {
        &self.run().settings.limits
    }

    pub(crate) fn run(&self) -> &Run {
        &self.shared.run
    }

    pub(crate) fn model(&self) -> &Arc<dyn Model> {
        let Models { root, sub, .. } = &self.run().models;
        self.shared.model.as_ref().unwrap_or(if self.id().depth() == 0 { root } else { sub })
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

    pub(crate) fn sub_model_reference(&self) -> String {
        self.run().models.sub.reference().to_string()
    }
}
