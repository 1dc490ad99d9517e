//! The response of a tool: text for readers and the same as data for programs, both bounded. A failure is
//! also a response, marked as an error, with the code, message and hint that the command line would show.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::{Value, json};
use spelunk_app::error_text::{Paint, error_json, error_text};
use spelunk_app::failure::Failure;
use spelunk_app::units::safe;
use spelunk_types::Explain;

use super::state::State;
use super::truncate::{bound, cut};

/// A response before it is bounded.
#[derive(Debug)]
pub(super) struct ToolAnswer {
    text: String,
    pub(super) data: Value,
    is_error: bool,
}

impl ToolAnswer {
    pub(super) fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, is_error: false }
    }

    /// A response that reports a failure but still contains data.
    pub(super) fn failed(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, is_error: true }
    }

    pub(super) fn error(state: &State, error: &dyn Explain) -> Self {
        let data = client_error(state, error);
        let text = state.without_roots(&error_text(error, Paint::Plain));
        let hintless = text.rsplit_once("\nhint: ").filter(|_| data["hint"].is_null());
        Self::failed(hintless.map_or(text.as_str(), |(text, _)| text), json!({ "error": data }))
    }

    pub(super) fn of(state: &State, result: Result<Self, Failure>) -> Self {
        result.unwrap_or_else(|failure| Self::error(state, failure.0.as_ref()))
    }

    /// The response within the server's limit. Truncated data is flagged in its own field.
    pub(super) fn respond(self, state: &State) -> CallToolResponse {
        let chars_max = state.output_chars_max;
        let (mut data, is_cut) = bound(self.data, chars_max);
        if let Some(fields) = data.as_object_mut().filter(|_| is_cut) {
            fields.insert("cut".to_owned(), Value::Bool(true));
        }
        let (text, _) = cut(safe(&self.text).trim_end(), chars_max);
        let mut result = if self.is_error {
            CallToolResult::structured_error(data)
        } else {
            CallToolResult::structured(data)
        };
        result.content = vec![ContentBlock::text(text)];
        result.into()
    }
}

/// The error as data, with paths as the client knows them.
pub(super) fn client_error(state: &State, error: &dyn Explain) -> Value {
    let mut data = error_json(error);
    data["hint"] = json!(data["hint"].as_str().and_then(|hint| state.hint_for_client(hint)));
    data["message"] = json!(state.without_roots(&error.to_string()));
    for cause in data["causes"].as_array_mut().into_iter().flatten() {
        *cause = json!(state.without_roots(cause.as_str().unwrap_or_default()));
    }
    data
}
