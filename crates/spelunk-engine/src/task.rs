//! The task of a frame, and its answer.

mod analysis;
mod synthesis;

use std::sync::Arc;

use spelunk_context::View;
use spelunk_model::Model;
use spelunk_types::{Citation, Focus, Grounding, Strategy};

pub use self::analysis::Noted;
pub(crate) use self::analysis::{Analysis, DocumentPart};
pub(crate) use self::synthesis::{Kind, Synthesis};
use crate::{CallerTurn, Schema};

#[derive(Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Task {
    pub question: String,
    /// The part of the corpus it may look at.
    pub view: View,
    /// Text from a parent frame: readable, but never cited.
    pub note: Option<Arc<str>>,
    pub schema: Option<Arc<Schema>>,
    /// The conversation of a caller that runs its own tools: the answer may be a call of them.
    pub turn: Option<Arc<CallerTurn>>,
    pub strategy: Strategy,
    /// What an analysis looks for first.
    pub focus: Focus,
    /// The model of the frame, if its parent named one.
    pub model: Option<Arc<dyn Model>>,
    /// The work of an analyst or a synthesis, within `map`.
    pub assignment: Option<Assignment>,
}

/// Work that a strategy assigns to a child frame; only the engine can create one.
#[derive(Debug, Clone)]
pub struct Assignment(pub(crate) Assigned);

#[derive(Debug, Clone)]
pub(crate) enum Assigned {
    Analysis(Arc<Analysis>),
    Synthesis(Arc<Synthesis>),
}

impl Task {
    /// A task without a note and without a schema.
    pub fn new(question: impl Into<String>, view: View, strategy: Strategy) -> Self {
        let (question, focus) = (question.into(), Focus::General);
        Self {
            question,
            view,
            note: None,
            schema: None,
            turn: None,
            strategy,
            focus,
            model: None,
            assignment: None,
        }
    }
}

/// The longest question that is shown to a model.
const QUESTION_BYTES_MAX: usize = 32_000;

impl Task {
    /// The question as shown to a model: truncated if it is very long.
    pub(crate) fn question_shown(&self) -> &str {
        let end = self.question.floor_char_boundary(QUESTION_BYTES_MAX);
        self.question.get(..end).unwrap_or_default()
    }
}

/// The answer of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text of the answer.
    pub text: String,
    /// Evidence that was found in the sources.
    pub citations: Vec<Citation>,
    /// How well it is supported by them.
    pub grounding: Grounding,
}

impl Answer {
    pub(crate) fn new(text: String, citations: Vec<Citation>) -> Self {
        let grounding = if citations.is_empty() { Grounding::Uncited } else { Grounding::Cited };
        Self { text, citations, grounding }
    }
}
