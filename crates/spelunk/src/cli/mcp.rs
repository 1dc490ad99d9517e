//! `spelunk mcp`: the MCP server on stdio. Standard output carries only the protocol.

mod install;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_server::mcp::{ServerOptions, State, ToolSet, serve_stdio};

use super::serve::OUTPUT_CHARS_MAX;
use super::{App, CliResult, ModelFlags, Usage, no_such, tools};

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
    /// The tools that clients are shown: essential, tasks (with tasks for agents) or all
    #[arg(long, value_name = "SET", default_value = McpArgs::TOOLS)]
    tools: String,
    /// Add the server to the settings of this client and exit: claude-code, claude-desktop, cursor, vscode, windsurf,
    /// zed, codex, gemini, opencode or cline
    #[arg(long, value_name = "CLIENT")]
    install: Option<String>,
    /// Print the entry instead of adding it
    #[arg(long, requires = "install")]
    print: bool,
    /// Replace another entry of the same name
    #[arg(long, requires = "install")]
    force: bool,
}

impl McpArgs {
    pub(super) const TOOLS: &str = "essential";
}

pub(crate) async fn mcp(app: &Arc<App>, args: McpArgs) -> CliResult {
    if let Some(client) = &args.install {
        return install::install(app, client, &args);
    }
    let tools = tool_set(&args.tools)?;
    args.model.check(app).await?;
    tools::open_for_server(app).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let options =
        ServerOptions { roots: args.roots, sandbox, output_chars_max: args.output_chars_max, tools };
    let state = Arc::new(State::open(Arc::clone(app), options)?);
    Box::pin(serve_stdio(state)).await?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn tool_set(word: &str) -> Result<ToolSet, Usage> {
    ToolSet::of(word).ok_or_else(|| no_such("set of tools", word, &ToolSet::WORDS))
}
