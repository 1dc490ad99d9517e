//! OpenAI's Chat Completions API.

use serde_json::{Value, json};
use spelunk_model::ToolCall;

use super::question_input::messages;
use super::tools::tools;
use super::{
    ApiError, ApiResult, BodyFields, CommonFields, CompatRequest, Finish, OfferedTools, Progress, Reply,
    ReplyHead, Streamed, choice_of_openai, comment, data, schema, tokens_max,
};

pub(super) fn read(body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
    let mut members = BodyFields::of(body)?;
    for name in ["functions", "function_call"] {
        members.refuse(name, "use `tools` and `tool_choice`")?;
    }
    for name in ["logprobs", "top_logprobs"] {
        members.refuse(name, "an answer is combined from many calls and has no probabilities")?;
    }
    members.refuse("audio", "only text output is supported")?;
    if members.get("n").is_some_and(|n| *n != json!(1)) {
        return Err(ApiError::unsupported("n", "only one choice is returned"));
    }
    let tools = tools(members.take("tools"), |at, tool| match tool["type"].as_str() {
        Some("function") => {
            let function = &tool["function"];
            Ok((function["name"].clone(), function["description"].clone(), function["parameters"].clone()))
        }
        Some(_) | None => Err(ApiError::unsupported(&format!("{at}.type"), "only functions are supported")),
    })?;
    let choice = choice_of_openai(members.get("tool_choice"))?;
    let one_call = members.get("parallel_tool_calls") == Some(&json!(false));
    let options = members.get("stream_options").cloned().unwrap_or_default();
    let common = CommonFields {
        messages: messages("messages", members.take("messages"))?,
        named: "messages",
        schema: schema("response_format", members.get("response_format"))?,
        tools: OfferedTools::of(tools, choice, one_call)?,
        tokens_max: tokens_max(&members, &["max_completion_tokens", "max_tokens"])?,
        includes_usage: options["include_usage"] == json!(true),
    };
    CompatRequest::of(&mut members, common, long_chars)
}

fn finish(reply: &Reply) -> &'static str {
    match reply.finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Tools => "tool_calls",
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

/// A tool call; in a stream it has an index.
fn call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": call.arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let head = &reply.head;
    let content = reply.has_text().then_some(&reply.text);
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply.calls.iter().map(call).collect();
    }
    json!({
        "id": format!("chatcmpl-{}", head.run),
        "object": "chat.completion",
        "created": head.created_s,
        "model": head.model,
        "system_fingerprint": head.run,
        "choices": [{
            "index": 0,
            "message": message,
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

pub(super) fn piece(head: &ReplyHead, piece: &str) -> String {
    delta(head, &json!({ "content": piece }), None)
}

pub(super) fn closing(reply: &Reply, streamed: &Streamed, includes_usage: bool) -> String {
    let head = &reply.head;
    let mut text: String = streamed.rest(&reply.text).iter().map(|rest| piece(head, rest)).collect();
    for (idx, one) in reply.calls.iter().enumerate() {
        let mut one = call(one);
        one["index"] = json!(idx);
        text += &delta(head, &json!({ "tool_calls": [one] }), None);
    }
    text += &delta(head, &json!({}), Some(finish(reply)));
    if includes_usage {
        let mut last = chunk(head, &json!([]));
        last["usage"] = usage(reply);
        text += &data(&last);
    }
    text + "data: [DONE]\n\n"
}
