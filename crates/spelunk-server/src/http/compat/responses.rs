//! OpenAI's Responses API, without stored conversations.

use serde_json::{Value, json};
use spelunk_model::ToolCall;

use super::question_input::messages;
use super::tools::tools;
use super::{
    ApiError, ApiResult, BodyFields, CommonFields, CompatRequest, Finish, Message, MessagePart, OfferedTools,
    Reply, ReplyHead, Speaker, Streamed, choice_of_openai, event, parts, schema, tokens_max,
};

pub(super) fn read(body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
    let mut members = BodyFields::of(body)?;
    let tools = tools(members.take("tools"), |at, tool| match tool["type"].as_str() {
        Some("function") => {
            Ok((tool["name"].clone(), tool["description"].clone(), tool["parameters"].clone()))
        }
        Some(_) | None => Err(ApiError::unsupported(&format!("{at}.type"), "only functions are supported")),
    })?;
    let choice = choice_of_openai(members.get("tool_choice"))?;
    let one_call = members.get("parallel_tool_calls") == Some(&json!(false));
    for name in ["previous_response_id", "conversation"] {
        members.refuse(name, "responses are not stored: send the messages again")?;
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
        tools: OfferedTools::of(tools, choice, one_call)?,
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
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "store": false,
        "temperature": null,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "truncation": "disabled",
        "metadata": {},
        "usage": null,
    })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let status = status(reply);
    let mut output = Vec::new();
    if reply.has_text() {
        output.push(item(&reply.head, status, &json!([part(&reply.text)])));
    }
    output
        .extend(reply.calls.iter().enumerate().map(|(idx, one)| call(&reply.head, idx, one, &one.arguments)));
    let mut whole = response(&reply.head, status, &json!(output));
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
        Finish::Stop | Finish::Tools => "completed",
        Finish::Length => "incomplete",
    }
}

/// A tool call; `arguments` are empty while it is being written.
fn call(head: &ReplyHead, idx: usize, call: &ToolCall, arguments: &str) -> Value {
    json!({
        "type": "function_call",
        "id": format!("fc_{}_{idx}", head.run),
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
        "status": if arguments.is_empty() { "in_progress" } else { "completed" },
    })
}

struct Numbered<'a> {
    next: &'a mut u64,
    text: String,
}

impl<'a> Numbered<'a> {
    fn after(streamed: &'a mut Streamed) -> Self {
        Self { next: &mut streamed.n_events, text: String::new() }
    }

    fn push(&mut self, kind: &str, mut members: Value) {
        members["type"] = json!(kind);
        members["sequence_number"] = json!(self.next);
        *self.next += 1;
        self.text += &event(kind, &members);
    }

    fn push_text(&mut self, head: &ReplyHead, kind: &str, name: &str, value: Value) {
        let mut members = json!({ "item_id": item_id(head), "output_index": 0, "content_index": 0 });
        if kind.starts_with("response.output_text") {
            members["logprobs"] = json!([]);
        }
        members[name] = value;
        self.push(kind, members);
    }

    fn begin_text(&mut self, head: &ReplyHead) {
        let item = item(head, "in_progress", &json!([]));
        self.push("response.output_item.added", json!({ "output_index": 0, "item": item }));
        self.push_text(head, "response.content_part.added", "part", part(""));
    }
}

const N_OPENING: u64 = 2;

pub(super) fn opening(head: &ReplyHead, streamed: &mut Streamed) -> String {
    let mut events = Numbered::after(streamed);
    let begun = response(head, "in_progress", &json!([]));
    events.push("response.created", json!({ "response": begun }));
    events.push("response.in_progress", json!({ "response": begun }));
    debug_assert_eq!(*events.next, N_OPENING);
    events.text
}

pub(super) fn piece(head: &ReplyHead, streamed: &mut Streamed, piece: &str) -> String {
    let mut events = Numbered::after(streamed);
    if *events.next == N_OPENING {
        events.begin_text(head);
    }
    events.push_text(head, "response.output_text.delta", "delta", json!(piece));
    events.text
}

pub(super) fn closing(reply: &Reply, streamed: &mut Streamed) -> String {
    let head = &reply.head;
    let (mut text, mut idx) = (String::new(), 0);
    let has_text = reply.has_text() || !streamed.text.is_empty();
    if has_text {
        for rest in streamed.rest(&reply.text) {
            text += &piece(head, streamed, &rest);
        }
    }
    let mut events = Numbered::after(streamed);
    if has_text {
        if *events.next == N_OPENING {
            events.begin_text(head);
        }
        events.push_text(head, "response.output_text.done", "text", json!(reply.text));
        events.push_text(head, "response.content_part.done", "part", part(&reply.text));
        let item = item(head, status(reply), &json!([part(&reply.text)]));
        events.push("response.output_item.done", json!({ "output_index": 0, "item": item }));
        idx += 1;
    }
    for (call_idx, one) in reply.calls.iter().enumerate() {
        let item = call(head, call_idx, one, &one.arguments);
        let at =
            |name: &str, value: &Value| json!({ "output_index": idx, "item_id": item["id"], name: value });
        let begun = call(head, call_idx, one, "");
        events.push("response.output_item.added", json!({ "output_index": idx, "item": begun }));
        events.push("response.function_call_arguments.delta", at("delta", &item["arguments"]));
        let mut done = at("arguments", &item["arguments"]);
        done["name"] = json!(one.name);
        events.push("response.function_call_arguments.done", done);
        events.push("response.output_item.done", json!({ "output_index": idx, "item": item }));
        idx += 1;
    }
    let last = match reply.finish {
        Finish::Stop | Finish::Tools => "response.completed",
        Finish::Length => "response.incomplete",
    };
    events.push(last, json!({ "response": whole(reply) }));
    text + &events.text
}

pub(super) fn broken(head: &ReplyHead, streamed: &mut Streamed, message: &str) -> String {
    let mut events = Numbered::after(streamed);
    let mut response = response(head, "failed", &json!([]));
    response["error"] = json!({ "code": "server_error", "message": message });
    events.push("response.failed", json!({ "response": response }));
    events.text
}
