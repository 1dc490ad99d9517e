//! Talking to a model: one request, one streamed reply, typed errors. Adapters never retry, never cache and know no
//! budget: each of those is written once, in the engine.

mod error;
mod model;
mod price;
mod prompt;
mod tokens;

pub use error::ModelError;
pub use model::{Model, ModelDelta, ModelStream, Reply, collect};
pub use price::Price;
pub use prompt::{Message, Prompt, Speaker};
pub use tokens::estimate_tokens;
