//! The binary as its users see it: what it prints, what it leaves behind, and what survives when it is killed.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write documents, read what was left behind and stop at the first surprise"
)]

mod bad_input;
mod cli;
mod fleet;
mod http;
mod kill;
mod library;
mod mcp;
mod requests;
mod scene;
mod secrets;
mod tools;
mod trust;
