//! What a frame must do, and what it returns.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use spelunk_context::View;
use spelunk_model::Model;
use spelunk_types::{Citation, Focus, Grounding, Strategy};

use crate::analyst::Analysis;
use crate::synthesis::Synthesis;
use crate::{Frame, FrameError, Schema};

/// What a frame must do.
#[derive(Clone)]
pub struct Task {
    /// What is asked.
    pub question: String,
    /// The part of the corpus it may look at.
    pub view: View,
    /// Text that a parent frame wrote for it: it can be read, and never cited.
    pub note: Option<Arc<str>>,
    /// What the answer must look like.
    pub schema: Option<Arc<Schema>>,
    /// How to go about it.
    pub strategy: Strategy,
    /// What an analysis looks for first.
    pub focus: Focus,
    /// Whom it asks, where its parent named somebody.
    pub model: Option<Arc<dyn Model>>,
    /// What an analyst or a synthesis is given, within `map`.
    pub assignment: Option<Assignment>,
}

/// Work that a strategy hands to a frame of its own making; nobody else can make one.
#[derive(Debug, Clone)]
pub struct Assignment(pub(crate) Assigned);

/// What is assigned.
#[derive(Debug, Clone)]
pub(crate) enum Assigned {
    Analysis(Arc<Analysis>),
    Synthesis(Arc<Synthesis>),
}

impl Task {
    /// A task without a note and without a schema.
    pub fn new(question: impl Into<String>, view: View, strategy: Strategy) -> Self {
        let (question, focus) = (question.into(), Focus::General);
        Self { question, view, note: None, schema: None, strategy, focus, model: None, assignment: None }
    }
}

/// The longest question that is shown to a model.
const QUESTION_BYTES_MAX: usize = 32_000;

impl Task {
    /// The question as a model is shown it: its beginning, if it is very long.
    pub(crate) fn question_shown(&self) -> &str {
        let end = self.question.floor_char_boundary(QUESTION_BYTES_MAX);
        self.question.get(..end).unwrap_or_default()
    }
}

/// What a frame found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In words.
    pub text: String,
    /// With evidence that was found in the sources.
    pub citations: Vec<Citation>,
    /// How far it rests on them.
    pub grounding: Grounding,
}

/// A strategy of the caller's own. It must be deterministic: everything it learns comes from its frame.
pub type Program = Arc<dyn Fn(Frame, Task) -> BoxFuture<'static, Result<Answer, FrameError>> + Send + Sync>;
