//! What a run may use: money and calls, parallel requests, requests per minute.

pub(crate) mod budget;
pub(crate) mod concurrency;
pub(crate) mod estimate;
pub(crate) mod in_flight;
pub(crate) mod rate_limit;

pub use self::budget::{Budget, BudgetExceeded, Reservation, limit_reached, raising_flag};
pub use self::rate_limit::RateLimits;
