//! The parts of a message besides its text. Most are about tools: what a model may call, the calls
//! it makes and their results. The engine runs the calls.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Image;

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// When to call it, for the model.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    #[serde(serialize_with = "write_schema", deserialize_with = "read_schema")]
    pub schema: Arc<Value>,
}

/// A call that a model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identifies the call in its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON as the model wrote it; it may be anything, and need not match the schema.
    pub arguments: String,
    /// Opaque data that the provider wants back with the call (Gemini's thought signature).
    pub signature: Option<String>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The text shown to the model.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// What a message contains besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// A call by the model.
    #[serde(rename = "Call")]
    ToolCall(ToolCall),
    /// The result of one.
    #[serde(rename = "Result")]
    ToolResult(ToolResult),
    /// An image for the model.
    Image(Image),
}

impl ToolCall {
    /// The arguments as an object. Providers accept nothing else, so anything else is sent back as an empty object.
    pub(crate) fn object(&self) -> Value {
        let parsed = serde_json::from_str(&self.arguments).ok().filter(Value::is_object);
        parsed.unwrap_or_else(|| Value::Object(Map::new()))
    }
}

pub(crate) fn sorted(parts: &[Part]) -> (Vec<&ToolCall>, Vec<&ToolResult>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::ToolCall(call) => calls.push(call),
            Part::ToolResult(result) => results.push(result),
            Part::Image(_) => {}
        }
    }
    (calls, results)
}

/// The images. They are sent before the text, as the providers advise.
pub(crate) fn images(parts: &[Part]) -> impl Iterator<Item = &Image> {
    parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::ToolCall(_) | Part::ToolResult(_) => None,
    })
}

/// A schema travels as text, because it comes from outside: its nesting must not count towards the depth of the document.
fn write_schema<S: Serializer>(schema: &Arc<Value>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(schema)
}

fn read_schema<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Value>, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map(Arc::new).map_err(D::Error::custom)
}
