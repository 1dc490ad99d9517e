//! Everything the frontends share: settings, providers, turning a question into a run, the runs of a workspace, and
//! rendering. The command line, the servers and the library API are built on it. The crate `spelunk` re-exports the
//! public API; everything else here is internal and may change.
#![expect(missing_docs, reason = "inside of the program: names that say it all have no comment")]

pub mod app;
pub mod arguments;
pub mod asking;
pub mod blocking;
pub mod config;
pub mod context_search;
pub mod env;
pub mod error_text;
pub mod failure;
#[cfg_attr(not(feature = "fleet"), path = "fleet/without.rs")]
pub mod fleet;
mod library;
pub mod live_runs;
pub mod local;
mod log;
pub mod otel;
pub mod personal;
pub mod planning;
pub mod postgres;
pub mod provider;
pub mod pull;
pub mod render;
pub mod reports;
pub mod result_details;
pub mod retention;
pub mod runs;
pub mod s3;
pub mod sandbox;
pub mod sources;
pub mod terminal;
#[cfg(feature = "tools")]
pub mod tools;
pub mod trust;
pub mod units;
pub mod without_model;

pub use config::StrategyChoice as Strategy;
pub use library::{
    Answer, Budget, Builder, Error, Message, Question, Running, Spelunk, contexts, serve_worker, session,
};
pub use result_details::{Evidence, Metrics};
pub use spelunk_engine::{ReportError as RunError, ToolError};
/// The global allocator for a program that serves as a worker process: with it, a cell that exceeds its memory limit
/// gets a `MemoryError`; without it, the worker dies.
pub use spelunk_sandbox::LimitedAllocator;
pub use spelunk_types::{
    Citation, EffectClass, ErrorCode, Event, EventKind, Focus, Found, Grounding, RunId, RunOutcome, Usage,
};
