//! The frame: the only door a strategy has to the outside. On replay the recorded outcome comes back and no request is
//! sent; otherwise the outcome is on disk before the strategy sees it.
//!
//! A failure becomes a fact when the strategy moves past it: with its next call, its next child or its answer. A
//! failure that ends the run is not recorded, so a resumed run asks again.

mod budget;
mod call;
mod recall;
mod record;
mod retry;
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
use spelunk_model::{Message, Model, Part, Prompt, Reply, estimate_tokens};
use spelunk_sandbox::Sandbox;
use spelunk_types::{
    CallId, CallOutcome, Durability, ErrorCode, EventKind, Explain, FrameId, FrameOutcome, Limits, Served,
};

use crate::analyst::Texts;
use crate::frame::call::{Ask, Purpose};
pub(crate) use crate::frame::record::{CellRecord, REPLAY_TIME_FACTOR};
pub(crate) use crate::frame::tool::{ChangedFile, ToolRecord};
use crate::journal_writer::Receipt;
use crate::retrieval::Retrieval;
use crate::run::{Role, Run};
use crate::{Answer, FrameError, ModelCapacity, NamedModels, Program, Stop, Task, strategy};

/// One recursive invocation inside a run. Cloning gives another handle on the same frame.
#[derive(Clone)]
pub struct Frame {
    shared: Arc<Shared>,
}

struct Shared {
    run: Arc<Run>,
    id: FrameId,
    /// Whom this frame asks, where its parent named somebody.
    model: Option<Arc<dyn Model>>,
    n_calls: AtomicU32,
    n_children: AtomicU32,
    n_notes: AtomicUsize,
    n_cells: AtomicU32,
    n_tools: AtomicU32,
    n_observed: AtomicU32,
    /// Failures the strategy has seen and not yet moved past.
    unsettled: Mutex<Vec<Failure>>,
}

/// Through which a child is opened.
#[derive(Debug, Clone, Copy)]
enum Door {
    /// Depth, number and time are limited: code may ask for anything.
    Counted,
    /// The plan says how many there are.
    Planned,
}

/// A failure that is not a fact yet.
#[derive(Debug)]
enum Failure {
    Call { call: CallId, code: ErrorCode, message: String },
    Child { frame: FrameId, code: ErrorCode, message: String },
}

impl Frame {
    pub(crate) fn new(run: Arc<Run>, id: FrameId) -> Self {
        Self::asking(run, id, None)
    }

    /// A frame that asks this model.
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

    /// Where this frame stands in the tree.
    pub fn id(&self) -> &FrameId {
        &self.shared.id
    }

    /// The limits of the run.
    pub fn limits(&self) -> &Limits {
        &self.run().settings.limits
    }

    /// The limits that the run was started with. A text that is shown to a model or kept may only name these.
    pub(crate) fn limits_at_start(&self) -> &Limits {
        &self.run().limits_at_start
    }

    /// How much the model of this frame takes in at once.
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

    /// The sandbox that cells of this run go to.
    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.run().sandbox
    }

    /// Finds passages of the run's text.
    pub(crate) fn finder(&self) -> &Arc<Retrieval> {
        &self.run().finder
    }

    /// Tells watchers something that is not kept.
    pub(crate) fn show(&self, kind: EventKind) {
        self.run().scribe.show(self.id(), kind);
    }

    /// Shows how far an index is, a thousand times at most: it is told of every few passages.
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

    /// Tells the types of documents.
    pub(crate) fn detector(&self) -> &Detector {
        &self.run().detector
    }

    /// Texts that frames of this run have in use.
    pub(crate) fn texts(&self) -> &Arc<Texts> {
        &self.run().texts
    }

    /// Who answers sub-calls.
    pub(crate) fn sub_model_name(&self) -> String {
        let reference = self.run().model(Role::Sub).reference();
        format!("{reference} {}", reference.base_url)
    }

    /// Who answers sub-calls, in short.
    pub(crate) fn sub_model_reference(&self) -> String {
        self.run().model(Role::Sub).reference().to_string()
    }

    /// Whom this frame asks, in short.
    pub(crate) fn model_reference(&self) -> String {
        self.model().reference().to_string()
    }

    /// The name that the next call of this frame takes.
    pub(crate) fn next_call(&self) -> CallId {
        CallId { frame: self.id().clone(), ordinal: self.shared.n_calls.load(Ordering::Relaxed) }
    }

    /// Unix time at which the run began: the same for every process that works on it.
    pub(crate) fn started_at_ms(&self) -> u64 {
        self.run().started_at_ms
    }

    /// Whom this frame asks.
    fn model(&self) -> &Arc<dyn Model> {
        let role = if self.id().depth() == 0 { Role::Root } else { Role::Sub };
        self.shared.model.as_ref().unwrap_or_else(|| self.run().model(role))
    }

    /// Tokens of text that fit into one prompt of this frame, beside a reply; as good as endless where the model's window is
    /// not known. Estimates err, so that a quarter is left free.
    pub(crate) fn room_tokens(&self) -> u64 {
        let Some(window) = self.model().window_tokens() else { return u64::MAX };
        let n_reply = self.limits().root_output_tokens_max.min(window / 4);
        (window - n_reply) / 4 * 3
    }

    /// The models that code may name.
    pub(crate) fn roster(&self) -> &NamedModels {
        &self.run().models.roster
    }

    /// Asks the model of this frame. The call's place in the tree is taken now, before anything is awaited: identity
    /// follows program order.
    pub fn ask(&self, prompt: Prompt) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        let (prompt, model) = (Arc::new(prompt), Arc::clone(self.model()));
        self.ask_in(Ask { prompt, model, purpose: Purpose::Turn })
    }

    /// Asks a sub-model a smaller question. It leaves the frames above it enough to conclude with: out of that, the
    /// call is refused and the run goes on.
    pub(crate) fn ask_sub(
        &self,
        prompt: impl Into<Arc<Prompt>>,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        self.ask_sub_of(prompt, None)
    }

    /// The same of a model that was named.
    pub(crate) fn ask_sub_of(
        &self,
        prompt: impl Into<Arc<Prompt>>,
        named: Option<Arc<dyn Model>>,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        self.ask_sub_at(self.take_call(), prompt, named)
    }

    /// The same in a place that was taken before.
    pub(crate) fn ask_sub_at(
        &self,
        call: CallId,
        prompt: impl Into<Arc<Prompt>>,
        named: Option<Arc<dyn Model>>,
    ) -> impl Future<Output = Result<Reply, FrameError>> + Send + 'static {
        let model = named.unwrap_or_else(|| Arc::clone(self.run().model(Role::Sub)));
        self.ask_at(call, Ask { prompt: prompt.into(), model, purpose: Purpose::Part })
    }

    /// Asks the model that puts findings together, from a frame below the root. Out of budget, the call is
    /// refused and the run goes on.
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

    /// Takes the next place among the calls of this frame.
    fn take_call(&self) -> CallId {
        let ordinal = self.shared.n_calls.fetch_add(1, Ordering::Relaxed);
        CallId { frame: self.id().clone(), ordinal }
    }

    /// The place of a call that may follow: taken along with the call that it depends on, so that the order of replies
    /// does not decide which place it is. Older journals have none.
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

    /// Asks many at once; replies come back in the order of the prompts.
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

    /// Hands planned work to a frame of its own: as many as the plan has, at any depth, for as long as their calls take.
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

    /// A child that takes longer than `frame_ms_max` has failed; its parent may live with that.
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

    /// Opens this frame, runs its strategy and closes it with the answer. A frame that is closed on record returns what
    /// it returned then.
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
        let solving = std::panic::AssertUnwindSafe(strategy::solve(self.clone(), task)).catch_unwind();
        let answer = solving.await.unwrap_or_else(|panic| {
            let message = panic_text(panic.as_ref());
            Err(Stop::Bug { frame: self.id().clone(), message }.into())
        })?;
        durable(self.move_past_failures()).await?;
        self.record_answer(&answer).await?;
        Ok(answer)
    }

    /// A child may be opened above the depth limit, and only so many of them.
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
            // Below the depths that have a limit of their own, a frame has one child.
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

    /// What stops the run stays what it is, and a failure on record keeps the words it was recorded in; any other error
    /// of a child becomes the child's failure.
    fn remember_child(&self, frame: FrameId, error: FrameError) -> FrameError {
        let is_on_record = matches!(self.run().replay.closed(&frame), Some(FrameOutcome::Failed { .. }));
        if matches!(error, FrameError::Stopped(_)) || is_on_record {
            return error;
        }
        let code = error.code();
        let message = match &error {
            // Out of time: that is about the child already.
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

    /// Makes facts of the failures that the strategy has seen: they stand in the journal's queue before anything the
    /// strategy does next, even if it never awaits that.
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

/// The tokens of a prompt, estimated.
pub(crate) fn prompt_tokens(prompt: &Prompt) -> u64 {
    let of_messages: u64 = prompt.messages.iter().map(message_tokens).sum();
    let of_tools =
        prompt.tools.iter().map(|tool| estimate_tokens(&tool.description) + TOOL_TOKENS).sum::<u64>();
    estimate_tokens(&prompt.system).saturating_add(of_messages).saturating_add(of_tools)
}

/// The schema of a tool, roughly: it is the same few fields each time.
const TOOL_TOKENS: u64 = 100;

/// The tokens of a message with what it says of tools, estimated.
pub(crate) fn message_tokens(message: &Message) -> u64 {
    let of_part = |part: &Part| match part {
        Part::ToolCall(call) => estimate_tokens(&call.name) + estimate_tokens(&call.arguments),
        Part::ToolResult(result) => estimate_tokens(&result.text),
    };
    message.parts.iter().map(of_part).fold(estimate_tokens(&message.text), u64::saturating_add)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}
