//! `spelunk mcp` as clients see it: the real binary, driven by JSON-RPC lines over its standard streams.

pub(crate) mod client;
mod consent;
mod contexts;
mod essential;
mod hostile;
mod more;
mod notes;
mod protocol;
mod repl;
mod runs;
mod sampling;
mod sdk;
mod tasks;
mod thoughts;
