//! Which names have a price, and what usage costs.

use super::*;

fn input_price(provider: &str, model: &str) -> Option<u64> {
    known_price(provider, model).map(|price| price.input_microusd_per_mtok)
}

#[test]
fn a_listed_name_its_dated_name_and_latest_cost_the_same() {
    let expected = Some(Price {
        input_microusd_per_mtok: 1_250_000,
        cached_microusd_per_mtok: 125_000,
        output_microusd_per_mtok: 10_000_000,
    });
    assert_eq!(known_price("openai", "gpt-5"), expected);
    assert_eq!(known_price("openai", "gpt-5-2025-08-07"), expected);
    assert_eq!(known_price("openai", "gpt-5-latest"), expected);
    assert_eq!(input_price("anthropic", "claude-sonnet-4-20250514"), Some(3_000_000));
    assert_eq!(input_price("anthropic", "claude-3-5-haiku-latest"), Some(800_000));
}

#[test]
fn the_longest_listed_name_wins() {
    assert_eq!(input_price("openai", "gpt-4o-mini-2024-07-18"), Some(150_000));
    assert_eq!(input_price("openai", "gpt-4o-2024-05-13"), Some(5_000_000));
    assert_eq!(input_price("openai", "gpt-4o-2024-08-06"), Some(2_500_000));
    assert_eq!(input_price("anthropic", "claude-opus-4-5-20251101"), Some(5_000_000));
    assert_eq!(input_price("anthropic", "claude-opus-4-20250514"), Some(15_000_000));
}

#[test]
fn a_longer_name_is_another_model_and_has_no_price() {
    assert_eq!(input_price("openai", "gpt-5.2"), None);
    assert_eq!(input_price("openai", "gpt-5-pro"), None);
    assert_eq!(input_price("openai", "gpt-5-codex-2025-08-07"), None);
    assert_eq!(input_price("openai", "gpt-4.1-turbo"), None);
    assert_eq!(input_price("openai", "o3-mini"), None);
    assert_eq!(input_price("openai", "gpt-5-"), None);
    assert_eq!(input_price("anthropic", "claude-opus-4-7"), None);
    assert_eq!(input_price("openai", ""), None);
}

#[test]
fn a_name_of_another_provider_has_no_price() {
    assert_eq!(input_price("anthropic", "gpt-5"), None);
    assert_eq!(input_price("scripted", "gpt-5"), None);
}

#[test]
fn a_told_price_beats_a_local_server_and_a_local_server_beats_the_list() {
    let reference =
        ModelRef { provider: "openai".to_owned(), name: "gpt-5".to_owned(), base_url: "http://x".to_owned() };
    let told = Price { input_microusd_per_mtok: 1, cached_microusd_per_mtok: 2, output_microusd_per_mtok: 3 };
    assert_eq!(price_of(&reference, true, Some(told)), Some(told));
    assert_eq!(price_of(&reference, true, None), Some(Price::FREE));
    assert_eq!(price_of(&reference, false, None), known_price("openai", "gpt-5"));
}

#[test]
fn cost_counts_cached_tokens_at_their_own_price_and_rounds_up() {
    let price = Price {
        input_microusd_per_mtok: 3_000_000,
        cached_microusd_per_mtok: 300_000,
        output_microusd_per_mtok: 15_000_000,
    };
    let cost = |input_tokens, cached_tokens, output_tokens| {
        price.cost_microusd(&Usage { input_tokens, cached_tokens, output_tokens, cost_microusd: 0 })
    };
    assert_eq!(cost(1000, 0, 100), 4500);
    assert_eq!(cost(1000, 900, 100), 2070);
    assert_eq!(cost(1, 1, 0), 1);
    assert_eq!(cost(0, 50, 0), 0);
    assert_eq!(cost(u64::MAX, 0, u64::MAX), u64::MAX);
}
