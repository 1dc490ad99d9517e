//! The turn of a caller that runs its own tools: its conversation and its tools, as a run stores them.

use spelunk_model::{Message, Tool};

/// A conversation whose next message is wanted: an answer, or calls of the caller's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerTurn {
    /// The caller's instructions.
    pub system: String,
    /// The conversation. Its long texts are documents of the run, whose names replace them.
    pub messages: Vec<Message>,
    /// The caller's tools.
    pub tools: Vec<Tool>,
    /// Whether one of them must be called.
    pub must_call: bool,
    /// Whether the conversation names documents that only a run can read.
    pub has_documents: bool,
}

impl CallerTurn {
    /// The tool that reads the documents of a conversation. It is ours: its calls never reach the caller.
    pub const READ: &str = "spelunk_read";
    /// The document that contains the whole conversation.
    pub const DOCUMENT: &str = "conversation.md";
}

/// The words of several replies as one text.
pub(crate) fn joined(said: &[String]) -> String {
    let said = said.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    said.collect::<Vec<_>>().join("\n\n")
}
