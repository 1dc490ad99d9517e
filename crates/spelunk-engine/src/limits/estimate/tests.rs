//! Reservations must cover the possible cost.

use std::sync::Arc;

use serde_json::json;
use spelunk_model::{ModelFacts, ModelStream, Price, PriceAbove, Tool, ToolCall};
use spelunk_types::{CallId, ModelRef, StopReason};

use super::*;

/// Input for 3 dollars a million, 3.75 if it is written to the cache, output for 15; prompts above 2,000 tokens cost
/// twice as much, and their output 22.5.
struct Priced(ModelRef);

impl Model for Priced {
    fn reference(&self) -> &ModelRef {
        &self.0
    }

    fn facts(&self) -> ModelFacts {
        let price = Some(Price {
            input_microusd_per_mtok: 3_000_000,
            cached_microusd_per_mtok: 300_000,
            cache_write_microusd_per_mtok: 3_750_000,
            output_microusd_per_mtok: 15_000_000,
            above: Some(PriceAbove {
                prompt_tokens: 2000,
                microusd_per_mtok: [6_000_000, 22_500_000, 600_000, 7_500_000],
            }),
        });
        ModelFacts { price, ..ModelFacts::default() }
    }

    fn stream(&self, _: &Prompt, _: &CallId) -> ModelStream {
        unreachable!("nobody asks it")
    }
}

fn priced() -> Priced {
    Priced(ModelRef { provider: "p".into(), name: "m".into(), base_url: "u".into() })
}

#[test]
fn input_that_is_written_to_a_cache_is_set_aside_at_its_price() {
    let prompt = Prompt::single("", "word ".repeat(800), 100);
    let estimate = at_most(&priced(), &prompt);
    assert_eq!((estimate.input_tokens, estimate.output_tokens), (1000, 100));
    // 1,000 for 3.75 and 100 for 15 a million.
    assert_eq!(estimate.cost_microusd, 3750 + 1500);
    let dear =
        Usage { input_tokens: 1000, cache_written_tokens: 1000, output_tokens: 100, ..Usage::default() };
    assert_eq!(priced().facts().price.unwrap().cost_microusd(&dear), estimate.cost_microusd);
}

#[test]
fn a_long_prompt_reserves_its_own_price() {
    let cost =
        |n_words: usize| at_most(&priced(), &Prompt::single("", "word ".repeat(n_words), 100)).cost_microusd;
    // 2,000 for 3.75 and 100 for 15 a million; 2,005 for 7.5 and 100 for 22.5.
    assert_eq!(cost(1600), 7500 + 1500);
    assert_eq!(cost(1604), 15_038 + 2250);
}

#[test]
fn the_schema_and_the_tools_are_counted_as_they_are_sent() {
    let plain = Prompt::single("", "word", 0);
    let schema = json!({ "type": "object", "properties": { "answer": { "type": "string" } } });
    let n_schema = estimate_tokens_high(&schema.to_string());
    let tokens = |prompt: &Prompt| at_most(&priced(), prompt).input_tokens;
    let with_schema = Prompt { schema: Some(Arc::new(schema.clone())), ..plain.clone() };
    assert_eq!(tokens(&with_schema), tokens(&plain) + n_schema);
    let tool = Tool { name: "Read".into(), description: "reads".into(), schema: Arc::new(schema) };
    let with_tools = Prompt { tools: vec![tool.clone(), tool], ..plain.clone() };
    assert_eq!(tokens(&with_tools), tokens(&plain) + 2 * (n_schema + 2 + 2));
}

#[test]
fn without_a_word_of_the_provider_calls_of_tools_are_counted() {
    let prompt = Prompt::single("", "word", 10);
    let call = ToolCall { id: "1".into(), name: "Write".into(), arguments: "x".repeat(400), signature: None };
    let reply = Reply {
        text: String::new(),
        stop: StopReason::ToolUse,
        usage: None,
        tool_calls: vec![call],
        answered_by: None,
        certainty_permille: None,
    };
    let usage = usage_of(&priced(), &prompt, &reply);
    assert_eq!((usage.input_tokens, usage.output_tokens), (1, 102));
    assert_eq!(usage.cost_microusd, 3 + 1530);
    // Usage reported by a provider is taken as it is.
    let told = Usage { input_tokens: 7, output_tokens: 1, ..Usage::default() };
    let told = usage_of(&priced(), &prompt, &Reply { usage: Some(told), ..reply });
    assert_eq!((told.input_tokens, told.output_tokens, told.cost_microusd), (7, 1, 36));
}

#[test]
fn a_request_without_a_reply_counts_its_words_and_those_that_came() {
    let usage = wasted(&priced(), &Prompt::single("", "word ".repeat(800), 100), 20);
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_microusd), (1000, 20, 3750 + 300));
}
