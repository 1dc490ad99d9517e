//! The Google Gemini format: a stream of complete responses, each with more of the text. There is no end mark; the last
//! one has a finish reason.

use serde_json::{Value, json};
use spelunk_types::Usage;

use super::{ScriptedReply, Streamed, cut, event, stop_name};

const STOPS: [&str; 5] = ["STOP", "MAX_TOKENS", "SAFETY", "STOP", "OTHER"];

pub(super) fn streamed(spoken: &ScriptedReply) -> Streamed {
    let thoughts = spoken.manner.reasoning.iter().map(|text| chunk(spoken, &[thought(text)], None));
    let head = thoughts.collect();
    let texts = cut(&spoken.text, spoken.manner.n_chunks).into_iter();
    let pieces = texts.map(|text| chunk(spoken, &[json!({ "text": text })], None)).collect();
    let tail = vec![chunk(spoken, &calls(spoken), Some(stop_name(spoken.manner.stop, STOPS)))];
    Streamed { head, pieces, tail }
}

pub(super) fn whole(spoken: &ScriptedReply) -> Value {
    let mut parts: Vec<Value> = spoken.manner.reasoning.iter().map(|text| thought(text)).collect();
    parts.push(json!({ "text": spoken.text }));
    parts.extend(calls(spoken));
    response(spoken, &parts, Some(stop_name(spoken.manner.stop, STOPS)))
}

pub(super) fn error_body(status: u16, message: &str, code: Option<&str>) -> Value {
    let usual_code = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        500.. => "INTERNAL",
        0..500 => "INVALID_ARGUMENT",
    };
    json!({ "error": { "code": status, "message": message, "status": code.unwrap_or(usual_code) } })
}

fn thought(text: &str) -> Value {
    json!({ "text": text, "thought": true })
}

/// A call has no id in this format; the first has a signature.
fn calls(spoken: &ScriptedReply) -> Vec<Value> {
    let calls = spoken.manner.tool_calls.iter().enumerate();
    calls
        .map(|(idx, call)| {
            let mut part = json!({ "functionCall": { "name": call.name, "args": call.input() } });
            if idx == 0 {
                part["thoughtSignature"] = json!("c2ln");
            }
            part
        })
        .collect()
}

fn chunk(spoken: &ScriptedReply, parts: &[Value], finish_reason: Option<&str>) -> Vec<u8> {
    event(None, &response(spoken, parts, finish_reason))
}

fn response(spoken: &ScriptedReply, parts: &[Value], finish_reason: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if parts.is_empty() {
        candidate = json!({ "content": {}, "index": 0 });
    }
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({ "candidates": [candidate], "usageMetadata": usage(spoken.usage), "modelVersion": spoken.model, "responseId": "r" })
}

/// Thinking is not included in the output count.
fn usage(usage: Usage) -> Value {
    let thoughts = usage.output_tokens / 2;
    json!({
        "promptTokenCount": usage.input_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
        "candidatesTokenCount": usage.output_tokens - thoughts,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": usage.tokens(),
    })
}
