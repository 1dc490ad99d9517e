//! `spelunk mcp`: the server for agents, on standard input and output. Standard output carries the protocol alone.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::ModelFlags;
use super::app::{App, Failure};
use crate::mcp::{ServerOptions, State, serve_stdio};

/// The text of one answer, about 12 000 tokens.
const OUTPUT_CHARS_MAX: u64 = 50_000;

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Read only what is below this directory; may be given several times [default: the current directory]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// What runs the code that models and agents write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<String>,
    /// The longest text that a tool answers with, in characters
    #[arg(long, value_name = "N", default_value_t = OUTPUT_CHARS_MAX)]
    output_chars_max: u64,
}

pub(crate) async fn mcp(app: &Arc<App>, args: McpArgs) -> Result<ExitCode, Failure> {
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let options = ServerOptions { roots: args.roots, sandbox, output_chars_max: args.output_chars_max };
    let state = Arc::new(State::open(Arc::clone(app), options)?);
    serve_stdio(state).await?;
    Ok(ExitCode::SUCCESS)
}
