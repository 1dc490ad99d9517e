//! Requests. How replies are decoded is tested in `tests/wire`.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Part, ToolCall, ToolResult};

fn options(base_url: &str, name: &str) -> ModelOptions {
    ModelOptions {
        base_url: base_url.to_owned(),
        name: name.to_owned(),
        key: None,
        price: None,
        label_calls: false,
    }
}

fn check(base_url: &str, prompt: &Prompt, expected: &Expect) {
    check_model(&OpenAiModel::new(options(base_url, "m")).unwrap(), prompt, expected);
}

fn check_model(model: &OpenAiModel, prompt: &Prompt, expected: &Expect) {
    expected.assert_eq(&String::from_utf8(model.body(prompt)).unwrap());
}

#[test]
fn a_request_to_openai_bounds_completion_tokens() {
    check(
        "https://api.openai.com/v1",
        &Prompt::single("S", "U", 7),
        &expect![[
            r#"{"max_completion_tokens":7,"messages":[{"content":"S","role":"system"},{"content":"U","role":"user"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
}

#[test]
fn a_request_elsewhere_bounds_tokens_and_an_empty_system_text_is_left_out() {
    let messages = vec![Message::user("A"), Message::assistant("B"), Message::user("C")];
    check(
        "http://127.0.0.1:1",
        &Prompt { system: String::new(), messages, output_tokens_max: 7, ..Prompt::default() },
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":"A","role":"user"},{"content":"B","role":"assistant"},{"content":"C","role":"user"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
}

#[test]
fn a_schema_and_tools_are_sent_and_results_are_messages() {
    let [id, name, arguments] = ["c1", "grep", r#"{"q":1}"#].map(str::to_owned);
    let call = Part::ToolCall(ToolCall { id: id.clone(), name: name.clone(), arguments, signature: None });
    let result = Part::ToolResult(ToolResult { call_id: id, name, text: "R".to_owned(), is_error: false });
    let tool = Tool { name: "grep".to_owned(), description: "D".to_owned(), schema: Arc::new(json!({})) };
    let prompt = Prompt {
        messages: vec![
            Message::user("U"),
            Message::assistant("").with_parts([call]),
            Message::user("And?").with_parts([result]),
        ],
        schema: Some(Arc::new(json!({ "type": "object" }))),
        tools: vec![tool],
        must_call: true,
        ..Prompt::single("", "", 7)
    };
    check(
        "http://127.0.0.1:1",
        &prompt,
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":"U","role":"user"},{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{\"q\":1}","name":"grep"},"id":"c1","type":"function"}]},{"content":"R","role":"tool","tool_call_id":"c1"},{"content":"And?","role":"user"}],"model":"m","response_format":{"json_schema":{"name":"answer","schema":{"type":"object"},"strict":false},"type":"json_schema"},"stream":true,"stream_options":{"include_usage":true},"tool_choice":"required","tools":[{"function":{"description":"D","name":"grep","parameters":{}},"type":"function"}]}"#
        ]],
    );
}

#[test]
fn openrouter_gets_cache_marks_for_the_models_that_need_them() {
    let openrouter = |name| OpenAiModel::new(options("https://openrouter.ai/api/v1", name)).unwrap();
    check_model(
        &openrouter("anthropic/claude-sonnet-4.5"),
        &Prompt::single("S", "U", 7),
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"S","type":"text"}],"role":"system"},{"content":"U","role":"user"}],"model":"anthropic/claude-sonnet-4.5","stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
    check_model(
        &openrouter("openai/gpt-5"),
        &Prompt::single("S", "U", 7),
        &expect![[
            r#"{"max_tokens":7,"messages":[{"content":"S","role":"system"},{"content":"U","role":"user"}],"model":"openai/gpt-5","stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
}

#[test]
fn azure_has_the_deployment_in_its_path() {
    let path = |base_url, name| {
        let model = OpenAiModel::azure(options(base_url, name), "2024-10-21").unwrap();
        (model.reference().base_url.clone(), model.path)
    };
    let expected = "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21";
    for base_url in ["https://x.openai.azure.com", "https://x.openai.azure.com/openai/"] {
        assert_eq!(path(base_url, "my gpt"), ("https://x.openai.azure.com".to_owned(), expected.to_owned()));
    }
}

#[test]
fn what_the_provider_says_it_charged_is_read() {
    let cost = |json: &str| usage_of(serde_json::from_str(json).unwrap()).cost_microusd;
    assert_eq!(cost(r#"{"prompt_tokens":1,"completion_tokens":1,"cost":0.0001234}"#), 124);
    assert_eq!(cost(r#"{"cost":-1}"#), 0);
    assert_eq!(cost(r#"{"cost":1e300}"#), u64::MAX);
    assert_eq!(cost("{}"), 0);
}

/// The vocabulary of the format.
const WORDS: &[&str] = &[
    "choices",
    "delta",
    "content",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "cost",
    "error",
    "message",
    "code",
    "tool_calls",
    "index",
    "id",
    "function",
    "name",
    "arguments",
    "reasoning",
    "refusal",
    "stop",
    "<think>",
    "</think>",
];

proptest! {
    #[test]
    fn no_reply_makes_it_panic(events in crate::reply::tests::events(WORDS)) {
        crate::reply::tests::feed(Decoder::default, &events);
    }
}
