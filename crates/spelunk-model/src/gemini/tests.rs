//! Requests. How replies are decoded is tested in `tests/wire`.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Part, ToolCall, ToolResult};

fn model(name: &str) -> GeminiModel {
    let options = ModelOptions {
        base_url: "http://127.0.0.1:1/v1beta".to_owned(),
        name: name.to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    GeminiModel::new(options).unwrap()
}

#[test]
fn a_conversation_with_tools_and_a_schema_keeps_its_signatures() {
    let [id, name, arguments] = ["call-0", "grep", r#"{"q":1}"#].map(str::to_owned);
    let signature = Some("c2ln".to_owned());
    let call = Part::ToolCall(ToolCall { id: id.clone(), name: name.clone(), arguments, signature });
    let result = |is_error| {
        Part::ToolResult(ToolResult {
            call_id: id.clone(),
            name: name.clone(),
            text: "R".to_owned(),
            is_error,
        })
    };
    let tool = Tool { name: "grep".to_owned(), description: "D".to_owned(), schema: Arc::new(json!({})) };
    let prompt = Prompt {
        messages: vec![
            Message::user("U"),
            Message::assistant("").with_parts([call]),
            Message::user("").with_parts([result(false), result(true)]),
        ],
        schema: Some(Arc::new(json!({ "type": "string" }))),
        tools: vec![tool],
        ..Prompt::single("S", "", 7)
    };
    expect![[r#"{"contents":[{"parts":[{"text":"U"}],"role":"user"},{"parts":[{"functionCall":{"args":{"q":1},"name":"grep"},"thoughtSignature":"c2ln"}],"role":"model"},{"parts":[{"functionResponse":{"name":"grep","response":{"output":"R"}}},{"functionResponse":{"name":"grep","response":{"error":"R"}}}],"role":"user"}],"generationConfig":{"maxOutputTokens":7,"responseJsonSchema":{"type":"string"},"responseMimeType":"application/json"},"systemInstruction":{"parts":[{"text":"S"}]},"tools":[{"functionDeclarations":[{"description":"D","name":"grep","parametersJsonSchema":{}}]}]}"#]]
    .assert_eq(&String::from_utf8(model("gemini-4-argon").body(&prompt)).unwrap());
}

#[test]
fn a_call_without_its_signature_is_marked_where_one_is_required() {
    let call = |id: &str| {
        let (id, name) = (id.to_owned(), "f".to_owned());
        Part::ToolCall(ToolCall { id, name, arguments: "{}".to_owned(), signature: None })
    };
    let said = Message::assistant("").with_parts([call("a"), call("b")]);
    let tool = Tool { name: "f".to_owned(), description: "D".to_owned(), schema: Arc::new(json!({})) };
    let prompt = Prompt {
        messages: vec![Message::user("U"), said],
        tools: vec![tool],
        must_call: true,
        ..Prompt::single("", "", 7)
    };
    let sent = |name: &str| String::from_utf8(model(name).body(&prompt)).unwrap();
    expect![[r#"{"contents":[{"parts":[{"text":"U"}],"role":"user"},{"parts":[{"functionCall":{"args":{},"name":"f"},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"args":{},"name":"f"}}],"role":"model"}],"generationConfig":{"maxOutputTokens":7},"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"tools":[{"functionDeclarations":[{"description":"D","name":"f","parametersJsonSchema":{}}]}]}"#]]
    .assert_eq(&sent("gemini-4-argon"));
    assert!(!sent("gemini-2.5-pro").contains("thoughtSignature"));
}

#[test]
fn a_plain_prompt_is_short_and_the_name_may_be_written_either_way() {
    expect![[
        r#"{"contents":[{"parts":[{"text":"U"}],"role":"user"}],"generationConfig":{"maxOutputTokens":7}}"#
    ]]
    .assert_eq(&String::from_utf8(model("gemini-4-argon").body(&Prompt::single("", "U", 7))).unwrap());
    let path = "/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    assert_eq!(model("gemini-2.5-pro").path, path);
    assert_eq!(model("models/gemini-2.5-pro").path, path);
    assert_eq!(model("../x?y").path, "/models/..%2Fx%3Fy:streamGenerateContent?alt=sse");
}

/// The vocabulary of the format.
const WORDS: &[&str] = &[
    "candidates",
    "content",
    "parts",
    "text",
    "thought",
    "thoughtSignature",
    "functionCall",
    "name",
    "args",
    "id",
    "finishReason",
    "STOP",
    "usageMetadata",
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "promptFeedback",
    "blockReason",
    "error",
    "code",
    "details",
    "retryDelay",
];

proptest! {
    #[test]
    fn no_reply_makes_it_panic(events in crate::reply::tests::events(WORDS)) {
        crate::reply::tests::feed(Decoder::default, &events);
    }
}
