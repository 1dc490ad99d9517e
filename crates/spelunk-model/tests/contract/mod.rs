//! What all adapters have in common: good replies, and the exact error for every fault. One suite, run once per
//! adapter.

mod fault;
mod reply;

macro_rules! model_contract {
    ($module:ident, $adapter:expr) => {
        mod $module {
            use crate::adapter::Adapter;

            const ADAPTER: Adapter = $adapter;

            model_contract!(@tests reply
                a_reply_arrives_in_pieces_and_ends_with_its_usage
                a_reply_without_text_is_no_reply
                reasoning_is_kept_apart_from_the_answer
                each_reason_to_stop_is_told
                cached_tokens_are_part_of_the_input
                tokens_written_to_a_cache_are_told_where_the_provider_tells
                tool_calls_arrive_whole_and_in_order
                tools_and_their_results_are_sent
                a_schema_is_sent_and_its_refusal_has_a_type
                images_are_sent_and_their_refusal_has_a_type
                an_effort_is_sent_in_the_words_of_the_provider
                a_price_becomes_a_cost
                a_reply_in_one_document_is_taken
                a_doubled_event_doubles_its_text_and_nothing_else
                a_long_reply_is_taken_up_to_the_bound
                the_request_carries_key_and_call
                without_a_key_or_a_label_neither_is_sent
                the_address_and_the_name_are_the_reference
            );
            model_contract!(@tests fault
                a_refused_key_is_told_without_the_key
                a_model_nobody_knows_is_told
                too_many_requests_are_told_with_and_without_a_wait
                missing_capacity_is_told
                a_broken_server_is_told
                a_refused_request_is_told
                a_prompt_that_is_too_long_is_told
                a_redirect_is_not_followed
                nobody_listening_is_told
                a_closed_connection_is_told
                a_stream_without_its_end_mark_is_cut
                a_stream_that_breaks_off_is_cut
                an_event_that_is_not_json_is_malformed
                an_event_that_is_not_utf8_is_malformed
                another_content_type_is_malformed_and_named
                an_error_inside_the_stream_is_the_same_error
                a_server_that_says_nothing_is_waited_for
                a_stream_that_pauses_is_waited_for
                a_fault_is_never_tried_again
                a_storm_of_refusals_is_one_request_per_call
                an_empty_body_is_a_cut_stream_or_malformed
                another_protocol_on_the_port_is_unreachable
                every_error_has_a_hint_and_none_shows_the_key
            );
        }
    };
    (@tests $file:ident $($test:ident)+) => {
        $(
            #[tokio::test]
            async fn $test() {
                crate::contract::$file::$test(ADAPTER).await;
            }
        )+
    };
}

model_contract!(openai, Adapter::OpenAi);
model_contract!(azure, Adapter::Azure);
model_contract!(responses, Adapter::Responses);
model_contract!(anthropic, Adapter::Anthropic);
model_contract!(gemini, Adapter::Gemini);
model_contract!(bedrock, Adapter::Bedrock);
