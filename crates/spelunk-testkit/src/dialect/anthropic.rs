//! The Anthropic messages format.

use serde_json::{Value, json};
use spelunk_types::Usage;

use super::{ScriptedReply, Streamed, cut, event, stop_name};

const STOPS: [&str; 5] = ["end_turn", "max_tokens", "refusal", "tool_use", "pause_turn"];

pub(super) fn streamed(spoken: &ScriptedReply) -> Streamed {
    let mut message = envelope(spoken);
    message["usage"] = usage(Usage { output_tokens: 1, ..spoken.usage });
    let mut head = vec![named(&json!({ "type": "message_start", "message": message }))];
    let mut block_idx = 0;
    if let Some(reasoning) = &spoken.manner.reasoning {
        head.push(begun(block_idx, &json!({ "type": "thinking", "thinking": "", "signature": "" })));
        head.push(delta(block_idx, &json!({ "type": "thinking_delta", "thinking": reasoning })));
        head.push(delta(block_idx, &json!({ "type": "signature_delta", "signature": "c2ln" })));
        head.push(ended(block_idx));
        block_idx += 1;
    }
    head.push(begun(block_idx, &json!({ "type": "text", "text": "" })));
    head.push(named(&json!({ "type": "ping" })));

    let texts = cut(&spoken.text, spoken.manner.n_chunks).into_iter();
    let pieces = texts.map(|text| delta(block_idx, &json!({ "type": "text_delta", "text": text }))).collect();

    let mut tail = vec![ended(block_idx)];
    for call in &spoken.manner.tool_calls {
        block_idx += 1;
        tail.push(begun(
            block_idx,
            &json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} }),
        ));
        let halves = call.halves().into_iter();
        tail.extend(
            halves.map(|half| delta(block_idx, &json!({ "type": "input_json_delta", "partial_json": half }))),
        );
        tail.push(ended(block_idx));
    }
    let stop = json!({ "stop_reason": stop_name(spoken.manner.stop, STOPS), "stop_sequence": null });
    let output = json!({ "output_tokens": spoken.usage.output_tokens });
    tail.push(named(&json!({ "type": "message_delta", "delta": stop, "usage": output })));
    tail.push(named(&json!({ "type": "message_stop" })));
    Streamed { head, pieces, tail }
}

pub(super) fn whole(spoken: &ScriptedReply) -> Value {
    let mut body = envelope(spoken);
    let mut content = Vec::new();
    if let Some(reasoning) = &spoken.manner.reasoning {
        content.push(json!({ "type": "thinking", "thinking": reasoning, "signature": "c2ln" }));
    }
    content.push(json!({ "type": "text", "text": spoken.text }));
    for call in &spoken.manner.tool_calls {
        content.push(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.input() }));
    }
    body["content"] = Value::Array(content);
    body["stop_reason"] = json!(stop_name(spoken.manner.stop, STOPS));
    body["usage"] = usage(spoken.usage);
    body
}

pub(super) fn error_body(status: u16, message: &str, code: Option<&str>) -> Value {
    let usual_code = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        500.. => "api_error",
        0..500 => "invalid_request_error",
    };
    json!({ "type": "error", "error": { "type": code.unwrap_or(usual_code), "message": message } })
}

fn named(data: &Value) -> Vec<u8> {
    event(data["type"].as_str(), data)
}

fn begun(block_idx: u32, block: &Value) -> Vec<u8> {
    named(&json!({ "type": "content_block_start", "index": block_idx, "content_block": block }))
}

fn ended(block_idx: u32) -> Vec<u8> {
    named(&json!({ "type": "content_block_stop", "index": block_idx }))
}

fn delta(block_idx: u32, delta: &Value) -> Vec<u8> {
    named(&json!({ "type": "content_block_delta", "index": block_idx, "delta": delta }))
}

fn envelope(spoken: &ScriptedReply) -> Value {
    json!({
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

// Anthropic does not include cached tokens in the input count.
fn usage(usage: Usage) -> Value {
    let beside = usage.cached_tokens.saturating_add(usage.cache_written_tokens);
    json!({
        "input_tokens": usage.input_tokens.saturating_sub(beside),
        "cache_creation_input_tokens": usage.cache_written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    })
}
