//! Requests, and replies that use the answer tool. How other replies are decoded is tested in `tests/wire`.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Part, Secret, Tool, ToolCall, ToolResult};

fn model(name: &str) -> BedrockModel {
    let options = ModelOptions {
        base_url: "http://127.0.0.1:1".to_owned(),
        name: name.to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    BedrockModel::new(options, "us-east-1", AwsAuth::Bearer(Secret::new("k"))).unwrap()
}

fn check(name: &str, prompt: &Prompt, expected: &Expect) {
    expected.assert_eq(&String::from_utf8(model(name).body(prompt)).unwrap());
}

#[test]
fn a_model_that_caches_gets_cache_points_and_another_none() {
    let messages = vec![Message::user("A"), Message::assistant("B"), Message::user("C")];
    let prompt = Prompt { messages, ..Prompt::single("S", "", 7) };
    check(
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        &prompt,
        &expect![[
            r#"{"inferenceConfig":{"maxTokens":7},"messages":[{"content":[{"text":"A"},{"cachePoint":{"type":"default"}}],"role":"user"},{"content":[{"text":"B"}],"role":"assistant"},{"content":[{"text":"C"},{"cachePoint":{"type":"default"}}],"role":"user"}],"system":[{"text":"S"},{"cachePoint":{"type":"default"}}]}"#
        ]],
    );
    check(
        "meta.llama3-3-70b-instruct-v1:0",
        &prompt,
        &expect![[
            r#"{"inferenceConfig":{"maxTokens":7},"messages":[{"content":[{"text":"A"}],"role":"user"},{"content":[{"text":"B"}],"role":"assistant"},{"content":[{"text":"C"}],"role":"user"}],"system":[{"text":"S"}]}"#
        ]],
    );
    assert!(!caches("anthropic.claude-3-haiku-20240307-v1:0"));
    assert!(caches("eu.amazon.nova-lite-v1:0"));
}

#[test]
fn a_schema_is_a_tool_that_has_to_be_called() {
    let prompt = Prompt { schema: Some(Arc::new(json!({ "type": "object" }))), ..Prompt::single("", "U", 7) };
    check(
        "m",
        &prompt,
        &expect![[
            r#"{"inferenceConfig":{"maxTokens":7},"messages":[{"content":[{"text":"U"}],"role":"user"}],"toolConfig":{"toolChoice":{"tool":{"name":"spelunk_answer"}},"tools":[{"toolSpec":{"description":"Gives the final answer.","inputSchema":{"json":{"type":"object"}},"name":"spelunk_answer"}}]}}"#
        ]],
    );
}

#[test]
fn tools_their_calls_and_their_results_are_blocks() {
    let [id, name, arguments] = ["c1", "grep", r#"{"q":1}"#].map(str::to_owned);
    let call = Part::ToolCall(ToolCall { id: id.clone(), name: name.clone(), arguments, signature: None });
    let result = Part::ToolResult(ToolResult { call_id: id, name, text: "R".to_owned(), is_error: true });
    let tool = Tool { name: "grep".to_owned(), description: String::new(), schema: Arc::new(json!({})) };
    let messages = vec![Message::assistant("").with_parts([call]), Message::user("").with_parts([result])];
    let prompt = Prompt { messages, tools: vec![tool], ..Prompt::single("", "", 7) };
    check(
        "m",
        &prompt,
        &expect![[
            r#"{"inferenceConfig":{"maxTokens":7},"messages":[{"content":[{"toolUse":{"input":{"q":1},"name":"grep","toolUseId":"c1"}}],"role":"assistant"},{"content":[{"toolResult":{"content":[{"text":"R"}],"status":"error","toolUseId":"c1"}}],"role":"user"}],"toolConfig":{"tools":[{"toolSpec":{"inputSchema":{"json":{}},"name":"grep"}}]}}"#
        ]],
    );
}

#[test]
fn a_region_has_its_address() {
    assert_eq!(BedrockModel::base_url("eu-west-1"), "https://bedrock-runtime.eu-west-1.amazonaws.com");
}

#[test]
fn profiles_and_arns_are_one_part_of_the_path() {
    assert_eq!(model("us.anthropic.claude-v1:0").path, "/model/us.anthropic.claude-v1%3A0/converse-stream");
    assert_eq!(
        model("arn:aws:bedrock:us-east-1:1:inference-profile/us.m").path,
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.m/converse-stream"
    );
}

#[test]
fn the_call_of_the_answer_tool_is_the_answer() {
    let mut decoder = Decoder::default();
    let mut deltas = Vec::new();
    for data in [
        r#"{"contentBlockStart":{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"spelunk_answer"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"n\":"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":1,"delta":{"toolUse":{"input":"1}"}}}}"#,
        r#"{"contentBlockStop":{"contentBlockIndex":1}}"#,
        r#"{"messageStop":{"stopReason":"tool_use"}}"#,
        r#"{"metadata":{"usage":{"inputTokens":1,"outputTokens":2}}}"#,
    ] {
        deltas.extend(decoder.event(data).unwrap());
    }
    let text = |text: &str| ModelDelta::Text(text.to_owned());
    let usage = Usage { input_tokens: 1, output_tokens: 2, ..Usage::default() };
    let done = ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) };
    assert_eq!(deltas, [text("{\"n\":"), text("1}"), done]);
}

#[test]
fn events_nobody_knows_are_skipped_unless_they_are_exceptions() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.event(r#"{"somethingNew":{"a":1}}"#), Ok(Vec::new()));
    let Err(ReplyFault::Refused(status, said)) = decoder.event(r#"{"newException":{"message":"no"}}"#) else {
        panic!("an exception is an error");
    };
    assert_eq!((status, said.message.as_str()), (500, r#"{"newException":{"message":"no"}}"#));
}

/// The vocabulary of the format.
const WORDS: &[&str] = &[
    "contentBlockStart",
    "contentBlockIndex",
    "start",
    "toolUse",
    "toolUseId",
    "name",
    "spelunk_answer",
    "input",
    "contentBlockDelta",
    "delta",
    "text",
    "reasoningContent",
    "contentBlockStop",
    "messageStop",
    "stopReason",
    "tool_use",
    "metadata",
    "usage",
    "inputTokens",
    "outputTokens",
    "throttlingException",
    "message",
    "output",
    "content",
];

proptest! {
    #[test]
    fn no_reply_makes_it_panic(events in crate::reply::tests::events(WORDS)) {
        crate::reply::tests::feed(Decoder::default, &events);
    }
}
