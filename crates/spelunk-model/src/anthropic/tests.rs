//! Requests. How replies are decoded is tested in `tests/wire`.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Part, Tool, ToolCall, ToolResult};

fn model(base_url: &str) -> AnthropicModel {
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "m".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    AnthropicModel::new(options).unwrap()
}

fn check(prompt: &Prompt, expected: &Expect) {
    expected.assert_eq(&String::from_utf8(model("http://127.0.0.1:1").body(prompt)).unwrap());
}

#[test]
fn the_system_text_is_marked_for_the_cache() {
    check(
        &Prompt::single("S", "U", 7),
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":"U","role":"user"}],"model":"m","stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"S","type":"text"}]}"#
        ]],
    );
}

#[test]
fn an_empty_system_text_is_left_out() {
    check(
        &Prompt::single("", "U", 7),
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":"U","role":"user"}],"model":"m","stream":true}"#
        ]],
    );
}

#[test]
fn an_address_with_v1_is_the_same_as_one_without() {
    let base_url = |given: &str| model(given).reference().base_url.clone();
    assert_eq!(base_url("http://127.0.0.1:1"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/v1"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/v1/"), "http://127.0.0.1:1");
    assert_eq!(base_url("http://127.0.0.1:1/proxy"), "http://127.0.0.1:1/proxy");
}

#[test]
fn a_conversation_is_marked_at_the_last_two_turns_of_the_user() {
    let messages = vec![
        Message::user("A"),
        Message::assistant("B"),
        Message::user("C"),
        Message::assistant("D"),
        Message::user("E"),
    ];
    check(
        &Prompt { messages, ..Prompt::single("S", "", 7) },
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":"A","role":"user"},{"content":"B","role":"assistant"},{"content":[{"cache_control":{"type":"ephemeral"},"text":"C","type":"text"}],"role":"user"},{"content":"D","role":"assistant"},{"content":[{"cache_control":{"type":"ephemeral"},"text":"E","type":"text"}],"role":"user"}],"model":"m","stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"S","type":"text"}]}"#
        ]],
    );
}

#[test]
fn tools_their_results_and_a_closed_schema_are_sent() {
    let [id, name, arguments] = ["c1", "grep", r#"{"q":1}"#].map(str::to_owned);
    let call = Part::ToolCall(ToolCall { id: id.clone(), name: name.clone(), arguments, signature: None });
    let result = Part::ToolResult(ToolResult { call_id: id, name, text: "R".to_owned(), is_error: true });
    let tool = Tool { name: "grep".to_owned(), description: "D".to_owned(), schema: Arc::new(json!({})) };
    let prompt = Prompt {
        messages: vec![
            Message::user("U"),
            Message::assistant("Hm.").with_parts([call]),
            Message::user("").with_parts([result]),
        ],
        schema: Some(Arc::new(json!({ "type": "object" }))),
        tools: vec![tool],
        must_call: true,
        ..Prompt::single("", "", 7)
    };
    check(
        &prompt,
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"U","type":"text"}],"role":"user"},{"content":[{"text":"Hm.","type":"text"},{"id":"c1","input":{"q":1},"name":"grep","type":"tool_use"}],"role":"assistant"},{"content":[{"cache_control":{"type":"ephemeral"},"content":"R","is_error":true,"tool_use_id":"c1","type":"tool_result"}],"role":"user"}],"model":"m","output_config":{"format":{"schema":{"additionalProperties":false,"type":"object"},"type":"json_schema"}},"stream":true,"tool_choice":{"type":"any"},"tools":[{"description":"D","input_schema":{},"name":"grep"}]}"#
        ]],
    );
}

/// The vocabulary of the format.
const WORDS: &[&str] = &[
    "type",
    "message_start",
    "message",
    "usage",
    "input_tokens",
    "output_tokens",
    "content_block_start",
    "content_block",
    "index",
    "text",
    "thinking",
    "tool_use",
    "input",
    "id",
    "name",
    "content_block_delta",
    "delta",
    "text_delta",
    "input_json_delta",
    "partial_json",
    "content_block_stop",
    "message_delta",
    "stop_reason",
    "message_stop",
    "error",
    "content",
];

proptest! {
    #[test]
    fn no_reply_makes_it_panic(events in crate::reply::tests::events(WORDS)) {
        crate::reply::tests::feed(Decoder::new, &events);
    }
}
