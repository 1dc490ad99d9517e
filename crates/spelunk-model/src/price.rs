//! Prices, in millionths of a dollar per million tokens, and what usage costs at them.

use spelunk_types::Usage;

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Micro-dollars per million input tokens.
    pub input_microusd_per_mtok: u64,
    /// Micro-dollars per million input tokens read from the provider's cache.
    pub cached_microusd_per_mtok: u64,
    /// Micro-dollars per million input tokens written to the provider's cache.
    pub cache_write_microusd_per_mtok: u64,
    /// Micro-dollars per million output tokens, including those of reasoning.
    pub output_microusd_per_mtok: u64,
    /// The price of calls with a long prompt, if it differs.
    pub above: Option<PriceAbove>,
}

/// The price of all tokens of a call whose prompt is longer than a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceAbove {
    /// The prompt length above which this price applies.
    pub prompt_tokens: u64,
    /// Micro-dollars per million tokens of input, output, cached input and input written to the cache.
    pub microusd_per_mtok: [u64; 4],
}

impl Price {
    /// The price of a model on this machine.
    pub const FREE: Self = Self::of([0; 4], None);

    /// The price with these rates: for input, output, cached input and input written to the cache.
    pub const fn of(rates: [u64; 4], above: Option<PriceAbove>) -> Self {
        let [input, output, cached, cache_write] = rates;
        Self {
            input_microusd_per_mtok: input,
            cached_microusd_per_mtok: cached,
            cache_write_microusd_per_mtok: cache_write,
            output_microusd_per_mtok: output,
            above,
        }
    }

    /// Input, output, cached input and input written to the cache, for a prompt of this length.
    pub fn rates(&self, prompt_tokens: u64) -> [u64; 4] {
        match self.above {
            Some(above) if prompt_tokens > above.prompt_tokens => above.microusd_per_mtok,
            Some(_) | None => [
                self.input_microusd_per_mtok,
                self.output_microusd_per_mtok,
                self.cached_microusd_per_mtok,
                self.cache_write_microusd_per_mtok,
            ],
        }
    }

    /// The higher of two prices for each kind of token, at every prompt length.
    #[must_use]
    pub(crate) fn highest(self, other: Self) -> Self {
        let sizes = [self.above, other.above].into_iter().flatten().map(|above| above.prompt_tokens);
        let above = sizes.min().map(|prompt_tokens| PriceAbove {
            prompt_tokens,
            microusd_per_mtok: higher(self.rates(u64::MAX), other.rates(u64::MAX)),
        });
        Self::of(higher(self.rates(0), other.rates(0)), above)
    }

    /// The cost of the usage of one call in micro-dollars, rounded up.
    pub fn cost_microusd(&self, usage: &Usage) -> u64 {
        // A provider's numbers are untrusted: the parts of the input must not exceed the whole.
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = usage.cache_written_tokens.min(usage.input_tokens - cached);
        let fresh = usage.input_tokens - cached - written;
        let [input, output, cached_rate, write_rate] = self.rates(usage.input_tokens);
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let total = cost(fresh, input)
            .saturating_add(cost(cached, cached_rate))
            .saturating_add(cost(written, write_rate))
            .saturating_add(cost(usage.output_tokens, output));
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

fn higher(one: [u64; 4], other: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|idx| one[idx].max(other[idx]))
}

#[cfg(test)]
mod tests;
