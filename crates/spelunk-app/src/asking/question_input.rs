//! The question as clients send it: `question`, or `messages` instead, and `attachments`. These fields mean
//! the same over HTTP and MCP, and are rejected for the same reasons as on the command line.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};
use spelunk_context::{ScanOptions, SourceInput, given_text};
use spelunk_engine::Conversation;

use super::attachments::{ATTACHED_BYTES_MAX, ATTACHED_MAX, Attachments};
use crate::arguments::{Arguments, wrong};
use crate::failure::Usage;

pub const QUESTION_CHARS_MAX: usize = 100_000;
pub const SYSTEM_CHARS_MAX: usize = 100_000;
const MESSAGES_MAX: usize = 10_000;
/// Names are truncated to far less than this, but only after they were sanitized.
const NAME_CHARS_MAX: usize = 4096;

/// Lenient: padding is optional, and trailing bits are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Debug)]
pub struct QuestionInput {
    pub question: String,
    pub attachments: Vec<SourceInput>,
}

impl QuestionInput {
    /// Takes the fields out of the arguments; `uploads` were sent separately.
    pub fn read(arguments: &mut Arguments, uploads: Vec<SourceInput>) -> Result<Self, Usage> {
        let mut attachments = Attachments::beside(uploads);
        let question = arguments.text("question", usize::MAX)?;
        let conversation = conversation(arguments)?;
        for (idx, attachment) in arguments.list("attachments", ATTACHED_MAX)?.into_iter().enumerate() {
            attach(&mut attachments, attachment)
                .map_err(|why| wrong("attachments", &format!("is not valid: entry {}: {why}", idx + 1)))?;
        }
        let question = match (question, conversation) {
            (Some(_), Some(_)) => {
                return Err(wrong("messages", "cannot be combined with `question`: send one of the two"));
            }
            (None, None) => return Err(wrong("question", "is missing")),
            (Some(question), None) if question.trim().is_empty() => {
                return Err(wrong("question", "is empty"));
            }
            (Some(question), None) => attachments.request(question)?,
            (None, Some(conversation)) => attachments.converse(conversation)?,
        };
        Ok(Self { question, attachments: attachments.into_inputs() })
    }
}

fn conversation(arguments: &mut Arguments) -> Result<Option<Conversation>, Usage> {
    let system = arguments.text("system", SYSTEM_CHARS_MAX)?;
    let Some(messages) = arguments.value("messages") else {
        return match system {
            None => Ok(None),
            Some(_) => Err(wrong("system", "needs `messages`")),
        };
    };
    let whole = match messages {
        Value::Array(_) => json!({ "system": system, "messages": messages }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err(wrong("messages", "must be a list of messages"));
        }
    };
    let read = Conversation::read(&whole.to_string());
    read.map(Some).map_err(|error| wrong("messages", &format!("is not a conversation: {error}")))
}

/// One attachment: `{name, text}` or `{name, base64}`.
fn attach(attachments: &mut Attachments, attachment: Value) -> Result<(), String> {
    let Value::Object(members) = attachment else { return Err("it is not an object".to_owned()) };
    let said = |usage: Usage| usage.message;
    let mut members = Arguments::new(Some(members));
    let name = members.needed("name", NAME_CHARS_MAX).map_err(said)?;
    let bytes_max = usize::try_from(ATTACHED_BYTES_MAX).unwrap_or(usize::MAX);
    let text = members.text("text", bytes_max).map_err(said)?;
    let encoded = members.text("base64", bytes_max / 3 * 4 + 8).map_err(said)?;
    members.finish().map_err(said)?;
    let bytes = match (text, encoded) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(encoded)) => BASE64
            .decode(encoded)
            .map_err(|error| format!("`base64` is not valid: {}", error.to_string().trim_end_matches('.')))?,
        (Some(_), Some(_)) | (None, None) => return Err("it needs either `text` or `base64`".to_owned()),
    };
    attachments.attach(&name, bytes).map_err(|error| error.to_string())
}

/// Redacts secrets in a base64 attachment; other code does so for text attachments and rejects what
/// cannot be decoded.
pub fn redact_attachment(attachment: &mut Value) {
    let Some(members) = attachment.as_object_mut() else { return };
    let name = members.get("name").and_then(Value::as_str).unwrap_or_default();
    let Some(Ok(bytes)) = members.get("base64").and_then(Value::as_str).map(|text| BASE64.decode(text))
    else {
        return;
    };
    let kept = given_text(name, &bytes, &ScanOptions::default());
    if let Cow::Owned(kept) = kept {
        members.remove("base64");
        members.insert("text".to_owned(), String::from_utf8_lossy(&kept).into());
    }
}

pub fn messages_schema() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "maxItems": MESSAGES_MAX,
        "items": {
            "type": "object",
            "required": ["role", "content"],
            "properties": {
                "role": { "type": "string", "pattern": "^[^\\s#]" },
                "content": {
                    "type": ["string", "array"], "items": {},
                    "description": "Text, or content blocks, of which only the text is used",
                },
            },
        },
        "description": "A conversation to answer, instead of `question`",
    })
}

pub fn attachments_schema() -> Value {
    json!({
        "type": "array",
        "maxItems": ATTACHED_MAX,
        "items": {
            "type": "object",
            "required": ["name"],
            "oneOf": [{ "required": ["text"] }, { "required": ["base64"] }],
            "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "maxLength": NAME_CHARS_MAX, "description": "The name of the document; unsafe characters are replaced" },
                "text": { "type": "string" },
                "base64": {
                    "type": "string",
                    "contentEncoding": "base64",
                    "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
                    "description": "Instead of `text`, for binary files",
                },
            },
        },
        "description": "Files that belong to the question, cited as `attachments/NAME`",
    })
}

#[cfg(test)]
mod tests;
