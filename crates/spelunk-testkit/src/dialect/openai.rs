//! The OpenAI chat-completions format, as `api.openai.com`, vLLM, llama.cpp and Ollama send it.

use serde_json::{Value, json};
use spelunk_types::Usage;

use super::{ScriptedReply, Streamed, cut, event, stop_name};

const STOPS: [&str; 5] = ["stop", "length", "content_filter", "tool_calls", "another_reason"];

pub(super) fn streamed(spoken: &ScriptedReply) -> Streamed {
    let mut head = vec![chunk(spoken, &json!({ "role": "assistant", "content": "" }), None)];
    if let Some(reasoning) = &spoken.manner.reasoning {
        head.push(chunk(spoken, &json!({ "reasoning_content": reasoning }), None));
    }
    let texts = cut(&spoken.text, spoken.manner.n_chunks).into_iter().enumerate();
    let pieces = texts.map(|(idx, text)| token(spoken, text, idx == 0)).collect();
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
    tail.push(chunk(spoken, &json!({}), Some(stop_name(spoken.manner.stop, STOPS))));
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
        json!([{ "index": 0, "message": message, "finish_reason": stop_name(spoken.manner.stop, STOPS) }]);
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
    choice(spoken, &json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason }))
}

/// A piece of the text as one token; the first token is the least likely.
fn token(spoken: &ScriptedReply, piece: &str, is_first: bool) -> Vec<u8> {
    let logprobs = spoken.manner.certainty.filter(|_| spoken.with_logprobs).map(|certainty| {
        let logprob = if is_first { certainty.ln() } else { 0.0 };
        json!({ "content": [{ "token": piece, "logprob": logprob, "bytes": null, "top_logprobs": [] }], "refusal": null })
    });
    let delta = json!({ "content": piece });
    choice(spoken, &json!({ "index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": null }))
}

fn choice(spoken: &ScriptedReply, choice: &Value) -> Vec<u8> {
    let mut body = envelope(spoken, "chat.completion.chunk");
    body["choices"] = json!([choice]);
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
