//! What an adapter is made from.

use crate::{Price, Secret};

/// Which model to ask, where, and as whom.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// Where requests go: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`. A slash at the end does not matter.
    pub base_url: String,
    /// The model's name, as the provider knows it.
    pub name: String,
    /// The key; local servers need none.
    pub key: Option<Secret>,
    /// What it costs, where the list price is not what is paid.
    pub price: Option<Price>,
    /// Whether requests carry `x-spelunk-call`, which scripted servers answer by.
    pub label_calls: bool,
}
