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
    /// Read only files below this directory; may be repeated [default: the current directory]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// The sandbox for code that models and agents write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<String>,
    /// The maximum length of a tool response, in characters
    #[arg(long, value_name = "N", default_value_t = OUTPUT_CHARS_MAX)]
    output_chars_max: u64,
    /// Add the server to the settings of this client and exit: claude-code, cursor, vscode, gemini or codex
    #[arg(long, value_name = "CLIENT")]
    install: Option<String>,
    /// Print the change instead of making it
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
