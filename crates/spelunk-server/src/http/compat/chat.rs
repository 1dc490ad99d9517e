//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::question_input::{
    BodyFields, CommonFields, CompatRequest, Progress, messages, schema, tokens_max,
};
use super::reply::{Finish, Reply, ReplyHead, comment, data};
use super::wrong::{ApiError, ApiResult};

pub(super) fn read(body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
    let mut members = BodyFields::of(body)?;
    for name in ["tools", "functions", "tool_choice", "function_call"] {
        members.refuse(name, "the answer is looked for in the text, and no tools are called")?;
    }
    for name in ["logprobs", "top_logprobs"] {
        members.refuse(name, "an answer is put together from many calls and has no probabilities")?;
    }
    members.refuse("audio", "answers are text")?;
    if members.get("n").is_some_and(|n| *n != json!(1)) {
        return Err(ApiError::unsupported("n", "there is one answer"));
    }
    let options = members.get("stream_options").cloned().unwrap_or_default();
    let common = CommonFields {
        messages: messages("messages", members.take("messages"))?,
        named: "messages",
        schema: schema("response_format", members.get("response_format"))?,
        tokens_max: tokens_max(&members, &["max_completion_tokens", "max_tokens"])?,
        includes_usage: options["include_usage"] == json!(true),
    };
    CompatRequest::of(&mut members, common, long_chars)
}

fn finish(reply: &Reply) -> &'static str {
    match reply.finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.tokens(),
        "prompt_tokens_details": { "cached_tokens": usage.cached_tokens },
    })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let head = &reply.head;
    json!({
        "id": format!("chatcmpl-{}", head.run),
        "object": "chat.completion",
        "created": head.created_s,
        "model": head.model,
        "system_fingerprint": head.run,
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": reply.text, "refusal": null },
            "logprobs": null,
            "finish_reason": finish(reply),
        }],
        "usage": usage(reply),
        "spelunk": reply.own,
    })
}

fn chunk(head: &ReplyHead, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", head.run),
        "object": "chat.completion.chunk",
        "created": head.created_s,
        "model": head.model,
        "system_fingerprint": head.run,
        "choices": choices,
    })
}

fn delta(head: &ReplyHead, delta: &Value, finish: Option<&str>) -> String {
    let choice = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
    data(&chunk(head, &choice))
}

pub(super) fn opening(head: &ReplyHead) -> String {
    delta(head, &json!({ "role": "assistant", "content": "" }), None)
}

pub(super) fn alive(head: &ReplyHead, status: &str, progress: Progress) -> String {
    match progress {
        Progress::Reasoning => delta(head, &json!({ "reasoning_content": format!("{status}\n") }), None),
        Progress::Comments => comment(status),
    }
}

pub(super) fn closing(reply: &Reply, includes_usage: bool) -> String {
    let head = &reply.head;
    let mut text = String::new();
    for piece in reply.pieces() {
        text += &delta(head, &json!({ "content": piece }), None);
    }
    text += &delta(head, &json!({}), Some(finish(reply)));
    if includes_usage {
        let mut last = chunk(head, &json!([]));
        last["usage"] = usage(reply);
        text += &data(&last);
    }
    text + "data: [DONE]\n\n"
}
