//! The format of a call that another node of a fleet makes, which is our own: the prompt goes there, and the pieces of the
//! reply or the error come back. Both ends have the same version; a message that cannot be read is rejected.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use spelunk_types::{CallId, StopReason, Usage};

use crate::{ModelError, Prompt, ToolCall};

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelDelta {
    /// More of the answer.
    Text(String),
    /// More of the reasoning, which is never part of the answer. An empty piece is a sign of life: the model is working
    /// but has no output yet.
    Reasoning(String),
    /// A complete tool call.
    ToolCall(ToolCall),
    /// The probability of the least likely token of the answer so far, in thousandths.
    Certainty(u16),
    /// The end: nothing follows. `cost_microusd` is computed from the price.
    Done {
        /// Why the model stopped.
        stop: StopReason,
        /// What the call consumed; `None` if the provider did not report it.
        usage: Option<Usage>,
    },
}

/// A call with its prompt, for another node.
pub fn write_call(prompt: &Prompt, call: &CallId) -> Vec<u8> {
    let wire = CallWire { call: call.to_string(), prompt: Cow::Borrowed(prompt) };
    serde_json::to_vec(&wire).expect("texts and numbers always serialise")
}

/// Reads it back; `None` if it is no call.
pub fn read_call(bytes: &[u8]) -> Option<(Prompt, CallId)> {
    let CallWire { call, prompt } = serde_json::from_slice(bytes).ok()?;
    Some((prompt.into_owned(), call.parse().ok()?))
}

/// A piece of a reply, or why there is none.
pub fn write_piece(piece: &Result<ModelDelta, ModelError>) -> Vec<u8> {
    let wire = match piece.clone() {
        Ok(delta) => PieceWire::Delta(delta),
        Err(error) => PieceWire::Error(error),
    };
    serde_json::to_vec(&wire).expect("texts and numbers always serialise")
}

/// Reads it back; `None` if it is no piece.
pub fn read_piece(bytes: &[u8]) -> Option<Result<ModelDelta, ModelError>> {
    Some(match serde_json::from_slice(bytes).ok()? {
        PieceWire::Delta(delta) => Ok(delta),
        PieceWire::Error(error) => Err(error),
    })
}

#[derive(Serialize, Deserialize)]
struct CallWire<'p> {
    call: String,
    prompt: Cow<'p, Prompt>,
}

#[derive(Serialize, Deserialize)]
enum PieceWire {
    Delta(ModelDelta),
    Error(ModelError),
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::json;
    use spelunk_types::{BlobId, FrameId};

    use super::*;
    use crate::{Effort, Feature, Image, Message, Part, Tool, ToolResult};

    #[test]
    fn a_prompt_with_everything_in_it_arrives_as_it_was() {
        let call = CallId { frame: FrameId::root(), ordinal: 3 };
        assert_eq!(
            read_call(&write_call(&Prompt::default(), &call)),
            Some((Prompt::default(), call.clone()))
        );
        let tool_call = ToolCall {
            id: "c1".into(),
            name: "Read".into(),
            arguments: "{\"a\": ".into(),
            signature: Some("s".into()),
        };
        let result =
            ToolResult {
                call_id: "c1".into(), name: "Read".into(), text: "é\n\u{1}".into(), is_error: true
            };
        let image = Image {
            name: "a.png".into(),
            media_type: "application/pdf",
            width: 3,
            height: 4,
            pages: 2,
            digest: BlobId::from_hash([7; 32]),
            bytes: Arc::from([0_u8, 255, 10]),
        };
        let schema = Arc::new(json!({ "type": "object", "b": [1, null] }));
        let prompt = Prompt {
            system: "be brief".into(),
            messages: vec![
                Message::user("what?").with_parts([Part::Image(image)]),
                Message::assistant("").with_parts([Part::ToolCall(tool_call)]),
                Message::user("").with_parts([Part::ToolResult(result)]),
            ],
            output_tokens_max: u64::MAX,
            schema: Some(Arc::clone(&schema)),
            tools: vec![Tool { name: "Read".into(), description: "reads".into(), schema }],
            must_call: true,
            effort: Some(Effort::High),
            wants_certainty: true,
            temperature_millis: Some(700),
        };
        assert_eq!(read_call(&write_call(&prompt, &call)), Some((prompt, call)));
        assert_eq!(read_call(b"{}"), None);
    }

    #[test]
    fn every_piece_and_every_error_arrives_as_it_was() {
        let (base_url, detail) = (String::from("http://a"), String::from("why"));
        let usage = Some(Usage { input_tokens: 1, output_tokens: 2, cost_microusd: 3, ..Usage::default() });
        let tool_call =
            ToolCall { id: "c".into(), name: "n".into(), arguments: "{}".into(), signature: None };
        let retry_after = Some(Duration::from_millis(1_500));
        let pieces = [
            Ok(ModelDelta::Text("a\u{2028}b".into())),
            Ok(ModelDelta::Reasoning(String::new())),
            Ok(ModelDelta::ToolCall(tool_call)),
            Ok(ModelDelta::Certainty(997)),
            Ok(ModelDelta::Done { stop: StopReason::ToolUse, usage }),
            Err(ModelError::Unauthorized { base_url: base_url.clone(), detail: detail.clone() }),
            Err(ModelError::NotFound { base_url, model: "m".into(), detail: detail.clone() }),
            Err(ModelError::RateLimited { retry_after }),
            Err(ModelError::Overloaded { retry_after: None }),
            Err(ModelError::ServerError { status: 500, detail: detail.clone() }),
            Err(ModelError::FeatureRefused { feature: Feature::Schema, detail }),
            Err(ModelError::StreamCut),
            Err(ModelError::ReplyEmpty { stop: StopReason::Length, usage }),
        ];
        for piece in pieces {
            assert_eq!(read_piece(&write_piece(&piece)), Some(piece));
        }
        assert_eq!(read_piece(b"[]"), None);
    }
}
