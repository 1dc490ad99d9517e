//! `spelunk completions`: completions for a shell.

use std::process::ExitCode;

use clap::{Args, CommandFactory};

use super::Cli;
use super::app::print;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to print completions for
    shell: clap_complete::Shell,
}

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spelunk", &mut text);
    print(&String::from_utf8_lossy(&text));
    ExitCode::SUCCESS
}
