//! The outcome of a tool call.

use crate::DeskPath;

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The text shown to the model, bounded.
    pub text: String,
    /// The files changed, added or removed, ordered by path.
    pub changed: Vec<DeskPath>,
}
