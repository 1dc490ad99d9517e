//! OpenAI's Responses API, without stored conversations.

use serde_json::{Value, json};

use super::conversation::{Message, MessagePart, Speaker};
use super::question_input::{BodyFields, CommonFields, CompatRequest, messages, parts, schema, tokens_max};
use super::reply::{Finish, Reply, ReplyHead, event};
use super::wrong::ApiResult;

pub(super) fn read(body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
    let mut members = BodyFields::of(body)?;
    for name in ["tools", "tool_choice"] {
        members.refuse(name, "the answer is looked for in the text, and no tools are called")?;
    }
    for name in ["previous_response_id", "conversation"] {
        members.refuse(name, "nothing is remembered: send the messages again")?;
    }
    members.refuse("background", "start a run with `POST /v1/runs` instead")?;
    let mut said = match members.take("input") {
        Some(Value::String(text)) => {
            vec![Message { speaker: Speaker::User, parts: vec![MessagePart::Text(text)] }]
        }
        list => messages("input", list)?,
    };
    let instructions = parts("instructions", members.take("instructions"))?;
    if !instructions.is_empty() {
        said.insert(0, Message { speaker: Speaker::System, parts: instructions });
    }
    let form = members.get("text").and_then(|text| text.get("format"));
    let common = CommonFields {
        messages: said,
        named: "input",
        schema: schema("text.format", form)?,
        tokens_max: tokens_max(&members, &["max_output_tokens"])?,
        includes_usage: true,
    };
    CompatRequest::of(&mut members, common, long_chars)
}

fn item_id(head: &ReplyHead) -> String {
    format!("msg_{}", head.run)
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

fn item(head: &ReplyHead, status: &str, content: &Value) -> Value {
    json!({
        "type": "message", "id": item_id(head), "status": status, "role": "assistant", "content": content,
    })
}

/// The response object as far as it is known.
fn response(head: &ReplyHead, status: &str, output: &Value) -> Value {
    json!({
        "id": format!("resp_{}", head.run),
        "object": "response",
        "created_at": head.created_s,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "model": head.model,
        "output": output,
        "parallel_tool_calls": false,
        "previous_response_id": null,
        "store": false,
        "temperature": null,
        "text": { "format": { "type": "text" } },
        "tool_choice": "none",
        "tools": [],
        "top_p": null,
        "truncation": "disabled",
        "metadata": {},
        "usage": null,
    })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let status = status(reply);
    let output = json!([item(&reply.head, status, &json!([part(&reply.text)]))]);
    let mut whole = response(&reply.head, status, &output);
    if reply.finish == Finish::Length {
        whole["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    let usage = &reply.usage;
    whole["usage"] = json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": { "cached_tokens": usage.cached_tokens },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.tokens(),
    });
    whole["spelunk"] = reply.own.clone();
    whole
}

fn status(reply: &Reply) -> &'static str {
    match reply.finish {
        Finish::Stop => "completed",
        Finish::Length => "incomplete",
    }
}

/// Events are numbered; a stream always opens with the same four.
struct Numbered {
    next: u64,
    text: String,
}

impl Numbered {
    fn push(&mut self, kind: &str, mut members: Value) {
        members["type"] = json!(kind);
        members["sequence_number"] = json!(self.next);
        self.next += 1;
        self.text += &event(kind, &members);
    }
}

const N_OPENING: u64 = 4;

pub(super) fn opening(head: &ReplyHead) -> String {
    let mut events = Numbered { next: 0, text: String::new() };
    let begun = response(head, "in_progress", &json!([]));
    events.push("response.created", json!({ "response": begun }));
    events.push("response.in_progress", json!({ "response": begun }));
    let item = item(head, "in_progress", &json!([]));
    events.push("response.output_item.added", json!({ "output_index": 0, "item": item }));
    events.push(
        "response.content_part.added",
        json!({ "item_id": item_id(head), "output_index": 0, "content_index": 0, "part": part("") }),
    );
    debug_assert_eq!(events.next, N_OPENING);
    events.text
}

pub(super) fn closing(reply: &Reply) -> String {
    let head = &reply.head;
    let mut events = Numbered { next: N_OPENING, text: String::new() };
    let at = |more: Value| {
        let mut members = json!({ "item_id": item_id(head), "output_index": 0, "content_index": 0 });
        for (name, value) in more.as_object().into_iter().flatten() {
            members[name] = value.clone();
        }
        members
    };
    for piece in reply.pieces() {
        events.push("response.output_text.delta", at(json!({ "delta": piece, "logprobs": [] })));
    }
    events.push("response.output_text.done", at(json!({ "text": reply.text, "logprobs": [] })));
    events.push("response.content_part.done", at(json!({ "part": part(&reply.text) })));
    let item = item(head, status(reply), &json!([part(&reply.text)]));
    events.push("response.output_item.done", json!({ "output_index": 0, "item": item }));
    let last = match reply.finish {
        Finish::Stop => "response.completed",
        Finish::Length => "response.incomplete",
    };
    events.push(last, json!({ "response": whole(reply) }));
    events.text
}

/// The failed response, as the last event of its stream.
pub(super) fn broken(head: &ReplyHead, message: &str) -> String {
    let mut events = Numbered { next: N_OPENING, text: String::new() };
    let mut response = response(head, "failed", &json!([]));
    response["error"] = json!({ "code": "server_error", "message": message });
    events.push("response.failed", json!({ "response": response }));
    events.text
}
