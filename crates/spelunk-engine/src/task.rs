//! What a frame must do, and what it returns.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use spelunk_context::View;
use spelunk_types::{Citation, Grounding, Strategy};

use crate::{Frame, FrameError};

/// What a frame must do.
#[derive(Clone)]
pub struct Task {
    /// What is asked.
    pub question: String,
    /// The part of the corpus it may look at.
    pub view: View,
    /// How to go about it.
    pub strategy: Strategy,
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
