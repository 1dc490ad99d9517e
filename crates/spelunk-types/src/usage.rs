//! Usage: what calls consumed, in tokens and in millionths of a dollar.

use serde::{Deserialize, Serialize};

/// Tokens and money of one call, or a sum over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    pub input_tokens: u64,
    /// The part of `input_tokens` read from the provider's prompt cache.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cached_tokens: u64,
    /// The part of `input_tokens` written to the provider's prompt cache, for which some providers charge more.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cache_written_tokens: u64,
    /// Tokens generated, reasoning included.
    pub output_tokens: u64,
    /// Cost in millionths of a dollar; 0 if no price is known.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cost_microusd: u64,
}

impl Usage {
    /// Input and output tokens together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The sum, saturating: a provider's numbers are untrusted.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cache_written_tokens: self.cache_written_tokens.saturating_add(other.cache_written_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_microusd: self.cost_microusd.saturating_add(other.cost_microusd),
        }
    }
}
