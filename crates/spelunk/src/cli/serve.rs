//! `spelunk serve`: runs, contexts and models over HTTP, on loopback only unless tokens are required.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use spelunk_app::blocking::blocking;
use spelunk_app::provider;
use spelunk_app::retention;
use spelunk_app::trust::random;
use spelunk_app::units::count;
use spelunk_engine::{Clock as _, SystemClock};
use spelunk_server::http::{Log, NewToken, Server, Tokens, app as router, listen};
use spelunk_server::mcp::{ServerOptions, State};
use tokio::net::TcpListener;

use super::mcp::{McpArgs, tool_set};
use super::watch::Interrupts;
use super::{App, CliResult, ModelFlags, Usage, fleet, print_result, tools};

/// The maximum length of one tool response, about 12 000 tokens.
pub(super) const OUTPUT_CHARS_MAX: u64 = 50_000;
const DAY_S: u64 = 86_400;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address and port to listen on; tokens are required unless it is loopback [default: 127.0.0.1:7766]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Read only files below this directory; may be repeated [default: the current directory]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<String>,
    /// The file that contains the digests of accepted tokens
    #[arg(long, value_name = "FILE")]
    token_file: Option<String>,
    /// Add a token with this name to that file, print it, and exit
    #[arg(long, value_name = "NAME", requires = "token_file")]
    new_token: Option<String>,
    /// The scopes of the new token: read, run, admin
    #[arg(long, value_name = "SCOPES", default_value = "run", requires = "new_token")]
    scopes: String,
    /// Days until the new token expires [default: never]
    #[arg(long, value_name = "N", requires = "new_token")]
    days: Option<u64>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// The sandbox for code that models write: monty or cpython
    #[arg(long, value_name = "SANDBOX")]
    sandbox: Option<String>,
    /// The tools that clients of `/mcp` are shown: essential, tasks (with tasks for agents) or all
    #[arg(long, value_name = "SET", default_value = McpArgs::TOOLS)]
    tools: String,
}

pub(crate) async fn serve(app: &Arc<App>, args: ServeArgs) -> CliResult {
    let settings = &app.settings.server;
    let token_file = args.token_file.as_ref().or(settings.token_file.as_ref());
    let token_file: Option<PathBuf> = token_file.map(|file| app.current_dir.join(file));
    if let (Some(name), Some(file)) = (&args.new_token, &token_file) {
        return new_token(app, name, &args, file);
    }
    args.model.check(app).await?;
    let typed = args.listen.as_deref().unwrap_or(&settings.listen);
    let address = address(typed)?;
    if !address.ip().is_loopback() && token_file.is_none() {
        let message = format!("`{address}` can be reached from other machines, but no tokens are configured");
        let hint = "pass a token file with `--token-file`, or listen on 127.0.0.1";
        return Err(Usage::new(message, hint).into());
    }
    let connecting = Arc::clone(app);
    let fleet = blocking(move || connecting.fleet(fleet::PATIENCE)).await?;
    tools::open_for_server(app).await?;
    let sandbox = app.sandbox(args.sandbox.as_deref())?;
    let tools = tool_set(&args.tools)?;
    let options = ServerOptions { roots: args.roots, sandbox, output_chars_max: OUTPUT_CHARS_MAX, tools };
    let state = Arc::new(State::open(Arc::clone(app), options)?);
    let tokens = token_file.as_deref().map_or_else(|| Ok(Tokens::default()), Tokens::read)?;
    let log = if io::stderr().is_terminal() { Log::Lines } else { Log::Json };
    let server = Server::new(Arc::clone(app), Arc::clone(&state), tokens, log)?;
    let listener = TcpListener::bind(address).await.map_err(|error| Usage {
        message: format!("could not listen on `{address}`: {error}"),
        hint: "choose another address or port with `--listen`".into(),
    })?;
    let bound = listener.local_addr().unwrap_or(address);
    app.say_without_waiting();
    app.say(&banner(app, &state, bound).await);
    let recovering = Arc::clone(&server);
    let n_recovered = blocking(move || recovering.runs.recover(&recovering)).await?;
    if let Some(workspace) = app.own_workspace()? {
        retention::apply(app, &workspace)?;
    }
    if n_recovered > 0 {
        app.say(&format!("continuing {}", count(n_recovered, "run")));
    }
    let serving = listen(listener, router(&server), Arc::clone(&server), stop_signal());
    match fleet {
        Some(fleet) => fleet::work(&fleet, &server, "serve", serving).await,
        None => {
            serving.await;
            server.runs.stop().await;
        }
    }
    state.shut_down().await;
    app.close_log();
    Ok(ExitCode::SUCCESS)
}

async fn banner(app: &App, state: &State, bound: SocketAddr) -> String {
    let model = match provider::choose(&app.settings, &app.environment).await {
        Ok(Some(chosen)) => chosen.model.reference().to_string(),
        Ok(None) => "none; `spelunk doctor` shows how to configure one".to_owned(),
        Err(error) => format!("cannot be used: {error}"),
    };
    let roots: Vec<String> = state.roots().iter().map(|root| root.display().to_string()).collect();
    format!(
        "listening on http://{bound}\n  page   http://{bound}/\n  API    http://{bound}/v1, described by /openapi.json\n  \
        MCP    http://{bound}/mcp\n  model  {model}\n  roots  {}",
        roots.join(", ")
    )
}

fn address(typed: &str) -> Result<SocketAddr, Usage> {
    let typed = typed.replacen("localhost:", "127.0.0.1:", 1);
    typed.parse().map_err(|_| Usage {
        message: format!("`{typed}` is not an address and a port"),
        hint: "write it as `127.0.0.1:7766` or `[::1]:7766`".into(),
    })
}

/// Creates a token: its digest goes into the file, and the token itself is shown only once.
fn new_token(app: &App, name: &str, args: &ServeArgs, file: &PathBuf) -> CliResult {
    let refused = |error: io::Error| Usage {
        message: format!("could not write the token file `{}`: {error}", file.display()),
        hint: "choose a file in an existing directory".into(),
    };
    let now_s = SystemClock.now_ms() / 1000;
    let until_s = args.days.map(|days| now_s.saturating_add(days.saturating_mul(DAY_S)));
    let made = NewToken::make(name, &args.scopes, until_s, random().map_err(refused)?)?;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(file).map_err(refused)?;
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(refused)?;
    let addition = made.addition(&text).map_err(|what| Usage {
        message: format!("the token file `{}` {what}", file.display()),
        hint: "to replace a token, delete its line from the file first".into(),
    })?;
    opened.write_all(addition.as_bytes()).map_err(refused)?;
    print_result(app, &json!({ "token": made.token }), &format!("{}\n", made.token));
    app.say("this token is shown only once; the file contains its digest");
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn stop_signal() {
    Interrupts::new().next().await;
}
