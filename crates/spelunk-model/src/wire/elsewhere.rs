//! The format of a call that another node of a fleet makes, which is our own: the prompt goes there, and the pieces of the
//! reply or the error come back. Both ends have the same version; a message that cannot be read is rejected.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spelunk_types::{BlobId, CallId, StopReason, Usage};

use crate::{
    Effort, Feature, Image, Message, ModelDelta, ModelError, Part, Prompt, Speaker, Tool, ToolCall,
    ToolResult,
};

/// A call with its prompt, for another node.
pub fn write_call(prompt: &Prompt, call: &CallId) -> Vec<u8> {
    let wire = CallWire { call: call.to_string(), prompt: PromptWire::of(prompt) };
    serde_json::to_vec(&wire).expect("texts and numbers always serialise")
}

/// Reads it back; `None` if it is no call.
pub fn read_call(bytes: &[u8]) -> Option<(Prompt, CallId)> {
    let CallWire { call, prompt } = serde_json::from_slice(bytes).ok()?;
    Some((prompt.read()?, call.parse().ok()?))
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
struct CallWire {
    call: String,
    prompt: PromptWire,
}

#[derive(Serialize, Deserialize)]
struct PromptWire {
    system: String,
    messages: Vec<MessageWire>,
    output_tokens_max: u64,
    /// As text, because it comes from outside: its nesting must not count towards the depth of this document.
    schema: Option<String>,
    tools: Vec<ToolWire>,
    must_call: bool,
    effort: Option<String>,
    wants_certainty: bool,
    temperature_millis: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct MessageWire {
    is_of_model: bool,
    text: String,
    parts: Vec<PartWire>,
}

#[derive(Serialize, Deserialize)]
struct ToolWire {
    name: String,
    description: String,
    schema: String,
}

#[derive(Serialize, Deserialize)]
enum PartWire {
    Call(#[serde(with = "ToolCallWire")] ToolCall),
    Result(#[serde(with = "ToolResultWire")] ToolResult),
    Image {
        name: String,
        media_type: String,
        width: u32,
        height: u32,
        pages: u32,
        digest: BlobId,
        base64: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ToolCall")]
struct ToolCallWire {
    id: String,
    name: String,
    arguments: String,
    signature: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ToolResult")]
struct ToolResultWire {
    call_id: String,
    name: String,
    text: String,
    is_error: bool,
}

#[derive(Serialize, Deserialize)]
enum PieceWire {
    Delta(#[serde(with = "DeltaWire")] ModelDelta),
    Error(#[serde(with = "ErrorWire")] ModelError),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ModelDelta")]
enum DeltaWire {
    Text(String),
    Reasoning(String),
    ToolCall(#[serde(with = "ToolCallWire")] ToolCall),
    Certainty(u16),
    Done { stop: StopReason, usage: Option<Usage> },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Feature")]
enum FeatureWire {
    Schema,
    Tools,
    Images,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ModelError")]
enum ErrorWire {
    Unauthorized {
        base_url: String,
        detail: String,
    },
    KeysMissing {
        service: String,
        detail: String,
    },
    NotFound {
        base_url: String,
        model: String,
        detail: String,
    },
    RateLimited {
        retry_after: Option<Duration>,
    },
    Overloaded {
        retry_after: Option<Duration>,
    },
    ServerError {
        status: u16,
        detail: String,
    },
    RequestRefused {
        status: u16,
        detail: String,
    },
    FeatureRefused {
        #[serde(with = "FeatureWire")]
        feature: Feature,
        detail: String,
    },
    PromptTooLong {
        detail: String,
    },
    Unreachable {
        base_url: String,
        detail: String,
    },
    CommandFailed {
        program: String,
        status: String,
        detail: String,
    },
    LocalFailed {
        name: String,
        detail: String,
    },
    TimedOut {
        after_ms: u64,
    },
    StreamCut,
    ReplyMalformed {
        detail: String,
    },
    ReplyEmpty {
        stop: StopReason,
        usage: Option<Usage>,
    },
    ReplyTooLong {
        bytes_max: u64,
    },
}

impl PromptWire {
    fn of(prompt: &Prompt) -> Self {
        let tool = |tool: &Tool| ToolWire {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.schema.to_string(),
        };
        Self {
            system: prompt.system.clone(),
            messages: prompt.messages.iter().map(MessageWire::of).collect(),
            output_tokens_max: prompt.output_tokens_max,
            schema: prompt.schema.as_ref().map(ToString::to_string),
            tools: prompt.tools.iter().map(tool).collect(),
            must_call: prompt.must_call,
            effort: prompt.effort.map(|effort| effort.word().to_owned()),
            wants_certainty: prompt.wants_certainty,
            temperature_millis: prompt.temperature_millis,
        }
    }

    fn read(self) -> Option<Prompt> {
        let value = |text: &str| Some(Arc::new(serde_json::from_str::<Value>(text).ok()?));
        let tool = |ToolWire { name, description, schema }| {
            Some(Tool { name, description, schema: value(&schema)? })
        };
        Some(Prompt {
            system: self.system,
            messages: self.messages.into_iter().map(MessageWire::read).collect::<Option<_>>()?,
            output_tokens_max: self.output_tokens_max,
            schema: match self.schema {
                Some(schema) => Some(value(&schema)?),
                None => None,
            },
            tools: self.tools.into_iter().map(tool).collect::<Option<_>>()?,
            must_call: self.must_call,
            effort: match self.effort {
                Some(word) => Some(Effort::of(&word)?),
                None => None,
            },
            wants_certainty: self.wants_certainty,
            temperature_millis: self.temperature_millis,
        })
    }
}

impl MessageWire {
    fn of(message: &Message) -> Self {
        let part = |part: &Part| match part.clone() {
            Part::ToolCall(call) => PartWire::Call(call),
            Part::ToolResult(result) => PartWire::Result(result),
            Part::Image(image) => PartWire::Image {
                base64: image.base64(),
                name: image.name,
                media_type: image.media_type.to_owned(),
                width: image.width,
                height: image.height,
                pages: image.pages,
                digest: image.digest,
            },
        };
        Self {
            is_of_model: message.speaker == Speaker::Assistant,
            text: message.text.clone(),
            parts: message.parts.iter().map(part).collect(),
        }
    }

    fn read(self) -> Option<Message> {
        let speaker = if self.is_of_model { Speaker::Assistant } else { Speaker::User };
        let part = |part: PartWire| {
            Some(match part {
                PartWire::Call(call) => Part::ToolCall(call),
                PartWire::Result(result) => Part::ToolResult(result),
                PartWire::Image { name, media_type, width, height, pages, digest, base64 } => {
                    let media_type = Image::MEDIA_TYPES.into_iter().find(|known| *known == media_type)?;
                    let bytes = STANDARD.decode(base64).ok()?.into();
                    Part::Image(Image { name, media_type, width, height, pages, digest, bytes })
                }
            })
        };
        let parts = self.parts.into_iter().map(part).collect::<Option<_>>()?;
        Some(Message { speaker, text: self.text, parts })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use spelunk_types::FrameId;

    use super::*;

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
