//! The integration tests of this crate: every adapter through the scripted model server, over real HTTP.

#![expect(clippy::unwrap_used, reason = "the bodies of contract tests are ordinary functions")]

mod adapter;
mod aws;
mod command;
mod contract;
#[cfg(feature = "embedded")]
mod embedded;
mod embedding;
mod fallback;
mod life;
mod list;
mod secrets;
mod server;
mod traffic;
mod wire;
