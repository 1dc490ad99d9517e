//! What a frame must do, and what it returns.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use spelunk_context::View;
use spelunk_types::{Citation, Grounding, Strategy};

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
}

impl Task {
    /// A task without a note and without a schema.
    pub fn new(question: impl Into<String>, view: View, strategy: Strategy) -> Self {
        Self { question: question.into(), view, note: None, schema: None, strategy }
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
