//! The `spelunk` program: reads arguments, environment and settings, asks the engine, renders what comes of it. No
//! decision about a run is made here.

mod cli;
mod config;
mod env;
mod provider;
mod render;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
