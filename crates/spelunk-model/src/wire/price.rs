//! The price table: dollars per million tokens, each row with its date and source. We write this data, so it is parsed
//! strictly.

use serde::Deserialize;

/// One row of `data/prices.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceRow {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) input: f64,
    /// Input read from the provider's cache.
    pub(crate) cached: f64,
    /// Input written to the provider's cache.
    pub(crate) cache_write: f64,
    pub(crate) output: f64,
    /// Year and month.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    pub(crate) as_of: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    pub(crate) source: String,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file"))]
    pub(crate) kind: RowKind,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowKind {
    /// It generates text.
    #[default]
    Language,
    /// It returns vectors and generates nothing.
    Embedding,
}
