//! The AWS Bedrock converse format: JSON in binary frames with checksums.

use serde_json::{Value, json};
use spelunk_types::Usage;

use super::{ScriptedReply, Streamed, cut, stop_name};

const STOPS: [&str; 5] = ["end_turn", "max_tokens", "guardrail_intervened", "tool_use", "another_reason"];

pub(super) fn streamed(spoken: &ScriptedReply) -> Streamed {
    let mut head = vec![framed("messageStart", &json!({ "role": "assistant", "p": "abc" }))];
    let mut block_idx = 0;
    if let Some(reasoning) = &spoken.manner.reasoning {
        head.push(delta(block_idx, &json!({ "reasoningContent": { "text": reasoning } })));
        head.push(delta(block_idx, &json!({ "reasoningContent": { "signature": "c2ln" } })));
        head.push(framed("contentBlockStop", &json!({ "contentBlockIndex": block_idx })));
        block_idx += 1;
    }
    let texts = cut(&spoken.text, spoken.manner.n_chunks).into_iter();
    let pieces = texts.map(|text| delta(block_idx, &json!({ "text": text }))).collect();
    let mut tail = vec![framed("contentBlockStop", &json!({ "contentBlockIndex": block_idx }))];
    for call in &spoken.manner.tool_calls {
        block_idx += 1;
        let start = json!({ "toolUse": { "toolUseId": call.id, "name": call.name } });
        tail.push(framed("contentBlockStart", &json!({ "contentBlockIndex": block_idx, "start": start })));
        let halves = call.halves().into_iter();
        tail.extend(halves.map(|half| delta(block_idx, &json!({ "toolUse": { "input": half } }))));
        tail.push(framed("contentBlockStop", &json!({ "contentBlockIndex": block_idx })));
    }
    tail.push(framed("messageStop", &json!({ "stopReason": stop_name(spoken.manner.stop, STOPS) })));
    tail.push(framed("metadata", &json!({ "usage": usage(spoken.usage), "metrics": { "latencyMs": 1 } })));
    Streamed { head, pieces, tail }
}

pub(super) fn whole(spoken: &ScriptedReply) -> Value {
    let mut content = Vec::new();
    if let Some(reasoning) = &spoken.manner.reasoning {
        content.push(
            json!({ "reasoningContent": { "reasoningText": { "text": reasoning, "signature": "c2ln" } } }),
        );
    }
    content.push(json!({ "text": spoken.text }));
    for call in &spoken.manner.tool_calls {
        content
            .push(json!({ "toolUse": { "toolUseId": call.id, "name": call.name, "input": call.input() } }));
    }
    json!({
        "output": { "message": { "role": "assistant", "content": content } },
        "stopReason": stop_name(spoken.manner.stop, STOPS),
        "usage": usage(spoken.usage),
        "metrics": { "latencyMs": 1 },
    })
}

/// The error type is in a header; `code` is put into the message, since the body has no field for one.
pub(super) fn error_body(message: &str, code: Option<&str>) -> Value {
    match code {
        Some(code) => json!({ "message": message, "__type": code }),
        None => json!({ "message": message }),
    }
}

pub(super) fn error_event(status: u16, message: &str) -> Vec<u8> {
    let name = match status {
        429 => "throttlingException",
        503 | 529 => "serviceUnavailableException",
        424 => "modelStreamErrorException",
        500.. => "internalServerException",
        0..500 => "validationException",
    };
    let headers =
        [(":exception-type", name), (":content-type", "application/json"), (":message-type", "exception")];
    frame(&headers, json!({ "message": message }).to_string().as_bytes())
}

pub(super) fn raw_event(payload: &[u8]) -> Vec<u8> {
    let headers = [(":event-type", "contentBlockDelta"), (":message-type", "event")];
    frame(&headers, payload)
}

fn delta(block_idx: u32, delta: &Value) -> Vec<u8> {
    framed("contentBlockDelta", &json!({ "contentBlockIndex": block_idx, "delta": delta, "p": "abcdef" }))
}

fn framed(name: &str, payload: &Value) -> Vec<u8> {
    let headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload.to_string().as_bytes())
}

/// Lengths and their checksum, headers, payload, and a checksum of everything.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    for (name, value) in headers {
        encoded.push(u8::try_from(name.len()).expect("names are short"));
        encoded.extend_from_slice(name.as_bytes());
        encoded.push(7);
        encoded.extend_from_slice(&u16::try_from(value.len()).expect("values are short").to_be_bytes());
        encoded.extend_from_slice(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).expect("frames are short").to_be_bytes();
    let mut frame = Vec::new();
    frame.extend_from_slice(&length(16 + encoded.len() + payload.len()));
    frame.extend_from_slice(&length(encoded.len()));
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    frame.extend_from_slice(&encoded);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    frame
}

// Bedrock does not include cached tokens in the input count.
fn usage(usage: Usage) -> Value {
    let beside = usage.cached_tokens.saturating_add(usage.cache_written_tokens);
    json!({
        "inputTokens": usage.input_tokens.saturating_sub(beside),
        "cacheReadInputTokens": usage.cached_tokens,
        "cacheWriteInputTokens": usage.cache_written_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.tokens(),
    })
}
