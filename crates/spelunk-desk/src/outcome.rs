//! What a tool gives back.

use crate::DeskPath;

/// What came of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What the model is shown, bounded.
    pub text: String,
    /// The files that are other, new or gone, in the order of their paths.
    pub changed: Vec<DeskPath>,
}
