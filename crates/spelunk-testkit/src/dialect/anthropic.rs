//! The Anthropic messages format.

use serde_json::{Value, json};
use spelunk_types::{StopReason, Usage};

use super::{Spoken, Streamed, cut, event};

pub(super) fn streamed(spoken: &Spoken) -> Streamed {
    let mut head = Vec::new();
    let mut message = envelope(spoken);
    message["usage"] = usage(Usage { output_tokens: 1, ..spoken.usage });
    push(&mut head, &json!({ "type": "message_start", "message": message }));
    let mut block_idx = 0;
    if let Some(reasoning) = &spoken.reasoning {
        let opening = json!({ "type": "thinking", "thinking": "", "signature": "" });
        push(
            &mut head,
            &json!({ "type": "content_block_start", "index": block_idx, "content_block": opening }),
        );
        push(&mut head, &delta(block_idx, &json!({ "type": "thinking_delta", "thinking": reasoning })));
        push(&mut head, &delta(block_idx, &json!({ "type": "signature_delta", "signature": "c2ln" })));
        push(&mut head, &json!({ "type": "content_block_stop", "index": block_idx }));
        block_idx += 1;
    }
    let opening = json!({ "type": "text", "text": "" });
    push(&mut head, &json!({ "type": "content_block_start", "index": block_idx, "content_block": opening }));
    push(&mut head, &json!({ "type": "ping" }));

    let mut pieces = Vec::new();
    for text in cut(&spoken.text, spoken.n_chunks) {
        let mut piece = Vec::new();
        push(&mut piece, &delta(block_idx, &json!({ "type": "text_delta", "text": text })));
        pieces.push(piece);
    }

    let mut tail = Vec::new();
    push(&mut tail, &json!({ "type": "content_block_stop", "index": block_idx }));
    let stop = json!({ "stop_reason": stop_name(spoken.stop), "stop_sequence": null });
    let output = json!({ "output_tokens": spoken.usage.output_tokens });
    push(&mut tail, &json!({ "type": "message_delta", "delta": stop, "usage": output }));
    push(&mut tail, &json!({ "type": "message_stop" }));
    Streamed { head, pieces, tail }
}

pub(super) fn whole(spoken: &Spoken) -> Value {
    let mut body = envelope(spoken);
    let mut content = vec![json!({ "type": "text", "text": spoken.text })];
    if let Some(reasoning) = &spoken.reasoning {
        content.insert(0, json!({ "type": "thinking", "thinking": reasoning, "signature": "c2ln" }));
    }
    body["content"] = Value::Array(content);
    body["stop_reason"] = json!(stop_name(spoken.stop));
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

fn push(events: &mut Vec<u8>, data: &Value) {
    events.extend(event(data["type"].as_str(), data));
}

fn delta(block_idx: u32, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": block_idx, "delta": delta })
}

fn envelope(spoken: &Spoken) -> Value {
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

// Anthropic counts cached tokens beside the input, not inside it.
fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens.saturating_sub(usage.cached_tokens),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    })
}

fn stop_name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Finished => "end_turn",
        StopReason::Length => "max_tokens",
        StopReason::Filtered => "refusal",
        StopReason::Other => "tool_use",
    }
}
