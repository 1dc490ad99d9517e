//! Anthropic's Messages API.

use serde_json::{Value, json};
use spelunk_model::{ToolCall, estimate_tokens};

use super::question_input::messages;
use super::tools::tools;
use super::{
    ApiError, ApiResult, BodyFields, CommonFields, CompatRequest, Finish, Message, MessagePart, OfferedTools,
    Reply, ReplyHead, Speaker, Streamed, ToolChoice, event, parts, require_model, schema, tokens_max,
};

pub(super) fn read(body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
    let mut members = BodyFields::of(body)?;
    let tokens_max = tokens_max(&members, &["max_tokens"])?;
    if tokens_max.is_none() {
        return Err(ApiError::member("max_tokens", "is missing"));
    }
    let common = CommonFields { tokens_max, ..common(&mut members)? };
    CompatRequest::of(&mut members, common, long_chars)
}

fn common(members: &mut BodyFields) -> ApiResult<CommonFields> {
    members.refuse("mcp_servers", "only custom tools are supported")?;
    let tools = tools(members.take("tools"), |at, tool| match tool["type"].as_str() {
        None | Some("custom") => {
            Ok((tool["name"].clone(), tool["description"].clone(), tool["input_schema"].clone()))
        }
        Some(_) => Err(ApiError::unsupported(&format!("{at}.type"), "only custom tools are supported")),
    })?;
    let (choice, one_call) = choice(members.get("tool_choice"))?;
    let mut said = messages("messages", members.take("messages"))?;
    let system = parts("system", members.take("system"))?;
    if !system.is_empty() {
        said.insert(0, Message { speaker: Speaker::System, parts: system });
    }
    let form = members.get("output_config").and_then(|config| config.get("format"));
    Ok(CommonFields {
        messages: said,
        named: "messages",
        schema: schema("output_config.format", form.or_else(|| members.get("output_format")))?,
        tools: OfferedTools::of(tools, choice, one_call)?,
        tokens_max: None,
        includes_usage: true,
    })
}

fn choice(choice: Option<&Value>) -> ApiResult<(ToolChoice, bool)> {
    let Some(choice) = choice else { return Ok((ToolChoice::Any, false)) };
    let wrong =
        || ApiError::member("tool_choice", "must have the type auto, any, tool with a `name`, or none");
    let chosen = match (choice["type"].as_str(), choice["name"].as_str()) {
        (Some("auto"), _) => ToolChoice::Any,
        (Some("any"), _) => ToolChoice::Required,
        (Some("none"), _) => ToolChoice::Nothing,
        (Some("tool"), Some(name)) => ToolChoice::Named(name.to_owned()),
        _ => return Err(wrong()),
    };
    Ok((chosen, choice["disable_parallel_tool_use"] == json!(true)))
}

pub(super) fn count_tokens(body: Value) -> ApiResult<Value> {
    let mut members = BodyFields::of(body)?;
    require_model(&members)?;
    let common = common(&mut members)?;
    if let Some(idx) = common.messages.iter().position(|message| message.parts.is_empty()) {
        return Err(ApiError::member(&format!("messages[{idx}].content"), "is missing"));
    }
    let mut tokens = 0;
    for part in common.messages.iter().flat_map(|message| &message.parts) {
        tokens += match part {
            MessagePart::Text(text) | MessagePart::Document { text, .. } => estimate_tokens(text),
            MessagePart::Call(call) => estimate_tokens(&call.name) + estimate_tokens(&call.arguments),
            MessagePart::Result(result) => estimate_tokens(&result.text),
        };
    }
    for tool in common.tools.iter().flat_map(|tools| &tools.tools) {
        tokens += estimate_tokens(&format!("{} {} {}", tool.name, tool.description, tool.schema));
    }
    Ok(json!({ "input_tokens": tokens }))
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply.finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Tools => "tool_use",
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

/// The input of a call: an object, whatever the model wrote.
fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
}

fn called(call: &ToolCall, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let mut content = Vec::new();
    if reply.has_text() {
        let mut block = json!({ "type": "text", "text": reply.text });
        if !reply.cited.is_empty() {
            block["citations"] = json!(reply.cited);
        }
        content.push(block);
    }
    content.extend(reply.calls.iter().map(|call| called(call, &input(call))));
    let mut message = message(&reply.head, &json!(content), Some(stop_reason(reply)), &usage(reply));
    message["spelunk"] = reply.own.clone();
    message
}

pub(super) fn opening(head: &ReplyHead) -> String {
    let message = message(head, &json!([]), None, &json!({ "input_tokens": 0, "output_tokens": 0 }));
    event("message_start", &json!({ "type": "message_start", "message": message })) + &alive()
}

pub(super) fn alive() -> String {
    event("ping", &json!({ "type": "ping" }))
}

fn begun(idx: usize, block: &Value) -> String {
    let begun = json!({ "type": "content_block_start", "index": idx, "content_block": block });
    event("content_block_start", &begun)
}

fn delta(idx: usize, delta: &Value) -> String {
    event("content_block_delta", &json!({ "type": "content_block_delta", "index": idx, "delta": delta }))
}

fn ended(idx: usize) -> String {
    event("content_block_stop", &json!({ "type": "content_block_stop", "index": idx }))
}

pub(super) fn piece(streamed: &Streamed, piece: &str) -> String {
    let begin =
        if streamed.n_events == 0 { begun(0, &json!({ "type": "text", "text": "" })) } else { String::new() };
    begin + &delta(0, &json!({ "type": "text_delta", "text": piece }))
}

pub(super) fn closing(reply: &Reply, streamed: &mut Streamed) -> String {
    let (mut text, mut idx) = (String::new(), 0);
    if reply.has_text() || !streamed.text.is_empty() {
        let rest = streamed.rest(&reply.text);
        if rest.is_empty() && streamed.n_events == 0 {
            text += &begun(0, &json!({ "type": "text", "text": "" }));
        }
        for one in rest {
            text += &piece(streamed, &one);
            streamed.n_events += 1;
        }
        for citation in &reply.cited {
            text += &delta(0, &json!({ "type": "citations_delta", "citation": citation }));
        }
        text += &ended(0);
        idx += 1;
    }
    for call in &reply.calls {
        text += &begun(idx, &called(call, &json!({})));
        text += &delta(idx, &json!({ "type": "input_json_delta", "partial_json": input(call).to_string() }));
        text += &ended(idx);
        idx += 1;
    }
    let stop = json!({ "stop_reason": stop_reason(reply), "stop_sequence": null });
    text +=
        &event("message_delta", &json!({ "type": "message_delta", "delta": stop, "usage": usage(reply) }));
    text + &event("message_stop", &json!({ "type": "message_stop" }))
}
