//! The options of an adapter.

use crate::{Price, Secret};

/// A provider's URL, credentials and model name.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// The base URL: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`. A trailing slash is ignored.
    pub base_url: String,
    /// The provider's name for the model.
    pub name: String,
    /// The key; local servers need none.
    pub key: Option<Secret>,
    /// What it costs, if not the list price.
    pub price: Option<Price>,
    /// Whether requests carry `x-spelunk-call`, which scripted servers use to choose the reply.
    pub label_calls: bool,
}
