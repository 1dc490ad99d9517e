//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::conversation::{Message, Speaker};
use super::question_input::{BodyFields, CommonFields, CompatRequest, messages, parts, schema, tokens_max};
use super::reply::{Finish, Reply, ReplyHead, event};
use super::wrong::{ApiError, ApiResult};

pub(super) fn read(body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
    let mut members = BodyFields::of(body)?;
    members.refuse("tools", "the answer is looked for in the text, and no tools are called")?;
    members.refuse("mcp_servers", "no tools are called")?;
    let tokens_max = tokens_max(&members, &["max_tokens"])?;
    if tokens_max.is_none() {
        return Err(ApiError::member("max_tokens", "is missing"));
    }
    let mut said = messages("messages", members.take("messages"))?;
    let system = parts("system", members.take("system"))?;
    if !system.is_empty() {
        said.insert(0, Message { speaker: Speaker::System, parts: system });
    }
    let form = members.get("output_config").and_then(|config| config.get("format"));
    let common = CommonFields {
        messages: said,
        named: "messages",
        schema: schema("output_config.format", form.or_else(|| members.get("output_format")))?,
        tokens_max,
        includes_usage: true,
    };
    CompatRequest::of(&mut members, common, long_chars)
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply.finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
    }
}

/// This API counts cached input tokens separately.
fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    let cached = usage.cached_tokens + usage.cache_written_tokens;
    json!({
        "input_tokens": usage.input_tokens.saturating_sub(cached),
        "cache_creation_input_tokens": usage.cache_written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    })
}

fn message(head: &ReplyHead, content: &Value, stop_reason: Option<&str>, usage: &Value) -> Value {
    json!({
        "id": format!("msg_{}", head.run),
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage,
    })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let content = json!([{ "type": "text", "text": reply.text }]);
    let mut message = message(&reply.head, &content, Some(stop_reason(reply)), &usage(reply));
    message["spelunk"] = reply.own.clone();
    message
}

pub(super) fn opening(head: &ReplyHead) -> String {
    let message = message(head, &json!([]), None, &json!({ "input_tokens": 0, "output_tokens": 0 }));
    let block = json!({ "type": "text", "text": "" });
    event("message_start", &json!({ "type": "message_start", "message": message }))
        + &event(
            "content_block_start",
            &json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        )
        + &alive()
}

pub(super) fn alive() -> String {
    event("ping", &json!({ "type": "ping" }))
}

pub(super) fn closing(reply: &Reply) -> String {
    let mut text = String::new();
    for piece in reply.pieces() {
        let delta = json!({ "type": "text_delta", "text": piece });
        text += &event(
            "content_block_delta",
            &json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        );
    }
    text += &event("content_block_stop", &json!({ "type": "content_block_stop", "index": 0 }));
    let delta = json!({ "stop_reason": stop_reason(reply), "stop_sequence": null });
    text +=
        &event("message_delta", &json!({ "type": "message_delta", "delta": delta, "usage": usage(reply) }));
    text + &event("message_stop", &json!({ "type": "message_stop" }))
}
