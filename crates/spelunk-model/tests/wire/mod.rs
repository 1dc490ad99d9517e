//! Payloads as providers send them, good and broken, and how the adapters decode each.

use expect_test::{Expect, expect};
use spelunk_testkit::{Fault, ModelServer, on};

use crate::adapter::{Adapter, deltas, stream};

/// Serves the payload and compares every delta and the final error, one per line.
async fn check(adapter: Adapter, payload: &[u8], expected: Expect) {
    let raw = Fault::Raw { content_type: "text/event-stream", body: payload.to_vec() };
    let server = ModelServer::start([on("0#0").always(raw)]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    let lines = seen.iter().map(|delta| format!("{delta:?}")).chain(error.map(|error| format!("{error:?}")));
    expected.assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

macro_rules! payload_tests {
    ($adapter:expr, $folder:literal: $($test:ident $file:literal $expected:expr;)+) => {
        $(
            #[tokio::test]
            async fn $test() {
                check($adapter, include_bytes!(concat!($folder, "/", $file, ".sse")), $expected).await;
            }
        )+
    };
}

payload_tests! { Adapter::OpenAi, "openai":
    tags_of_local_models_hold_their_reasoning "think_tags" expect![[r#"
        Reasoning("\nHm")
        Text("Yes <think>")
        Done { stop: Finished, usage: None }"#]];
    fragments_of_tool_calls_are_joined "tool_calls" expect![[r#"
        ToolCall(ToolCall { id: "call_a", name: "grep", arguments: "{\"pattern\":\"x\"}", signature: None })
        ToolCall(ToolCall { id: "call_b", name: "now", arguments: "{}", signature: None })
        Done { stop: ToolUse, usage: None }"#]];
    calls_of_ollama_that_share_a_place_are_told_apart "ollama_tool_calls" expect![[r#"
        ToolCall(ToolCall { id: "call_a", name: "read", arguments: "{\"path\":\"a.md\"}", signature: None })
        ToolCall(ToolCall { id: "call_b", name: "read", arguments: "{\"path\":\"b.md\"}", signature: None })
        ToolCall(ToolCall { id: "call_c", name: "now", arguments: "{}", signature: None })
        Done { stop: ToolUse, usage: None }"#]];
    openai_tells_usage_after_the_finish "chat" expect![[r#"
        Text("Forty")
        Text("-two.")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 1219, cached_tokens: 1024, cache_written_tokens: 0, output_tokens: 4, cost_microusd: 0 }) }"#]];
    a_refusal_of_openai_is_text_that_was_filtered "refusal" expect![[r#"
        Text("I can't")
        Text(" help.")
        Done { stop: Filtered, usage: None }"#]];
    azure_begins_without_a_choice "azure" expect![[r#"
        Text("Yes")
        Done { stop: Filtered, usage: None }"#]];
    ollama_tells_its_usage "ollama" expect![[r#"
        Text("42")
        Done { stop: Length, usage: Some(Usage { input_tokens: 30, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 2, cost_microusd: 0 }) }"#]];
    the_least_likely_token_of_the_answer_is_its_certainty "logprobs" expect![[r#"
        Reasoning("Hm")
        Text("For")
        Text("ty")
        Certainty(301)
        Done { stop: Finished, usage: None }"#]];
    llama_cpp_begins_with_null "llama_cpp" expect![[r#"
        Text("Hi")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 12, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 1, cost_microusd: 0 }) }"#]];
    vllm_counts_in_every_chunk_and_the_last_count_is_true "vllm_reasoning" expect![[r#"
        Reasoning("Let me see.")
        Text("7")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 9, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 5, cost_microusd: 0 }) }"#]];
    openrouter_fills_pauses_with_comments "openrouter" expect![[r#"
        Reasoning("Hm.")
        Text("No.")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 11, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 6, cost_microusd: 0 }) }"#]];
    a_finish_without_the_end_mark_is_an_end "no_end_mark" expect![[r#"
        Text("done")
        Done { stop: Finished, usage: None }"#]];
    half_an_event_is_a_cut_stream "broken_cut" expect![[r#"
        Text("half")
        StreamCut"#]];
    an_end_mark_without_a_finish_is_an_end "no_finish_reason" expect![[r#"
        Text("half")
        Done { stop: Other, usage: None }"#]];
    an_error_of_openrouter_has_its_status_as_code "broken_error_openrouter" expect![[r#"
        Text("half")
        ServerError { status: 502, detail: "Provider disconnected unexpectedly" }"#]];
    an_error_of_vllm_inside_the_stream_is_read "broken_error_vllm" expect![[r#"PromptTooLong { detail: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens." }"#]];
    an_event_without_choices_is_malformed "broken_no_choices" expect![[r#"ReplyMalformed { detail: "an event has no `choices`" }"#]];
    a_number_for_a_text_is_malformed "broken_shape" expect![[r#"ReplyMalformed { detail: "an event is not valid: invalid type: integer `42`, expected a string at line 1 column 34" }"#]];
}

payload_tests! { Adapter::Anthropic, "anthropic":
    anthropic_calls_a_tool "tool_use" expect![[r#"
        Text("Looking.")
        ToolCall(ToolCall { id: "toolu_1", name: "grep", arguments: "{\"pattern\": \"x\"}", signature: None })
        Done { stop: ToolUse, usage: Some(Usage { input_tokens: 472, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 89, cost_microusd: 0 }) }"#]];
    anthropic_counts_three_kinds_of_input "message" expect![[r#"
        Text("Forty")
        Text("-two.")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 1125, cached_tokens: 1000, cache_written_tokens: 100, output_tokens: 15, cost_microusd: 0 }) }"#]];
    anthropic_thinks_apart "thinking" expect![[r#"
        Reasoning("Let me see.")
        Text("27 * 453 = 12231")
        Done { stop: Length, usage: Some(Usage { input_tokens: 10, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 40, cost_microusd: 0 }) }"#]];
    events_and_blocks_nobody_knows_are_skipped "unknown_events" expect![[r#"
        Text("ok")
        Done { stop: Other, usage: Some(Usage { input_tokens: 1, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 3, cost_microusd: 0 }) }"#]];
    a_refusal_of_anthropic_is_filtered "refusal" expect![[r#"
        Text("I")
        Done { stop: Filtered, usage: Some(Usage { input_tokens: 7, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 2, cost_microusd: 0 }) }"#]];
    overload_inside_the_stream_is_told "broken_overloaded" expect![[r#"
        Text("half")
        Overloaded { retry_after: None }"#]];
    a_stream_that_begins_with_an_error_is_told "broken_api_error" expect![[r#"ServerError { status: 500, detail: "Internal server error" }"#]];
    a_stream_without_message_stop_is_cut "broken_cut_before_stop" expect![[r#"
        Text("half")
        StreamCut"#]];
    an_event_without_a_type_is_malformed "broken_shape" expect![[r#"ReplyMalformed { detail: "an event is not valid: missing field `type` at line 1 column 27" }"#]];
}

payload_tests! { Adapter::Responses, "responses":
    responses_tell_reasoning_text_and_usage_once "message" expect![[r#"
        Reasoning("**Thinking**")
        Text("Forty")
        Text("-two.")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 1219, cached_tokens: 1024, cache_written_tokens: 0, output_tokens: 70, cost_microusd: 0 }) }"#]];
    a_refusal_of_responses_is_filtered "refusal" expect![[r#"
        Text("I can't help.")
        Done { stop: Filtered, usage: Some(Usage { input_tokens: 5, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 6, cost_microusd: 0 }) }"#]];
    a_response_in_its_last_event_alone_is_read "only_completed" expect![[r#"
        Text("All at once.")
        ToolCall(ToolCall { id: "c", name: "grep", arguments: "{}", signature: None })
        Done { stop: ToolUse, usage: None }"#]];
    a_failed_response_is_an_error "broken_failed" expect![[r#"
        Text("half")
        ServerError { status: 500, detail: "The model failed to generate a response." }"#]];
    an_error_event_of_responses_is_read "broken_error" expect![[r#"PromptTooLong { detail: "Your input exceeds the context window of this model." }"#]];
    a_response_without_its_end_is_cut "broken_cut" expect![[r#"
        Text("half")
        StreamCut"#]];
}

payload_tests! { Adapter::Gemini, "gemini":
    gemini_thinks_apart_and_counts_thoughts_as_output "thinking" expect![[r#"
        Reasoning("**Sum**\n")
        Text("Forty")
        Text("-two.")
        Done { stop: Finished, usage: Some(Usage { input_tokens: 1200, cached_tokens: 1024, cache_written_tokens: 0, output_tokens: 68, cost_microusd: 0 }) }"#]];
    a_prompt_that_gemini_blocks_is_filtered "blocked_prompt" expect!["Done { stop: Filtered, usage: Some(Usage { input_tokens: 7, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 0, cost_microusd: 0 }) }"];
    a_reply_that_gemini_stops_for_safety_is_filtered "safety" expect![[r#"
        Text("I")
        Done { stop: Filtered, usage: Some(Usage { input_tokens: 7, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 1, cost_microusd: 0 }) }"#]];
    gemini_out_of_capacity_inside_the_stream_is_told "broken_unavailable" expect![[r#"
        Text("half")
        Overloaded { retry_after: None }"#]];
    a_quota_of_gemini_is_told_with_its_wait "broken_quota" expect!["RateLimited { retry_after: Some(34s) }"];
    json_that_is_not_of_gemini_is_malformed "broken_shape" expect![[r#"ReplyMalformed { detail: "an event has no `candidates`" }"#]];
}
