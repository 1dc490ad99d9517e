//! The OpenAI chat-completions format, as `api.openai.com`, vLLM, llama.cpp and Ollama send it.

use serde_json::{Value, json};
use spelunk_types::{StopReason, Usage};

use super::{ScriptedReply, Streamed, cut, event};

pub(super) fn streamed(spoken: &ScriptedReply) -> Streamed {
    let mut head = vec![chunk(spoken, &json!({ "role": "assistant", "content": "" }), None)];
    if let Some(reasoning) = &spoken.manner.reasoning {
        head.push(chunk(spoken, &json!({ "reasoning_content": reasoning }), None));
    }
    let pieces = cut(&spoken.text, spoken.manner.n_chunks)
        .into_iter()
        .enumerate()
        .map(|(idx, piece)| said(spoken, piece, idx == 0));
    let pieces = pieces.collect();
    let mut tail = Vec::new();
    for (call_idx, call) in spoken.manner.tool_calls.iter().enumerate() {
        let begun = json!({ "index": call_idx, "id": call.id, "type": "function",
                            "function": { "name": call.name, "arguments": "" } });
        tail.push(chunk(spoken, &json!({ "tool_calls": [begun] }), None));
        for half in call.halves() {
            let more = json!({ "index": call_idx, "function": { "arguments": half } });
            tail.push(chunk(spoken, &json!({ "tool_calls": [more] }), None));
        }
    }
    tail.push(chunk(spoken, &json!({}), Some(stop_name(spoken.manner.stop))));
    if spoken.with_usage {
        let mut last = envelope(spoken, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage(spoken.usage);
        tail.push(event(None, &last));
    }
    tail.push(b"data: [DONE]\n\n".to_vec());
    Streamed { head, pieces, tail }
}

pub(super) fn whole(spoken: &ScriptedReply) -> Value {
    let mut body = envelope(spoken, "chat.completion");
    let mut message = json!({ "role": "assistant", "content": spoken.text });
    if let Some(reasoning) = &spoken.manner.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    let calls = spoken.manner.tool_calls.iter().map(|call| {
        json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } })
    });
    if !spoken.manner.tool_calls.is_empty() {
        message["tool_calls"] = calls.collect();
    }
    body["choices"] =
        json!([{ "index": 0, "message": message, "finish_reason": stop_name(spoken.manner.stop) }]);
    body["usage"] = usage(spoken.usage);
    body
}

pub(super) fn error_body(status: u16, message: &str, code: Option<&str>) -> Value {
    let (kind, usual_code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("requests", "rate_limit_exceeded"),
        503 | 529 => ("server_error", "overloaded"),
        500.. => ("server_error", "server_error"),
        0..500 => ("invalid_request_error", "invalid_request_error"),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code.unwrap_or(usual_code) } })
}

fn chunk(spoken: &ScriptedReply, delta: &Value, finish_reason: Option<&str>) -> Vec<u8> {
    let mut body = envelope(spoken, "chat.completion.chunk");
    body["choices"] =
        json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason }]);
    if spoken.with_usage {
        body["usage"] = Value::Null;
    }
    event(None, &body)
}

/// A piece of the text as one token; the first token is the least likely.
fn said(spoken: &ScriptedReply, piece: &str, is_first: bool) -> Vec<u8> {
    let mut body = envelope(spoken, "chat.completion.chunk");
    let logprobs = spoken.manner.certainty.filter(|_| spoken.with_logprobs).map(|certainty| {
        let logprob = if is_first { certainty.ln() } else { 0.0 };
        json!({ "content": [{ "token": piece, "logprob": logprob, "bytes": null, "top_logprobs": [] }], "refusal": null })
    });
    body["choices"] =
        json!([{ "index": 0, "delta": { "content": piece }, "logprobs": logprobs, "finish_reason": null }]);
    if spoken.with_usage {
        body["usage"] = Value::Null;
    }
    event(None, &body)
}

fn envelope(spoken: &ScriptedReply, object: &str) -> Value {
    json!({ "id": "chatcmpl-scripted", "object": object, "created": 0, "model": spoken.model })
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.tokens(),
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_written_tokens,
        },
    })
}

fn stop_name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Finished => "stop",
        StopReason::Length => "length",
        StopReason::Filtered => "content_filter",
        StopReason::ToolUse => "tool_calls",
        StopReason::Other => "another_reason",
    }
}
