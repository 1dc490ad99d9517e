//! The response of a tool: text for readers and the same as data for programs, both bounded, so
//! that no response fills the context window of the calling agent. A failure is also a response, marked as an error,
//! with the code, message and hint that the command line would show.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use spelunk_app::error_text::{Paint, error_json, error_text};
use spelunk_app::units::safe;
use spelunk_types::Explain;

use super::{Failure, State};

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

pub(super) fn client_error(state: &State, error: &dyn Explain) -> Value {
    let mut data = error_json(error);
    data["hint"] = json!(data["hint"].as_str().and_then(|hint| state.hint_for_client(hint)));
    data["message"] = json!(state.without_roots(&error.to_string()));
    for cause in data["causes"].as_array_mut().into_iter().flatten() {
        *cause = json!(state.without_roots(cause.as_str().unwrap_or_default()));
    }
    data
}

/// The overhead of a value: a comma, quotes, a colon.
const FRAME_CHARS: usize = 4;
const MARK: &str = "… [cut]";

/// The value within `chars_max` characters of text, and whether anything was truncated.
pub(super) fn bound(value: Value, chars_max: usize) -> (Value, bool) {
    let mut budget = Budget { chars_left: chars_max, is_cut: false };
    let value = budget.take(value);
    (value, budget.is_cut)
}

/// The beginning of a text, with a marker if it was truncated.
pub(super) fn cut(text: &str, chars_max: usize) -> (String, bool) {
    match text.char_indices().nth(chars_max) {
        None => (text.to_owned(), false),
        Some((end, _)) => (format!("{}{MARK}", text.get(..end).unwrap_or_default()), true),
    }
}

/// The beginning of a text without control characters, for messages.
pub(crate) fn plain_head(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(chars_max).collect()
}

struct Budget {
    chars_left: usize,
    is_cut: bool,
}

impl Budget {
    /// Recursion is bounded: the protocol's parser allows 128 levels.
    fn take(&mut self, value: Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.spend(FRAME_CHARS);
                value
            }
            Value::String(text) => {
                let (text, is_cut) = cut(&text, self.chars_left);
                self.is_cut |= is_cut;
                self.spend(text.chars().count() + FRAME_CHARS);
                Value::String(text)
            }
            Value::Array(values) => {
                let mut kept = Vec::new();
                for value in values {
                    if self.chars_left < FRAME_CHARS {
                        self.is_cut = true;
                        break;
                    }
                    kept.push(self.take(value));
                }
                Value::Array(kept)
            }
            // We choose the names and the schema requires them, so an object keeps all of its fields.
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (name, value) in fields {
                    self.spend(name.chars().count() + FRAME_CHARS);
                    kept.insert(name, self.take(value));
                }
                Value::Object(kept)
            }
        }
    }

    fn spend(&mut self, n_chars: usize) {
        self.chars_left = self.chars_left.saturating_sub(n_chars);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_and_lists_are_cut_and_names_stay() {
        let value = json!({ "a": "0123456789", "b": ["x", "y", "z"], "c": 7 });
        assert_eq!(bound(value.clone(), 1000), (value.clone(), false));
        let (shown, is_cut) = bound(value, 12);
        assert_eq!(shown, json!({ "a": "0123456… [cut]", "b": [], "c": 7 }));
        assert!(is_cut);
    }

    proptest! {
        #[test]
        fn no_list_of_texts_is_longer_than_its_bound(
            texts in proptest::collection::vec(".{0,40}", 0..40),
            chars_max in 0_usize..500,
        ) {
            let (shown, is_cut) = bound(json!(texts), chars_max);
            let kept: Vec<&str> = shown.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let n_chars: usize = kept.iter().map(|text| text.chars().count()).sum();
            prop_assert!(n_chars <= chars_max + MARK.chars().count());
            prop_assert_eq!(is_cut, kept != texts.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
