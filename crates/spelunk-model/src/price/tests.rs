//! Which names have a price, and what usage costs.

use super::*;
use crate::wire::price::RowKind;

fn input_price(provider: &str, model: &str) -> Option<u64> {
    known_price(provider, model).map(|price| price.input_microusd_per_mtok)
}

#[test]
fn a_listed_name_its_dated_name_and_latest_cost_the_same() {
    let expected = Some(Price {
        input_microusd_per_mtok: 1_250_000,
        cached_microusd_per_mtok: 125_000,
        cache_write_microusd_per_mtok: 1_250_000,
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
    assert_eq!(input_price("openai", "gpt-5-ultra"), None);
    assert_eq!(input_price("openai", "gpt-5-chat-2025-08-07"), None);
    assert_eq!(input_price("openai", "gpt-4.1-turbo"), None);
    assert_eq!(input_price("openai", "o3-deep-research"), None);
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
    let told = Price { output_microusd_per_mtok: 3, ..Price::FREE };
    assert_eq!(price_of(&reference, true, Some(told)), Some(told));
    assert_eq!(price_of(&reference, true, None), Some(Price::FREE));
    assert_eq!(price_of(&reference, false, None), known_price("openai", "gpt-5"));
}

#[test]
fn the_same_model_over_another_format_costs_the_same() {
    assert_eq!(known_price("openai-responses", "gpt-5"), known_price("openai", "gpt-5"));
    assert_eq!(known_price("azure", "gpt-4o-mini"), known_price("openai", "gpt-4o-mini"));
}

#[test]
fn a_bedrock_profile_costs_what_its_model_does_unless_it_has_its_own_price() {
    assert_eq!(input_price("bedrock", "anthropic.claude-sonnet-4-20250514-v1:0"), Some(3_000_000));
    assert_eq!(input_price("bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0"), Some(3_000_000));
    assert_eq!(input_price("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"), Some(3_300_000));
    assert_eq!(input_price("bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0"), Some(3_000_000));
    assert_eq!(input_price("bedrock", "eu.amazon.nova-lite-v1:0"), Some(60_000));
    assert_eq!(input_price("bedrock", "mars.amazon.nova-lite-v1:0"), None);
    assert_eq!(input_price("bedrock", "us.amazon.nova-lite-vision"), None);
}

#[test]
fn cost_counts_each_kind_of_token_at_its_own_price_and_rounds_up() {
    let price = Price {
        input_microusd_per_mtok: 3_000_000,
        cached_microusd_per_mtok: 300_000,
        cache_write_microusd_per_mtok: 3_750_000,
        output_microusd_per_mtok: 15_000_000,
    };
    let cost = |input_tokens, cached_tokens, cache_written_tokens, output_tokens| {
        let usage =
            Usage { input_tokens, cached_tokens, cache_written_tokens, output_tokens, cost_microusd: 0 };
        price.cost_microusd(&usage)
    };
    assert_eq!(cost(1000, 0, 0, 100), 4500);
    assert_eq!(cost(1000, 900, 0, 100), 2070);
    assert_eq!(cost(1000, 0, 1000, 0), 3750);
    assert_eq!(cost(1000, 500, 400, 0), 1950);
    assert_eq!(cost(1, 1, 0, 0), 1);
    assert_eq!(cost(0, 50, 50, 0), 0);
    assert_eq!(cost(10, u64::MAX, u64::MAX, 0), 3);
    assert_eq!(cost(u64::MAX, 0, 0, u64::MAX), u64::MAX);
}

#[test]
fn every_row_of_the_table_is_plausible_dated_and_in_its_place() {
    let place = |row: &PriceRow| (row.provider.clone(), row.model.clone());
    assert!(
        ROWS.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])),
        "rows are sorted and none is there twice"
    );
    for row in ROWS.iter() {
        let name = format!("{} {}", row.provider, row.model);
        assert!(row.input > 0.0 && row.input < 1000.0 && row.output < 1000.0, "{name}");
        match row.kind {
            RowKind::Language => assert!(row.output >= row.input, "{name}"),
            RowKind::Embedding => assert!(row.output.abs() < f64::EPSILON, "{name}"),
        }
        assert!(row.cached > 0.0 && row.cached <= row.input, "{name}");
        assert!(row.cache_write >= row.input && row.cache_write <= row.input * 2.0, "{name}");
        let shape: String = row.as_of.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00", "{name}");
        assert!(row.source.contains("price page"), "{name}");
        assert!(known_price(&row.provider, &row.model).is_some(), "{name}");
    }
}
