//! Prices, in millionths of a dollar per million tokens.

use spelunk_types::Usage;

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Micro-dollars per million input tokens.
    pub input_microusd_per_mtok: u64,
    /// Micro-dollars per million input tokens read from the provider's cache.
    pub cached_microusd_per_mtok: u64,
    /// Micro-dollars per million output tokens.
    pub output_microusd_per_mtok: u64,
}

impl Price {
    /// What this usage costs, in micro-dollars, rounded up.
    pub fn cost_microusd(&self, usage: &Usage) -> u64 {
        let cached = u128::from(usage.cached_tokens.min(usage.input_tokens));
        let fresh = u128::from(usage.input_tokens) - cached;
        let total = fresh * u128::from(self.input_microusd_per_mtok)
            + cached * u128::from(self.cached_microusd_per_mtok)
            + u128::from(usage.output_tokens) * u128::from(self.output_microusd_per_mtok);
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}
