//! The records that the engine itself writes: prompts, cached replies, and findings of parts.

mod turn;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spelunk_model::{Effort, Part, Prompt, Reply, Speaker, ToolCall};
use spelunk_types::{AnalystReport, BlobId, ModelRef, StopReason, Text, Usage};

/// Space for field names.
const HEAD_BYTES: usize = 512;

/// A prompt with its texts inline; the digest is computed from its JSON.
#[derive(Serialize)]
struct PromptWire<'a, T> {
    provider: &'a str,
    model: &'a str,
    output_tokens_max: u64,
    system: T,
    messages: Vec<MessageWire<T>>,
    /// The schema of the reply and the tools, as text, because both come from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<T>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolWire<'a, T>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    must_call: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_millis: Option<u32>,
}

#[derive(Serialize)]
struct ToolWire<'a, T> {
    name: &'a str,
    description: &'a str,
    schema: T,
}

#[derive(Serialize)]
struct MessageWire<T> {
    speaker: &'static str,
    text: T,
    /// Tool calls, their results, and images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<T>,
}

fn prompt_wire<'p, T, E>(
    model: &'p ModelRef,
    prompt: &'p Prompt,
    mut keep: impl FnMut(Cow<'p, str>) -> Result<T, E>,
) -> Result<PromptWire<'p, T>, E> {
    let mut messages = Vec::with_capacity(prompt.messages.len());
    for message in &prompt.messages {
        let speaker = match message.speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let parts =
            message.parts.iter().map(|part| keep(part_json(part).into())).collect::<Result<_, _>>()?;
        messages.push(MessageWire { speaker, text: keep(message.text.as_str().into())?, parts });
    }
    let mut tools = Vec::with_capacity(prompt.tools.len());
    for tool in &prompt.tools {
        let schema = keep(tool.schema.to_string().into())?;
        tools.push(ToolWire { name: &tool.name, description: &tool.description, schema });
    }
    Ok(PromptWire {
        provider: &model.provider,
        model: &model.name,
        output_tokens_max: prompt.output_tokens_max,
        system: keep(prompt.system.as_str().into())?,
        messages,
        schema: prompt.schema.as_ref().map(|schema| keep(schema.to_string().into())).transpose()?,
        tools,
        must_call: prompt.must_call,
        effort: prompt.effort.map(Effort::word),
        temperature_millis: prompt.temperature_millis,
    })
}

/// A tool call, its result, or an image without its bytes.
fn part_json(part: &Part) -> String {
    match part {
        Part::ToolCall(call) => serde_json::json!({
            "call": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }),
        Part::ToolResult(result) => serde_json::json!({
            "result_of": result.call_id,
            "name": result.name,
            "text": result.text,
            "is_error": result.is_error,
        }),
        Part::Image(image) => image_json(image),
    }
    .to_string()
}

/// The record of an image. Another version of this program may write the same PDF pages with other bytes.
pub(crate) fn image_json(image: &spelunk_model::Image) -> serde_json::Value {
    let is_pdf = image.media_type == "application/pdf";
    let (key, size) = if is_pdf { ("pages", image.pages as usize) } else { ("bytes", image.bytes.len()) };
    serde_json::json!({
        "image": image.name,
        "media_type": image.media_type,
        "width": image.width,
        "height": image.height,
        "digest": image.digest,
        key: size,
    })
}

/// The digest of everything sent to a model, independent of where it runs.
pub(crate) fn prompt_digest(model: &ModelRef, prompt: &Prompt) -> BlobId {
    let mut bytes = 0;
    let wire = prompt_wire(model, prompt, |text| {
        bytes += text.len();
        Ok::<_, std::convert::Infallible>(text)
    });
    let Ok(wire) = wire;
    // Line breaks and quotes take two bytes each.
    let mut json = Vec::with_capacity(bytes + bytes / 8 + HEAD_BYTES);
    serde_json::to_writer(&mut json, &wire).expect("texts and numbers always serialise");
    spelunk_journal::digest(&json)
}

/// A prompt for the journal: long texts by reference, so that a growing transcript is stored once.
pub(crate) fn prompt_record<E>(
    model: &ModelRef,
    prompt: &Prompt,
    mut keep: impl FnMut(&str) -> Result<Text, E>,
) -> Result<String, E> {
    let wire = prompt_wire(model, prompt, |text| keep(&text))?;
    Ok(serde_json::to_string(&wire).expect("texts and numbers always serialise"))
}

/// The cache key of a prompt: the same prompt at another URL has another key.
pub(crate) fn cache_key(prompt: &BlobId, model: &ModelRef) -> BlobId {
    spelunk_journal::digest(format!("reply-v1\n{prompt}\n{}", model.base_url).as_bytes())
}

#[derive(Serialize, Deserialize)]
struct ReplyWire {
    text: String,
    stop: StopReason,
    usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    certainty_permille: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<String>,
}

pub(crate) fn write_reply(reply: &Reply) -> Vec<u8> {
    let wire = ReplyWire {
        text: reply.text.clone(),
        stop: reply.stop,
        usage: reply.usage.unwrap_or_default(),
        certainty_permille: reply.certainty_permille,
        tool_calls: write_tool_calls(&reply.tool_calls),
    };
    serde_json::to_vec(&wire).expect("texts and numbers always serialise")
}

/// A reply from the cache; `None` if this engine does not understand the record.
pub(crate) fn read_reply(record: &[u8]) -> Option<Reply> {
    let wire: ReplyWire = serde_json::from_slice(record).ok()?;
    Some(Reply {
        text: wire.text,
        stop: wire.stop,
        usage: Some(wire.usage),
        tool_calls: read_tool_calls(wire.tool_calls.as_deref()),
        answered_by: None,
        certainty_permille: wire.certainty_permille,
    })
}

#[derive(Serialize, Deserialize)]
struct ToolCallWire {
    id: String,
    name: String,
    arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

impl ToolCallWire {
    fn of(call: ToolCall) -> Self {
        let ToolCall { id, name, arguments, signature } = call;
        Self { id, name, arguments, signature }
    }

    fn read(self) -> ToolCall {
        let Self { id, name, arguments, signature } = self;
        ToolCall { id, name, arguments, signature }
    }
}

/// The tool calls of a reply, for the journal; `None` if there are none.
pub(crate) fn write_tool_calls(calls: &[ToolCall]) -> Option<String> {
    let calls: Vec<_> = calls.iter().cloned().map(ToolCallWire::of).collect();
    (!calls.is_empty()).then(|| serde_json::to_string(&calls).expect("texts always serialise"))
}

/// Reads the tool calls back. This engine wrote them; unreadable ones count as none.
pub(crate) fn read_tool_calls(text: Option<&str>) -> Vec<ToolCall> {
    let calls: Vec<ToolCallWire> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    calls.into_iter().map(ToolCallWire::read).collect()
}

pub(crate) fn write_reports(reports: &BTreeMap<u64, AnalystReport>) -> String {
    serde_json::to_string(reports).expect("texts and numbers always serialise")
}

/// Reads the reports back. This engine wrote them; unreadable ones are skipped.
pub(crate) fn read_reports(text: &str) -> BTreeMap<u64, AnalystReport> {
    serde_json::from_str(text).unwrap_or_default()
}
