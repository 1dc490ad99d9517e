//! What the engine knows about models: their capacity, their prices, and those that code may call by name.

mod capacity;
mod named;

pub use self::capacity::ModelCapacity;
pub use self::named::NamedModels;
pub(crate) use self::named::{ModelLookupError, unpriced};
