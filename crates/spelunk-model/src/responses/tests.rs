//! Requests. How replies are decoded is tested in `tests/wire`.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Part, ToolCall, ToolResult};

#[test]
fn a_conversation_with_tools_and_a_schema_is_a_list_of_items() {
    let options = ModelOptions {
        base_url: "http://127.0.0.1:1".to_owned(),
        name: "m".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    let [id, name, arguments] = ["c1", "grep", r#"{"q":1}"#].map(str::to_owned);
    let call = Part::ToolCall(ToolCall { id: id.clone(), name: name.clone(), arguments, signature: None });
    let result = Part::ToolResult(ToolResult { call_id: id, name, text: "R".to_owned(), is_error: true });
    let tool = Tool { name: "grep".to_owned(), description: "D".to_owned(), schema: Arc::new(json!({})) };
    let prompt = Prompt {
        messages: vec![
            Message::user("U"),
            Message::assistant("A").with_parts([call]),
            Message::user("").with_parts([result]),
        ],
        schema: Some(Arc::new(json!({ "type": "string" }))),
        tools: vec![tool],
        must_call: true,
        ..Prompt::single("S", "", 7)
    };
    let body = ResponsesModel::new(options).unwrap().body(&prompt);
    expect![[r#"{"input":[{"content":"U","role":"user"},{"content":"A","role":"assistant"},{"arguments":"{\"q\":1}","call_id":"c1","name":"grep","type":"function_call"},{"call_id":"c1","output":"R","type":"function_call_output"}],"instructions":"S","max_output_tokens":16,"model":"m","store":false,"stream":true,"text":{"format":{"name":"answer","schema":{"type":"string"},"strict":true,"type":"json_schema"}},"tool_choice":"required","tools":[{"description":"D","name":"grep","parameters":{},"strict":true,"type":"function"}]}"#]]
    .assert_eq(&String::from_utf8(body).unwrap());
}

/// The vocabulary of the format.
const WORDS: &[&str] = &[
    "type",
    "response.output_text.delta",
    "delta",
    "response.output_item.done",
    "item",
    "output_index",
    "function_call",
    "call_id",
    "name",
    "arguments",
    "message",
    "content",
    "output_text",
    "text",
    "reasoning",
    "summary",
    "response.completed",
    "response",
    "status",
    "completed",
    "failed",
    "output",
    "usage",
    "input_tokens",
    "error",
    "code",
    "incomplete_details",
    "reason",
];

proptest! {
    #[test]
    fn no_reply_makes_it_panic(events in crate::reply::tests::events(WORDS)) {
        crate::reply::tests::feed(Decoder::default, &events);
    }
}
