//! Prices, in millionths of a dollar per million tokens. The table in `data/prices.json` lists models by name; an
//! unknown name has no price, never a guessed one.

use std::sync::LazyLock;

use spelunk_types::{ModelRef, Usage};

use crate::wire::price::PriceRow;

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Micro-dollars per million input tokens.
    pub input_microusd_per_mtok: u64,
    /// Micro-dollars per million input tokens read from the provider's cache.
    pub cached_microusd_per_mtok: u64,
    /// Micro-dollars per million input tokens written to the provider's cache.
    pub cache_write_microusd_per_mtok: u64,
    /// Micro-dollars per million output tokens.
    pub output_microusd_per_mtok: u64,
}

impl Price {
    /// The price of a model on this machine.
    pub const FREE: Self = Self {
        input_microusd_per_mtok: 0,
        cached_microusd_per_mtok: 0,
        cache_write_microusd_per_mtok: 0,
        output_microusd_per_mtok: 0,
    };

    /// The cost of this usage in micro-dollars, rounded up.
    pub fn cost_microusd(&self, usage: &Usage) -> u64 {
        // A provider's numbers are untrusted: the parts of the input never exceed the whole.
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = usage.cache_written_tokens.min(usage.input_tokens - cached);
        let fresh = usage.input_tokens - cached - written;
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let total = cost(fresh, self.input_microusd_per_mtok)
            .saturating_add(cost(cached, self.cached_microusd_per_mtok))
            .saturating_add(cost(written, self.cache_write_microusd_per_mtok))
            .saturating_add(cost(usage.output_tokens, self.output_microusd_per_mtok));
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// The list price of a model, if known. A dated name (`gpt-5-2025-08-07`, `claude-opus-4-1-20250805`) and `-latest`
/// cost the same as the plain name, as does the version suffix of Bedrock (`-v1:0`); any other longer name is another
/// model. A Bedrock profile without its own row (`us.`) costs the same as its model.
pub fn known_price(provider: &str, model: &str) -> Option<Price> {
    let provider = match provider {
        // The same models in another format.
        "openai-responses" | "azure" => "openai",
        other => other,
    };
    let (model, bare) = match provider {
        "bedrock" => {
            let model = model
                .split_once("-v")
                .filter(|(_, version)| is_version(version))
                .map_or(model, |(name, _)| name);
            let bare =
                model.split_once('.').filter(|(region, _)| REGIONS.contains(region)).map(|(_, bare)| bare);
            (model, bare)
        }
        _ => (model, None),
    };
    row(provider, model).or_else(|| row(provider, bare?))
}

/// The price of a model: the configured one, free on this machine, or the list price.
pub(crate) fn price_of(reference: &ModelRef, is_local: bool, told: Option<Price>) -> Option<Price> {
    match told {
        Some(price) => Some(price),
        None if is_local => Some(Price::FREE),
        None => known_price(&reference.provider, &reference.name),
    }
}

/// The prefixes of Bedrock profiles.
const REGIONS: [&str; 7] = ["us", "us-gov", "eu", "apac", "jp", "au", "global"];

static ROWS: LazyLock<Vec<PriceRow>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/prices.json")).expect("a test reads the same file")
});

fn row(provider: &str, model: &str) -> Option<Price> {
    let of_provider = ROWS.iter().filter(|row| row.provider == provider);
    let matching =
        of_provider.filter(|row| model.strip_prefix(row.model.as_str()).is_some_and(is_same_model));
    matching.max_by_key(|row| row.model.len()).map(price_of_row)
}

fn price_of_row(row: &PriceRow) -> Price {
    Price {
        input_microusd_per_mtok: microusd(row.input),
        cached_microusd_per_mtok: microusd(row.cached),
        cache_write_microusd_per_mtok: microusd(row.cache_write),
        output_microusd_per_mtok: microusd(row.output),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test bounds every number of the table"
)]
fn microusd(dollars: f64) -> u64 {
    (dollars * 1_000_000.0).round() as u64
}

/// Whether the suffix after a listed name is still the same model: empty, a date, or `-latest`.
fn is_same_model(suffix: &str) -> bool {
    let Some(tag) = suffix.strip_prefix('-') else { return suffix.is_empty() };
    let shape: String = tag.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    matches!(shape.as_str(), "latest" | "00000000" | "0000-00-00")
}

/// `1:0`, `1`.
fn is_version(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == ':')
}

#[cfg(test)]
mod tests;
