//! The OpenAI responses format.

use serde_json::{Value, json};
use spelunk_types::StopReason;

use super::{ScriptedReply, Streamed, cut, event};
use crate::script::ScriptedToolCall;

pub(super) fn streamed(spoken: &ScriptedReply) -> Streamed {
    let mut head = vec![
        json!({ "type": "response.created", "response": envelope(spoken) }),
        json!({ "type": "response.in_progress", "response": envelope(spoken) }),
    ];
    let mut place = 0;
    if let Some(reasoning) = &spoken.manner.reasoning {
        head.push(added(place, &json!({ "type": "reasoning", "id": "rs_1", "summary": [] })));
        let with = |kind: &str, name: &str, value: &Value| {
            json!({ "type": kind, "item_id": "rs_1", "output_index": place, "summary_index": 0,
                    name: value })
        };
        let part = json!({ "type": "summary_text", "text": "" });
        head.push(with("response.reasoning_summary_part.added", "part", &part));
        head.push(with("response.reasoning_summary_text.delta", "delta", &json!(reasoning)));
        head.push(with("response.reasoning_summary_text.done", "text", &json!(reasoning)));
        head.push(done(place, &thought(reasoning)));
        place += 1;
    }
    head.push(added(place, &json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": [] })));
    let within = |kind: &str, name: &str, value: Value| {
        json!({ "type": kind, "item_id": "msg_1", "output_index": place, "content_index": 0,
                name: value })
    };
    let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
    head.push(within("response.content_part.added", "part", empty));
    let texts = cut(&spoken.text, spoken.manner.n_chunks).into_iter();
    let with_logprobs = |mut event: Value| {
        event["logprobs"] = json!([]);
        event
    };
    let pieces =
        texts.map(|text| with_logprobs(within("response.output_text.delta", "delta", json!(text)))).collect();
    let whole_text = with_logprobs(within("response.output_text.done", "text", json!(spoken.text)));
    let mut tail = vec![whole_text, done(place, &message(spoken))];
    for (call_idx, call) in spoken.manner.tool_calls.iter().enumerate() {
        place += 1;
        tail.extend(call_events(place, call, &format!("fc_{call_idx}")));
    }
    let last = whole(spoken);
    let name = format!("response.{}", last["status"].as_str().unwrap_or_default());
    tail.push(json!({ "type": name, "response": last }));
    let mut n_events = 0;
    let mut numbered = |events: Vec<Value>| -> Vec<Vec<u8>> {
        let number = |mut event: Value| {
            event["sequence_number"] = json!(n_events);
            n_events += 1;
            named(&event)
        };
        events.into_iter().map(number).collect()
    };
    Streamed { head: numbered(head), pieces: numbered(pieces), tail: numbered(tail) }
}

fn call_events(place: usize, call: &ScriptedToolCall, id: &str) -> Vec<Value> {
    let mut begun = item(call, id);
    begun["arguments"] = json!("");
    let mut events = vec![added(place, &begun)];
    events.extend(call.halves().into_iter().map(|half| {
        json!({ "type": "response.function_call_arguments.delta", "item_id": id, "output_index": place, "delta": half })
    }));
    events
        .push(json!({ "type": "response.function_call_arguments.done", "item_id": id, "output_index": place,
                        "name": call.name, "arguments": call.arguments }));
    events.push(done(place, &item(call, id)));
    events
}

fn added(place: usize, item: &Value) -> Value {
    json!({ "type": "response.output_item.added", "output_index": place, "item": item })
}

fn done(place: usize, item: &Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": place, "item": item })
}

fn thought(reasoning: &str) -> Value {
    json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": reasoning }] })
}

fn message(spoken: &ScriptedReply) -> Value {
    json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": spoken.text, "annotations": [] }] })
}

pub(super) fn whole(spoken: &ScriptedReply) -> Value {
    let mut body = envelope(spoken);
    let mut output = Vec::new();
    output.extend(spoken.manner.reasoning.iter().map(|reasoning| thought(reasoning)));
    output.push(message(spoken));
    output.extend(
        spoken.manner.tool_calls.iter().enumerate().map(|(idx, call)| item(call, &format!("fc_{idx}"))),
    );
    body["output"] = Value::Array(output);
    let reason = match spoken.manner.stop {
        StopReason::Finished | StopReason::ToolUse => None,
        StopReason::Length => Some("max_output_tokens"),
        StopReason::Filtered => Some("content_filter"),
        StopReason::Other => Some("another_reason"),
    };
    body["status"] = json!(if reason.is_some() { "incomplete" } else { "completed" });
    body["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({ "reason": reason }));
    body["usage"] = json!({
        "input_tokens": spoken.usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": spoken.usage.cached_tokens,
            "cache_write_tokens": spoken.usage.cache_written_tokens,
        },
        "output_tokens": spoken.usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": spoken.usage.tokens(),
    });
    body
}

/// Server failures end the response; every other error is a separate event.
pub(super) fn error_event(status: u16, message: &str) -> Vec<u8> {
    let code = match status {
        401 => "invalid_api_key",
        404 => "model_not_found",
        429 => "rate_limit_exceeded",
        503 | 529 => "server_is_overloaded",
        500.. => "server_error",
        0..500 => "invalid_prompt",
    };
    if status >= 500 {
        let error = json!({ "code": code, "message": message });
        let response =
            json!({ "id": "resp_scripted", "object": "response", "status": "failed", "error": error });
        return named(&json!({ "type": "response.failed", "sequence_number": 5, "response": response }));
    }
    named(&json!({ "type": "error", "code": code, "message": message, "param": null, "sequence_number": 5 }))
}

fn item(call: &ScriptedToolCall, id: &str) -> Value {
    json!({ "type": "function_call", "id": id, "status": "completed", "call_id": call.id, "name": call.name, "arguments": call.arguments })
}

fn named(data: &Value) -> Vec<u8> {
    event(data["type"].as_str(), data)
}

fn envelope(spoken: &ScriptedReply) -> Value {
    json!({ "id": "resp_scripted", "object": "response", "created_at": 0, "status": "in_progress",
            "error": null, "incomplete_details": null, "model": spoken.model, "output": [],
            "parallel_tool_calls": true, "tool_choice": "auto", "tools": [] })
}
