//! Tools: what a model may call, the calls it makes and their results. The engine runs them.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Something a model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// When to call it, in words for the model.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub schema: Arc<Value>,
}

/// A call that a model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Names the call in its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON as the model wrote it; it may be anything, and need not fit the schema.
    pub arguments: String,
    /// What the provider wants back with the call, unread (Gemini's thought signature).
    pub signature: Option<String>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Which call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// What the model is shown.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// What a message holds besides its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A call of the model.
    ToolCall(ToolCall),
    /// The result of one.
    ToolResult(ToolResult),
}

impl ToolCall {
    /// The arguments as an object. Providers take nothing else, so what is no object goes back as an empty one.
    pub(crate) fn object(&self) -> Value {
        let parsed = serde_json::from_str(&self.arguments).ok().filter(Value::is_object);
        parsed.unwrap_or_else(|| Value::Object(Map::new()))
    }
}

/// The calls and the results among parts.
pub(crate) fn sorted(parts: &[Part]) -> (Vec<&ToolCall>, Vec<&ToolResult>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::ToolCall(call) => calls.push(call),
            Part::ToolResult(result) => results.push(result),
        }
    }
    (calls, results)
}
