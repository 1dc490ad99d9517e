//! The `spelunk` program: reads arguments, environment and settings, asks the engine, renders what comes of it. No
//! decision about a run is made here.

mod cli;
mod config;
mod env;
mod finding;
mod http;
mod local;
mod mcp;
mod provider;
mod pull;
mod render;
mod sandbox;
mod spans;

use std::process::ExitCode;

use spelunk_sandbox::LimitedAllocator;

// As a worker this program counts what a cell allocates. As everything else it pays two additions per allocation.
#[global_allocator]
static ALLOCATOR: LimitedAllocator = LimitedAllocator;

fn main() -> ExitCode {
    cli::main()
}
