//! A caller's turn in the journal: how it is written and read back, and the reply of a finished run to it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spelunk_journal::{Blobs, JournalError};
use spelunk_model::{Message, Part, Speaker, Tool, ToolCall, ToolResult};
use spelunk_types::{CallOutcome, Event, EventKind, FrameId};

use super::{ToolCallWire, read_tool_calls};
use crate::turn::{CallerTurn, joined};

impl CallerTurn {
    /// The turn as text.
    pub fn to_json(&self) -> String {
        let said = |message: &Message| {
            let (mut calls, mut results) = (Vec::new(), Vec::new());
            for part in message.parts.iter().cloned() {
                match part {
                    Part::ToolCall(call) => calls.push(ToolCallWire::of(call)),
                    Part::ToolResult(ToolResult { call_id: id, name, text, is_error }) => {
                        results.push(ResultWire { id, name, text, is_error });
                    }
                    // A caller sends no images.
                    Part::Image(_) => {}
                }
            }
            SaidWire { is_user: message.speaker == Speaker::User, text: message.text.clone(), calls, results }
        };
        let offered = |tool: &Tool| OfferedWire {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: (*tool.schema).clone(),
        };
        let wire = TurnWire {
            system: self.system.clone(),
            messages: self.messages.iter().map(said).collect(),
            tools: self.tools.iter().map(offered).collect(),
            must_call: self.must_call,
            has_documents: self.has_documents,
        };
        serde_json::to_string(&wire).expect("texts and JSON always serialise")
    }

    /// Reads it back; `None` if the text is something else.
    pub fn of_json(text: &str) -> Option<Self> {
        let TurnWire { system, messages, tools, must_call, has_documents } =
            serde_json::from_str(text).ok()?;
        let said = |SaidWire { is_user, text, calls, results }: SaidWire| {
            let calls = calls.into_iter().map(|call| Part::ToolCall(call.read()));
            let results = results.into_iter().map(|ResultWire { id: call_id, name, text, is_error }| {
                Part::ToolResult(ToolResult { call_id, name, text, is_error })
            });
            let message = if is_user { Message::user(text) } else { Message::assistant(text) };
            message.with_parts(calls.chain(results))
        };
        let offered = |OfferedWire { name, description, schema }: OfferedWire| Tool {
            name,
            description,
            schema: std::sync::Arc::new(schema),
        };
        let (messages, tools) =
            (messages.into_iter().map(said).collect(), tools.into_iter().map(offered).collect());
        Some(Self { system, messages, tools, must_call, has_documents })
    }

    /// The reply of a finished run to the caller besides its answer: the model's text and the tool calls.
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
            calls = read_tool_calls(called.as_deref());
        }
        calls.retain(|call| call.name != Self::READ);
        Ok((joined(&said), calls))
    }
}

#[derive(Serialize, Deserialize)]
struct TurnWire {
    system: String,
    messages: Vec<SaidWire>,
    tools: Vec<OfferedWire>,
    must_call: bool,
    has_documents: bool,
}

#[derive(Serialize, Deserialize)]
struct SaidWire {
    is_user: bool,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<ToolCallWire>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    results: Vec<ResultWire>,
}

#[derive(Serialize, Deserialize)]
struct ResultWire {
    id: String,
    name: String,
    text: String,
    is_error: bool,
}

#[derive(Serialize, Deserialize)]
struct OfferedWire {
    name: String,
    description: String,
    schema: Value,
}
