//! The turn of a caller that runs tools itself: its conversation and its tools, as a run keeps them.

use spelunk_journal::{Blobs, JournalError};
use spelunk_model::{Message, Tool, ToolCall};
use spelunk_types::{CallOutcome, Event, EventKind, FrameId};

use crate::journal::wire;

/// A conversation whose next message is wanted: an answer, or calls of the caller's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerTurn {
    /// The caller's instructions.
    pub system: String,
    /// The conversation. Long texts in it are documents of the run, and are named in their place.
    pub messages: Vec<Message>,
    /// The caller's tools.
    pub tools: Vec<Tool>,
    /// Whether one of them has to be called.
    pub must_call: bool,
    /// Whether the conversation names documents that only a run can read.
    pub has_documents: bool,
}

impl CallerTurn {
    /// The tool that reads the documents of a conversation. It is ours: its calls never reach the caller.
    pub const READ: &str = "spelunk_read";
    /// The document that contains the whole conversation.
    pub const DOCUMENT: &str = "conversation.md";

    /// The turn as text.
    pub fn to_json(&self) -> String {
        wire::write_turn(self)
    }

    /// Reads it back; `None` if it is something else.
    pub fn of_json(text: &str) -> Option<Self> {
        wire::read_turn(text)
    }

    /// What a finished run says to the caller besides its answer: the words of its model and the calls it asks for.
    pub fn reply(events: &[Event], blobs: &Blobs) -> Result<(String, Vec<ToolCall>), JournalError> {
        let (mut said, mut calls) = (Vec::new(), Vec::new());
        for event in events.iter().filter(|event| event.frame == FrameId::root()) {
            let EventKind::CallSettled { outcome: CallOutcome::Replied { reply, tool_calls, .. }, .. } =
                &event.kind
            else {
                continue;
            };
            said.push(blobs.text(reply)?);
            let called = tool_calls.as_ref().map(|calls| blobs.text(calls)).transpose()?;
            calls = wire::read_tool_calls(called.as_deref());
        }
        calls.retain(|call| call.name != Self::READ);
        Ok((joined(&said), calls))
    }
}

/// The words of several replies as one text.
pub(crate) fn joined(said: &[String]) -> String {
    let said = said.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    said.collect::<Vec<_>>().join("\n\n")
}
