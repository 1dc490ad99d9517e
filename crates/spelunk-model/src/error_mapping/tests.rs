//! Which status becomes which error, and how a provider's message is quoted.

use expect_test::{Expect, expect};
use std::sync::Arc;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use super::*;
use crate::Tool;

const KEY: &str = "sk-very-secret";

fn context() -> RequestContext {
    RequestContext::new("http://host/v1".to_owned(), "m".to_owned(), vec![Secret::new(KEY)])
}

fn check(status: u16, body: &str, expected: &Expect) {
    let said = ProviderError::of_body(body);
    expected.assert_eq(&format!("{:?}", context().refused(status, Some(Duration::from_millis(5)), &said)));
}

#[test]
fn each_status_has_its_error() {
    let body = r#"{"error":{"message":"why"}}"#;
    check(401, body, &expect![[r#"Unauthorized { base_url: "http://host/v1", detail: "why" }"#]]);
    check(403, body, &expect![[r#"Unauthorized { base_url: "http://host/v1", detail: "why" }"#]]);
    check(404, body, &expect![[r#"NotFound { base_url: "http://host/v1", model: "m", detail: "why" }"#]]);
    check(429, body, &expect!["RateLimited { retry_after: Some(5ms) }"]);
    check(503, body, &expect!["Overloaded { retry_after: Some(5ms) }"]);
    check(529, body, &expect!["Overloaded { retry_after: Some(5ms) }"]);
    check(500, body, &expect![[r#"ServerError { status: 500, detail: "why" }"#]]);
    check(502, body, &expect![[r#"ServerError { status: 502, detail: "why" }"#]]);
    check(408, body, &expect![[r#"ServerError { status: 408, detail: "why" }"#]]);
    check(424, body, &expect![[r#"ServerError { status: 424, detail: "why" }"#]]);
    let no_money = r#"{"error":{"message":"why","code":"insufficient_quota"}}"#;
    check(429, no_money, &expect![[r#"RequestRefused { status: 429, detail: "why" }"#]]);
    check(400, body, &expect![[r#"RequestRefused { status: 400, detail: "why" }"#]]);
    check(413, body, &expect![[r#"PromptTooLong { detail: "why" }"#]]);
    check(307, body, &expect![[r#"RequestRefused { status: 307, detail: "why" }"#]]);
}

#[test]
fn a_prompt_that_is_too_long_is_known_by_its_code_or_by_the_words() {
    check(
        400,
        r#"{"error":{"message":"no","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        &expect![[r#"PromptTooLong { detail: "no" }"#]],
    );
    check(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
        &expect![[r#"PromptTooLong { detail: "prompt is too long: 9 tokens > 8 maximum" }"#]],
    );
    check(
        400,
        r#"{"object":"error","message":"This model's maximum context length is 8 tokens.","code":400}"#,
        &expect![[r#"PromptTooLong { detail: "This model's maximum context length is 8 tokens." }"#]],
    );
    check(
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        &expect![[r#"PromptTooLong { detail: "the request exceeds the available context size" }"#]],
    );
    check(
        502,
        r#"{"error":{"message":"maximum context length"}}"#,
        &expect![[r#"ServerError { status: 502, detail: "maximum context length" }"#]],
    );
    check(
        404,
        r#"{"error":{"message":"there is no model with a context length of 9"}}"#,
        &expect![[
            r#"NotFound { base_url: "http://host/v1", model: "m", detail: "there is no model with a context length of 9" }"#
        ]],
    );
}

/// The messages of each server, with their status.
const TOO_LONG: [(u16, &str); 27] = [
    // Anthropic.
    (400, "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000"),
    (400, "prompt is too long: 213462 tokens > 200000 maximum"),
    (413, "Request exceeds the maximum size"),
    // OpenAI.
    (
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    ),
    (400, "Your input exceeds the context window of this model."),
    (400, "Input tokens exceed the configured limit of 272000 tokens."),
    (429, "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 50000."),
    // OpenRouter.
    (
        400,
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
    ),
    // vLLM, old and new.
    (400, "'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens"),
    (
        400,
        "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens",
    ),
    // SGLang.
    (400, "The input (61709 tokens) is longer than the model's context length (40960 tokens)."),
    (400, "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."),
    // llama.cpp.
    (400, "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it"),
    (500, "Context size has been exceeded."),
    // LM Studio: in a stream, without a status.
    (
        500,
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
    ),
    (400, "The number of tokens to keep from the initial prompt is greater than the context length"),
    (500, "Input length 6491 exceeds context length 1500"),
    // Ollama.
    (400, "prompt too long; exceeded max context length by 100 tokens"),
    // Gemini.
    (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
    // Bedrock.
    (400, "Input is too long for requested model."),
    (400, "Too many input tokens. Max input tokens: 300000, request input token count: 400000"),
    // TGI.
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."),
    // Grok, GitHub, Groq, Kimi, Qwen.
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (400, "prompt token count of 200000 exceeds the limit of 128000"),
    (400, "Please reduce the length of the messages or completion."),
    (400, "Invalid request: Your request exceeded model token limit: 262144"),
    (400, "Range of input length should be [1, 98304]"),
];

#[test]
fn a_prompt_that_is_too_long_is_known_in_the_words_of_every_server() {
    for (status, message) in TOO_LONG {
        let said = ProviderError::in_words(message.to_owned());
        let seen = context().refused(status, None, &said);
        assert!(matches!(seen, ModelError::PromptTooLong { .. }), "{status} {message}: {seen:?}");
    }
    check(
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"no"}}"#,
        &expect![[r#"PromptTooLong { detail: "no" }"#]],
    );
    check(
        413,
        "<html>413 Request Entity Too Large</html>",
        &expect![[r#"PromptTooLong { detail: "<html>413 Request Entity Too Large</html>" }"#]],
    );
}

/// Messages that resemble those above but mean something else.
#[test]
fn other_refusals_are_not_taken_for_a_long_prompt() {
    for message in [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "Invalid 'max_output_tokens': integer below minimum value",
        "The model does not exist or you do not have access to it",
        "messages: text content blocks must be non-empty",
        "Invalid schema for response_format: too many properties",
    ] {
        let said = ProviderError::in_words(message.to_owned());
        let seen = context().refused(400, None, &said);
        assert!(matches!(seen, ModelError::RequestRefused { .. }), "{message}: {seen:?}");
    }
}

#[test]
fn what_gemini_and_bedrock_say_in_a_400_is_told_apart() {
    check(
        400,
        r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
        &expect![[
            r#"Unauthorized { base_url: "http://host/v1", detail: "API key not valid. Please pass a valid API key." }"#
        ]],
    );
    check(
        400,
        r#"{"message":"The provided model identifier is invalid."}"#,
        &expect![[
            r#"NotFound { base_url: "http://host/v1", model: "m", detail: "The provided model identifier is invalid." }"#
        ]],
    );
    check(
        400,
        r#"{"Message":"Input is too long for requested model."}"#,
        &expect![[r#"PromptTooLong { detail: "Input is too long for requested model." }"#]],
    );
}

#[test]
fn a_refused_feature_is_named_only_where_it_was_asked_for() {
    let refused = |prompt: &Prompt, status: u16, message: &str| {
        let said = ProviderError { message: message.to_owned(), codes: Vec::new(), retry_after: None };
        format!("{:?}", context().with_features(prompt).refused(status, None, &said))
    };
    let plain = Prompt::default();
    let with_schema = Prompt { schema: Some(Arc::new(Value::Null)), ..Prompt::default() };
    let tool = Tool { name: "t".to_owned(), description: String::new(), schema: Arc::new(Value::Null) };
    let with_tools = Prompt { tools: vec![tool], ..Prompt::default() };
    let (schema_words, tool_words) = ("response_format is not supported", "m does not support tools");
    let expected = r#"FeatureRefused { feature: Schema, detail: "response_format is not supported" }"#;
    assert_eq!(refused(&with_schema, 400, schema_words), expected);
    assert_eq!(refused(&with_schema, 501, schema_words), expected);
    let expected = r#"FeatureRefused { feature: Tools, detail: "m does not support tools" }"#;
    assert_eq!(refused(&with_tools, 400, tool_words), expected);
    let expected = r#"RequestRefused { status: 400, detail: "response_format is not supported" }"#;
    assert_eq!(refused(&plain, 400, schema_words), expected);
    assert_eq!(refused(&with_tools, 400, schema_words), expected);
    let expected = r#"FeatureRefused { feature: Schema, detail: "m does not support tools" }"#;
    assert_eq!(refused(&with_schema, 400, tool_words), expected);
    let expected = r#"ServerError { status: 500, detail: "response_format is not supported" }"#;
    assert_eq!(refused(&with_schema, 500, schema_words), expected);
}

#[test]
fn a_wait_in_the_body_counts_where_no_header_says_one() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}"#;
    let said = ProviderError::of_body(body);
    let seen = context().refused(429, None, &said);
    assert_eq!(seen, ModelError::RateLimited { retry_after: Some(Duration::from_millis(34_500)) });
    let header = Some(Duration::from_secs(1));
    assert_eq!(context().refused(429, header, &said), ModelError::RateLimited { retry_after: header });
    for hostile in ["-1s", "NaNs", "1e99s", "s", "1"] {
        let body = body.replace("34.5s", hostile);
        assert_eq!(ProviderError::of_body(&body).retry_after, None, "{hostile}");
    }
}

#[test]
fn words_are_found_in_every_known_shape_of_body() {
    check(400, r#"{"error":"plain"}"#, &expect![[r#"RequestRefused { status: 400, detail: "plain" }"#]]);
    check(422, r#"{"detail":"fastapi"}"#, &expect![[r#"RequestRefused { status: 422, detail: "fastapi" }"#]]);
    check(
        502,
        "<html>\n<b>Bad</b>\r\n",
        &expect![[r#"ServerError { status: 502, detail: "<html> <b>Bad</b>" }"#]],
    );
    check(500, "", &expect![[r#"ServerError { status: 500, detail: "no reason given" }"#]]);
    check(500, "{}", &expect![[r#"ServerError { status: 500, detail: "{}" }"#]]);
}

#[test]
fn an_echoed_key_is_replaced_even_where_the_quote_is_cut() {
    check(
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-very-secret."}}"#,
        &expect![[
            r#"Unauthorized { base_url: "http://host/v1", detail: "Incorrect API key provided: [key]." }"#
        ]],
    );
    let long = format!("{}{KEY}", "a".repeat(290));
    let cut = context().detail(&long);
    assert_eq!(cut, format!("{}[key]", "a".repeat(290)));
    let longer = format!("{}{KEY}", "a".repeat(296));
    assert_eq!(context().detail(&longer), format!("{}[ke…", "a".repeat(296)));
}

#[test]
fn a_quote_is_one_line_of_at_most_300_characters() {
    assert_eq!(context().detail("a\n\n  b\tc\u{1b}[31m"), "a b c [31m");
    assert_eq!(context().detail(&"ä".repeat(300)), "ä".repeat(300));
    assert_eq!(context().detail(&"ä".repeat(301)), format!("{}…", "ä".repeat(299)));
}

#[test]
fn only_a_number_of_seconds_or_a_date_is_a_wait() {
    let wait = |name: &'static str, value: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        retry_after(&headers)
    };
    assert_eq!(wait("retry-after", "2"), Some(Duration::from_secs(2)));
    assert_eq!(wait("retry-after", " 0.5 "), Some(Duration::from_millis(500)));
    assert_eq!(wait("retry-after-ms", "20"), Some(Duration::from_millis(20)));
    assert_eq!(wait("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"), None);
    assert_eq!(wait("retry-after", "-1"), None);
    assert_eq!(wait("retry-after", "NaN"), None);
    assert_eq!(wait("retry-after", "inf"), None);
    assert_eq!(wait("retry-after", "1e300"), None);
    assert_eq!(wait("retry-after", "99999999999"), Some(RETRY_AFTER_MAX));
    assert_eq!(wait("retry-after", ""), None);
}

#[test]
fn a_date_is_a_wait_by_the_clock_of_the_server() {
    let wait = |until: &'static str, date: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", HeaderValue::from_static(until));
        headers.insert("date", HeaderValue::from_static(date));
        retry_after(&headers)
    };
    let now = "Wed, 21 Oct 2026 07:28:00 GMT";
    assert_eq!(wait("Wed, 21 Oct 2026 07:28:30 GMT", now), Some(Duration::from_secs(30)));
    assert_eq!(wait("Thu, 22 Oct 2026 07:27:59 GMT", now), Some(Duration::from_secs(86_399)));
    assert_eq!(wait("Wed, 21 Oct 2099 07:28:00 GMT", now), Some(RETRY_AFTER_MAX));
    assert_eq!(wait(now, now), Some(Duration::ZERO));
    // A date in the past is not a wait, nor is an unreadable value.
    assert_eq!(wait("Wed, 21 Oct 2026 07:27:59 GMT", now), None);
    assert_eq!(wait("tomorrow", now), None);
    assert_eq!(wait("Wed, 21 Oct 2026 07:28:30 GMT", "today"), None);
}

#[test]
fn the_wait_in_milliseconds_is_the_finer_one_and_wins() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_static("1"));
    headers.insert("retry-after-ms", HeaderValue::from_static("250"));
    assert_eq!(retry_after(&headers), Some(Duration::from_millis(250)));
}
