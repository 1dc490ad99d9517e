//! The frame: a strategy's only access to the outside. On replay it returns the recorded outcome and sends no
//! request; otherwise the outcome is on disk before the strategy sees it.
//!
//! A failure is recorded when the strategy moves past it: with its next call, its next child or its answer. A failure
//! that ends the run is not recorded, so a resumed run tries again.

mod budget;
mod call;
mod recall;
mod record;
mod retry;
mod run;
mod texts;
mod tool;
mod wasted_request;

use std::future::Future;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, join_all};
use spelunk_context::Detector;
use spelunk_index::IndexProgress;
use spelunk_journal::JournalError;
use spelunk_model::{Model, Prompt, Reply};
use spelunk_sandbox::Sandbox;
use spelunk_types::{
    CallId, CallOutcome, Durability, ErrorCode, EventKind, Explain, FrameId, FrameOutcome, Limits, Served,
};

use crate::frame::call::{Ask, Purpose};
pub(crate) use crate::frame::record::{CellRecord, REPLAY_TIME_FACTOR};
use crate::frame::run::Role;
pub use crate::frame::run::RunSettings;
pub(crate) use crate::frame::run::{Models, Run};
pub(crate) use crate::frame::texts::Texts;
pub(crate) use crate::frame::tool::{ChangedFile, ToolRecord};
use crate::journal_writer::Receipt;
use crate::retrieval::Retrieval;
use crate::{Answer, FrameError, ModelCapacity, NamedModels, Stop, Task};

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
    n_calls: AtomicU32,
    n_children: AtomicU32,
    n_notes: AtomicUsize,
    n_cells: AtomicU32,
    n_tools: AtomicU32,
    n_observed: AtomicU32,
    /// Failures that the strategy has seen but not yet moved past.
    unsettled: Mutex<Vec<Failure>>,
}

/// Whether opening a child counts against the depth and child limits.
#[derive(Debug, Clone, Copy)]
enum Door {
    /// Depth, number and time are limited, because code may ask for anything.
    Counted,
    /// The plan determines the number of children.
    Planned,
}

/// A failure that is not yet recorded.
#[derive(Debug)]
enum Failure {
    Call { call: CallId, code: ErrorCode, message: String },
    Child { frame: FrameId, code: ErrorCode, message: String },
}

impl Frame {
    pub(crate) fn new(run: Arc<Run>, id: FrameId) -> Self {
        Self::asking(run, id, None)
    }

    /// Creates a frame that calls this model.
    fn asking(run: Arc<Run>, id: FrameId, model: Option<Arc<dyn Model>>) -> Self {
        let shared = Shared {
            run,
            id,
            model,
            n_calls: AtomicU32::new(0),
            n_children: AtomicU32::new(0),
            n_notes: AtomicUsize::new(0),
            n_cells: AtomicU32::new(0),
            n_tools: AtomicU32::new(0),
            n_observed: AtomicU32::new(0),
            unsettled: Mutex::new(Vec::new()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The position of this frame in the tree.
    pub fn id(&self) -> &FrameId {
        &self.shared.id
    }

    /// The limits of the run.
    pub fn limits(&self) -> &Limits {
        &self.run().settings.limits
    }

    /// The limits the run was started with. Text that is shown to a model or stored may mention only these.
    pub(crate) fn limits_at_start(&self) -> &Limits {
        &self.run().limits_at_start
    }

    /// The capacity of this frame's model.
    pub(crate) fn reader(&self) -> ModelCapacity {
        ModelCapacity::of(self.model().reference(), self.limits())
    }

    /// The caller's own strategy, if the run has one.
    pub(crate) fn program(&self) -> Option<&Program> {
        self.run().program.as_ref()
    }

    fn run(&self) -> &Run {
        &self.shared.run
    }

    /// The sandbox for the cells of this run.
    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.run().sandbox
    }

    /// The retrieval over the run's text.
    pub(crate) fn finder(&self) -> &Arc<Retrieval> {
        &self.run().finder
    }

    /// Sends watchers an event that is not recorded.
    pub(crate) fn show(&self, kind: EventKind) {
        self.run().scribe.show(self.id(), kind);
    }

    /// Reports indexing progress at most a thousand times; the index itself reports every few passages.
    pub(crate) fn show_indexing(&self) -> impl FnMut(IndexProgress) {
        let mut shown = None;
        move |so_far| {
            let IndexProgress { bytes_done: done, bytes_total: total, .. } = so_far;
            let share = done.saturating_mul(1000) / total.max(1);
            if shown.replace(share) == Some(share) {
                return;
            }
            self.show(EventKind::ProgressTicked {
                what: "indexing".to_owned(),
                done,
                total,
                documents_done: Some(so_far.documents_done),
                documents_total: Some(so_far.documents_total),
            });
        }
    }

    /// Detects the types of documents.
    pub(crate) fn detector(&self) -> &Detector {
        &self.run().detector
    }

    /// Texts in use by the frames of this run.
    pub(crate) fn texts(&self) -> &Arc<Texts> {
        &self.run().texts
    }

    /// The sub-model with its URL.
    pub(crate) fn sub_model_name(&self) -> String {
        let reference = self.run().model(Role::Sub).reference();
        format!("{reference} {}", reference.base_url)
    }

    /// The short name of the sub-model.
    pub(crate) fn sub_model_reference(&self) -> String {
        self.run().model(Role::Sub).reference().to_string()
    }

    /// The short name of this frame's model.
    pub(crate) fn model_reference(&self) -> String {
        self.model().reference().to_string()
    }

    /// The id of this frame's next call.
    pub(crate) fn next_call(&self) -> CallId {
        CallId { frame: self.id().clone(), ordinal: self.shared.n_calls.load(Ordering::Relaxed) }
    }

    /// Unix time of the run's start: the same for every process that works on it.
    pub(crate) fn started_at_ms(&self) -> u64 {
        self.run().started_at_ms
    }

    /// The model this frame calls.
    fn model(&self) -> &Arc<dyn Model> {
        let role = if self.id().depth() == 0 { Role::Root } else { Role::Sub };
        self.shared.model.as_ref().unwrap_or_else(|| self.run().model(role))
    }

    /// Tokens of text that fit into one prompt of this frame besides a reply; unlimited if the model's window is
    /// unknown. A quarter is left free, because token counts are estimates.
    pub(crate) fn room_tokens(&self) -> u64 {
        let Some(window) = self.model().window_tokens() else { return u64::MAX };
        let n_reply = self.limits().root_output_tokens_max.min(window / 4);
        (window - n_reply) / 4 * 3
    }

    /// Models that code may call by name.
    pub(crate) fn roster(&self) -> &NamedModels {
        &self.run().models.roster
    }

    /// Calls this frame's model. The call's id is assigned now, before anything is awaited: identity follows program
    /// order.
    pub fn ask(&self, prompt: Prompt) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        let (prompt, model) = (Arc::new(prompt), Arc::clone(self.model()));
        self.ask_in(Ask { prompt, model, purpose: Purpose::Turn })
    }

    /// Calls the sub-model with a smaller question. Leaves the frames above enough budget to conclude; if too little
    /// remains, the call is refused and the run continues.
    pub(crate) fn ask_sub(
        &self,
        prompt: impl Into<Arc<Prompt>>,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        self.ask_sub_of(prompt, None)
    }

    /// Like [`Self::ask_sub`], with a named model.
    pub(crate) fn ask_sub_of(
        &self,
        prompt: impl Into<Arc<Prompt>>,
        named: Option<Arc<dyn Model>>,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        self.ask_sub_at(self.take_call(), prompt, named)
    }

    /// Like [`Self::ask_sub_of`], under a call id that was taken before.
    pub(crate) fn ask_sub_at(
        &self,
        call: CallId,
        prompt: impl Into<Arc<Prompt>>,
        named: Option<Arc<dyn Model>>,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        let model = named.unwrap_or_else(|| Arc::clone(self.run().model(Role::Sub)));
        self.ask_at(call, Ask { prompt: prompt.into(), model, purpose: Purpose::Part })
    }

    /// Calls the synthesis model from a frame below the root. If the budget is exhausted, the call is refused and the
    /// run continues.
    pub(crate) fn ask_synthesis(
        &self,
        prompt: Prompt,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        let model = Arc::clone(self.run().model(Role::Synthesis));
        self.ask_in(Ask { prompt: prompt.into(), model, purpose: Purpose::Whole })
    }

    fn ask_in(&self, ask: Ask) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        self.ask_at(self.take_call(), ask)
    }

    /// Takes the next call id of this frame.
    fn take_call(&self) -> CallId {
        let ordinal = self.shared.n_calls.fetch_add(1, Ordering::Relaxed);
        CallId { frame: self.id().clone(), ordinal }
    }

    /// The id of a possible follow-up call, taken together with the call it depends on, so that the order of replies
    /// does not affect it. Older journals have none.
    pub(crate) fn take_correction(&self) -> Option<CallId> {
        self.run().replay.reserves_corrections().then(|| self.take_call())
    }

    fn ask_at(
        &self,
        call: CallId,
        ask: Ask,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        let past = self.move_past_failures();
        let frame = self.clone();
        async move {
            durable(past).await?;
            frame.ask_as(call, ask).await
        }
    }

    /// Sends many prompts at once; replies are in the order of the prompts.
    pub fn ask_all(
        &self,
        prompts: Vec<Prompt>,
    ) -> impl Future<Output = Vec<Result<Reply, FrameError>>> + Send + 'static {
        join_all(prompts.into_iter().map(|prompt| self.ask(prompt)).collect::<Vec<_>>())
    }

    /// Solves a sub-task in a child frame.
    pub fn descend(&self, task: Task) -> BoxFuture<'static, Result<Answer, FrameError>> {
        self.open_child(task, Door::Counted)
    }

    /// Runs planned work in a child frame, exempt from the limits on depth, number of children and time.
    pub(crate) fn delegate(&self, task: Task) -> BoxFuture<'static, Result<Answer, FrameError>> {
        self.open_child(task, Door::Planned)
    }

    fn open_child(&self, task: Task, door: Door) -> BoxFuture<'static, Result<Answer, FrameError>> {
        let idx = self.shared.n_children.fetch_add(1, Ordering::Relaxed);
        let child = self.id().child(idx);
        let past = self.move_past_failures();
        let frame = self.clone();
        Box::pin(async move {
            durable(past).await?;
            let run = Arc::clone(&frame.shared.run);
            let solving = Self::asking(run, child.clone(), task.model.clone()).solve(task);
            let answer = match door {
                Door::Planned => solving.await,
                Door::Counted => {
                    frame.check_may_open(idx)?;
                    frame.bound_child(&child, solving).await
                }
            };
            answer.map_err(|error| frame.remember_child(child, error))
        })
    }

    /// A child that takes longer than `frame_ms_max` fails; its parent may continue.
    async fn bound_child(
        &self,
        child: &FrameId,
        solving: impl Future<Output = Result<Answer, FrameError>>,
    ) -> Result<Answer, FrameError> {
        let frame_ms_max = self.limits().frame_ms_max;
        match tokio::time::timeout(Duration::from_millis(frame_ms_max), solving).await {
            Ok(answer) => answer,
            Err(_) => {
                let message = format!("`limits.frame_ms_max` is {frame_ms_max}");
                Err(FrameError::Child { frame: child.clone(), code: ErrorCode::TimeExhausted, message })
            }
        }
    }

    /// Opens this frame, runs its strategy and closes it with the answer. If the journal has it closed, returns the
    /// recorded outcome.
    pub(crate) async fn solve(self, task: Task) -> Result<Answer, FrameError> {
        let replay = &self.run().replay;
        let was_opened = replay.was_opened(self.id(), &task);
        if was_opened == Some(false) {
            return Err(Stop::TaskDiverged { frame: self.id().clone() }.into());
        }
        match replay.closed(self.id()).filter(|_| was_opened.is_some()) {
            Some(FrameOutcome::Answered { answer, citations, grounding }) => {
                let text = self.run().blobs.text(answer).map_err(Arc::new)?;
                return Ok(Answer { text, citations: citations.clone(), grounding: *grounding });
            }
            Some(FrameOutcome::Failed { code, message }) => {
                let (frame, code, message) = (self.id().clone(), *code, message.clone());
                return Err(FrameError::Child { frame, code, message });
            }
            None => {}
        }
        if was_opened.is_none() {
            self.record_opened(&task).await?;
        }
        let solving = std::panic::AssertUnwindSafe((self.run().solve)(self.clone(), task)).catch_unwind();
        let answer = solving.await.unwrap_or_else(|panic| {
            let message = panic_text(panic.as_ref());
            Err(Stop::Bug { frame: self.id().clone(), message }.into())
        })?;
        durable(self.move_past_failures()).await?;
        self.record_answer(&answer).await?;
        Ok(answer)
    }

    /// Checks the depth limit and the limit on children.
    fn check_may_open(&self, idx: u32) -> Result<(), FrameError> {
        let (depth, limits) = (self.id().depth(), self.limits());
        let children_max = match depth {
            0 => limits.children_depth0_max,
            1 => limits.children_depth1_max,
            2 => limits.children_depth2_max,
            _ => 1,
        };
        let (code, message) = if u64::from(depth) >= limits.depth_max {
            (ErrorCode::DepthExceeded, format!("`limits.depth_max` is {}", limits.depth_max))
        } else if u64::from(idx) >= children_max {
            // Below the depths with their own limit, a frame may have one child.
            let limit = if depth > 2 {
                "the limit".to_owned()
            } else {
                format!("`limits.children_depth{depth}_max`")
            };
            (ErrorCode::ChildrenExceeded, format!("{limit} is {children_max}"))
        } else {
            return Ok(());
        };
        Err(FrameError::Refused { frame: self.id().clone(), code, message })
    }

    /// Passes through errors that stop the run and failures that are already recorded; any other error of a child
    /// becomes the child's failure.
    fn remember_child(&self, frame: FrameId, error: FrameError) -> FrameError {
        let is_on_record = matches!(self.run().replay.closed(&frame), Some(FrameOutcome::Failed { .. }));
        if matches!(error, FrameError::Stopped(_)) || is_on_record {
            return error;
        }
        let code = error.code();
        let message = match &error {
            // Timed out: the message is already about the child.
            FrameError::Child { frame: of, message, .. } if *of == frame => message.clone(),
            FrameError::Call { .. }
            | FrameError::Child { .. }
            | FrameError::Refused { .. }
            | FrameError::Stopped(_) => error.to_string(),
        };
        self.remember(Failure::Child { frame: frame.clone(), code, message: message.clone() });
        FrameError::Child { frame, code, message }
    }

    fn remember(&self, failure: Failure) {
        self.shared.unsettled.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    }

    /// Queues the failures that the strategy has seen for the journal, ahead of anything the strategy does next, even
    /// if it never awaits that.
    fn move_past_failures(&self) -> Vec<Receipt> {
        let seen = std::mem::take(&mut *self.shared.unsettled.lock().unwrap_or_else(PoisonError::into_inner));
        let post = |failure| {
            let (frame, kind) = match failure {
                Failure::Call { call, code, message } => {
                    let outcome = CallOutcome::Failed { code, message };
                    (call.frame.clone(), EventKind::CallSettled { call, outcome, served: Served::Live })
                }
                Failure::Child { frame, code, message } => {
                    (frame, EventKind::FrameClosed { outcome: FrameOutcome::Failed { code, message } })
                }
            };
            self.run().scribe.post(&frame, Box::new(move |_| Ok(kind)))
        };
        seen.into_iter().map(post).collect()
    }

    async fn record_opened(&self, task: &Task) -> Result<(), Arc<JournalError>> {
        let (question, strategy, view) = (task.question.clone(), task.strategy, task.view.digest());
        let note = task.note.clone();
        let draft = move |blobs: &spelunk_journal::Blobs| {
            let note = note.map(|note| blobs.keep(&note)).transpose()?;
            Ok(EventKind::FrameOpened { strategy, question: blobs.keep(&question)?, view, note })
        };
        self.run().scribe.record_draft(self.id(), Durability::Buffered, Box::new(draft)).await
    }

    async fn record_answer(&self, answer: &Answer) -> Result<(), Arc<JournalError>> {
        let answer = answer.clone();
        let draft = move |blobs: &spelunk_journal::Blobs| {
            let Answer { text, citations, grounding } = answer;
            let outcome = FrameOutcome::Answered { answer: blobs.keep_said(&text)?, citations, grounding };
            Ok(EventKind::FrameClosed { outcome })
        };
        self.run().scribe.record_draft(self.id(), Durability::Synced, Box::new(draft)).await
    }
}

async fn durable(receipts: Vec<Receipt>) -> Result<(), Arc<JournalError>> {
    for receipt in receipts {
        receipt.written().await?;
    }
    Ok(())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}
