//! Talking to a model: one request, one streamed reply, typed errors. Adapters never retry, never cache and know no
//! budget: each of those is written once, in the engine.

mod anthropic;
mod error;
mod http;
mod list;
mod model;
mod openai;
mod options;
mod price;
mod prompt;
mod refusal;
mod reply;
mod secret;
mod sse;
mod tokens;
mod wire;

pub use anthropic::AnthropicModel;
pub use error::ModelError;
pub use list::list_models;
pub use model::{Model, ModelDelta, ModelStream, Reply, collect};
pub use openai::OpenAiModel;
pub use options::ModelOptions;
pub use price::{Price, known_price};
pub use prompt::{Message, Prompt, Speaker};
pub use secret::Secret;
pub use tokens::estimate_tokens;
