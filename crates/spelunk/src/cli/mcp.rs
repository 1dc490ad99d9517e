//! `spelunk mcp`: the MCP server on stdio. Standard output carries only the protocol.

mod install;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_app::app::App;
use spelunk_app::failure::Failure;
use spelunk_server::mcp::{ServerOptions, State, serve_stdio};

use super::ModelFlags;
use super::serve::OUTPUT_CHARS_MAX;

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
    /// Put the server into the settings of this client, and end: claude-code, cursor, vscode, gemini or codex
    #[arg(long, value_name = "CLIENT")]
    install: Option<String>,
    /// Show what would be put there instead
    #[arg(long, requires = "install")]
    print: bool,
}

pub(crate) async fn mcp(app: &Arc<App>, args: McpArgs) -> Result<ExitCode, Failure> {
    if let Some(client) = &args.install {
        return install::install(app, client, &args.roots, args.print);
    }
    args.model.check(app).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let options = ServerOptions { roots: args.roots, sandbox, output_chars_max: args.output_chars_max };
    let state = Arc::new(State::open(Arc::clone(app), options)?);
    Box::pin(serve_stdio(state)).await?;
    Ok(ExitCode::SUCCESS)
}
