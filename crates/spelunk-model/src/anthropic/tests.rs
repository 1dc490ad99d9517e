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
            r#"{"model":"m","max_tokens":7,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"U"}],"stream":true}"#
        ]],
    );
}

#[test]
fn an_empty_system_text_is_left_out() {
    check(
        &Prompt::single("", "U", 7),
        &expect![[
            r#"{"model":"m","max_tokens":7,"messages":[{"role":"user","content":"U"}],"stream":true}"#
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
            r#"{"model":"m","max_tokens":7,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"A"},{"role":"assistant","content":"B"},{"role":"user","content":[{"type":"text","text":"C","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":"D"},{"role":"user","content":[{"type":"text","text":"E","cache_control":{"type":"ephemeral"}}]}],"stream":true}"#
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
            r#"{"model":"m","max_tokens":7,"messages":[{"role":"user","content":[{"type":"text","text":"U","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"Hm."},{"type":"tool_use","id":"c1","name":"grep","input":{"q":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"R","is_error":true,"cache_control":{"type":"ephemeral"}}]}],"stream":true,"tools":[{"name":"grep","description":"D","input_schema":{}}],"tool_choice":{"type":"any"},"output_config":{"format":{"type":"json_schema","schema":{"additionalProperties":false,"type":"object"}}}}"#
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
    fn no_reply_makes_it_panic(events in crate::hostile::events(WORDS)) {
        crate::hostile::feed(Decoder::new, &events);
    }
}
