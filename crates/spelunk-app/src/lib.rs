//! What every face shares: settings, providers, how a question becomes a run, the runs of a workspace, and how all of it
//! is shown. The command line and the servers are built on it, and so is the library for programs, whose names are
//! exported by the crate `spelunk`: nothing else here is promised to anybody.
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
mod library;
pub mod local;
mod log;
pub mod otel;
pub mod planning;
pub mod provider;
pub mod pull;
pub mod render;
pub mod reports;
pub mod result_details;
pub mod runs;
pub mod sandbox;
pub mod sources;
pub mod trust;
pub mod units;

pub use config::StrategyChoice as Strategy;
pub use library::{Answer, Budget, Builder, Error, Message, Question, Running, Spelunk, serve_worker};
pub use result_details::{Evidence, Metrics};
pub use spelunk_engine::ReportError as RunError;
/// The allocator of a program that serves as a worker: with it a cell that takes too much memory gets a `MemoryError`,
/// without it the worker ends.
pub use spelunk_sandbox::LimitedAllocator;
pub use spelunk_types::{
    Citation, ErrorCode, Event, EventKind, Focus, Found, Grounding, RunId, RunOutcome, Usage,
};
