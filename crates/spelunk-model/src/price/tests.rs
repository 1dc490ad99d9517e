//! What usage costs.

use super::*;

#[test]
fn cost_counts_each_kind_of_token_at_its_own_price_and_rounds_up() {
    let price = Price {
        input_microusd_per_mtok: 3_000_000,
        cached_microusd_per_mtok: 300_000,
        cache_write_microusd_per_mtok: 3_750_000,
        output_microusd_per_mtok: 15_000_000,
        above: None,
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

const TIERED: Price = Price {
    input_microusd_per_mtok: 2_000_000,
    cached_microusd_per_mtok: 200_000,
    cache_write_microusd_per_mtok: 2_500_000,
    output_microusd_per_mtok: 12_000_000,
    above: Some(PriceAbove {
        prompt_tokens: 200_000,
        microusd_per_mtok: [4_000_000, 18_000_000, 400_000, 5_000_000],
    }),
};

#[test]
fn a_prompt_above_the_size_pays_the_other_price_for_all_its_tokens() {
    let cost = |input_tokens, cached_tokens, cache_written_tokens| {
        let usage = Usage {
            input_tokens,
            cached_tokens,
            cache_written_tokens,
            output_tokens: 1000,
            cost_microusd: 0,
        };
        TIERED.cost_microusd(&usage)
    };
    assert_eq!(cost(200_000, 0, 0), 412_000);
    assert_eq!(cost(200_001, 0, 0), 818_004);
    // Cached input and cache writes count towards the size.
    assert_eq!(cost(300_000, 200_000, 100_000), 80_000 + 500_000 + 18_000);
}

#[test]
fn the_highest_of_two_prices_is_highest_at_every_length() {
    let flat = Price { output_microusd_per_mtok: 20_000_000, ..Price::FREE };
    let highest = TIERED.highest(flat);
    assert_eq!(highest.rates(200_000), [2_000_000, 20_000_000, 200_000, 2_500_000]);
    assert_eq!(highest.rates(200_001), [4_000_000, 20_000_000, 400_000, 5_000_000]);
    assert_eq!(flat.highest(TIERED), highest);
    assert_eq!(flat.highest(Price::FREE), flat);
}
