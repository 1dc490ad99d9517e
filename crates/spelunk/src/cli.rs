//! The command line: its syntax, and one file per command. `ask` is the default: `spelunk "question" PATH`.

mod app;
mod ask;
mod config;
mod context;
mod demo;
mod doctor;
mod eval;
#[cfg(feature = "fleet")]
mod fleet;
mod greet;
mod limits;
mod maintenance;
mod mcp;
mod model;
mod offer;
mod open;
mod outline;
mod plan;
mod repl;
mod report;
mod resume;
mod run;
mod scan;
mod search;
mod serve;
mod show;
mod tool;
mod tools;
mod watch;
#[cfg(not(feature = "fleet"))]
mod without_fleet;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use app::{no_such, print, print_as_is, print_data, print_line, print_result, print_text, report_text};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use limits::LimitFlags;
use scan::{ScanFlags, TypeFlags, inputs, read_stdin, say_left_out};
use serde_json::json;
use spelunk_app::app::App;
use spelunk_app::error_text::{Paint, error_json};
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::provider;
use spelunk_app::sandbox::{OWN_WORD, TASKS};
use watch::OutputFlags;
#[cfg(not(feature = "fleet"))]
use without_fleet as fleet;

/// How a command ends.
type CliResult = Result<ExitCode, Failure>;

const EXAMPLES: &str = "\
Examples:
  spelunk ask \"which services still call the v1 billing API?\" ./monorepo
  journalctl -u nginx | spelunk ask \"why did it restart?\" -
  spelunk demo

Exit codes: 0 answered, 1 failed, 2 invalid usage or settings, 3 stopped
            at a limit, 4 no model (passages shown), 130 interrupted.";

#[derive(Debug, Parser)]
#[command(name = "spelunk", version, about = "Ask questions of text too large for any model", after_help = EXAMPLES)]
#[command(infer_subcommands = false)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    common: Common,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Override a setting for this command, such as `limits.calls_max=50`
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    set: Vec<String>,
    /// The directory for runs [default: .spelunk]
    #[arg(long, value_name = "DIR", global = true)]
    workspace: Option<String>,
    /// Work with the fleet at these NATS servers, such as `nats://10.0.0.1:4222`
    #[arg(long, value_name = "URL", global = true)]
    fleet: Option<String>,
    /// The file with the credentials for them
    #[arg(long, value_name = "FILE", global = true)]
    fleet_creds: Option<String>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print only the result
    #[arg(long, short, global = true)]
    quiet: bool,
}

/// Which model to ask.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelFlags {
    /// The model: a NAME from `[models.NAME]`, a model of the default provider, or PROVIDER/NAME, where PROVIDER is
    /// openai, openai-responses, anthropic, gemini, bedrock, azure or command; `local:NAME` runs inside this program;
    /// `none` uses no model
    #[arg(long, short, value_name = "MODEL")]
    model: Option<String>,
    /// The model for sub-calls and analysts: a NAME from `[models.NAME]`, or a model of the same provider
    #[arg(long, value_name = "MODEL")]
    sub_model: Option<String>,
    /// The base URL for requests, such as `http://127.0.0.1:11434/v1`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
}

impl ModelFlags {
    /// Rejects a named model that is not usable. For commands that use the model late or not at all.
    pub(crate) async fn check(&self, app: &App) -> Result<(), Failure> {
        if self.model.is_some() || self.sub_model.is_some() {
            provider::choose(&app.settings, &app.environment).await?;
        }
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer a question from files, directories or standard input
    Ask(Box<ask::AskArgs>),
    /// Continue a run that was stopped, crashed or hit a limit
    Resume(resume::ResumeArgs),
    /// Show how files would be split into tasks and what that would cost, without spending anything
    Plan(plan::PlanArgs),
    /// Show the structure of files and directories
    Outline(outline::OutlineArgs),
    /// Find passages by words and by meaning, without asking a model
    Search(search::SearchArgs),
    /// Build the search index of files and directories ahead of the first search
    Index(search::IndexArgs),
    /// Explore text with Python, in the same sandbox that models use
    Repl(repl::ReplArgs),
    /// Register text under a name and explore it
    Context(context::ContextArgs),
    /// Serve contexts and queries to an agent over the Model Context Protocol, on standard input and output
    Mcp(mcp::McpArgs),
    /// Serve runs, contexts and models over HTTP, with a web page to view them
    Serve(serve::ServeArgs),
    /// Work on the runs of a fleet, without serving anything
    #[cfg(feature = "fleet")]
    Worker(fleet::WorkerArgs),
    /// Show the state of a fleet
    #[cfg(feature = "fleet")]
    #[command(subcommand)]
    Fleet(fleet::FleetCommand),
    /// Show a run: its tree, costs and answer
    Show(show::ShowArgs),
    /// Follow a run in progress, even in another process
    Tail(show::TailArgs),
    /// List and call your own tools: MCP servers and programs that a model may use
    #[command(subcommand)]
    Tools(tools::ToolsCommand),
    /// Run the tools of an agent as commands, in a folder of plain files
    Tool(Box<tool::ToolArgs>),
    /// List, show, export, archive and remove runs
    #[command(subcommand)]
    Run(run::RunCommand),
    /// Show the settings and where each value comes from
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// List, test and install models
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Check settings, workspace and model, and suggest fixes
    Doctor(doctor::DoctorArgs),
    /// Evaluate strategies and models on tasks with known answers
    #[command(subcommand)]
    Eval(eval::EvalCommand),
    /// Watch the recursive loop, a crash and a resume; the model is scripted, so no key is needed
    Demo,
    /// Recover the intact beginning of a damaged journal
    Repair {
        /// The run: its id or a unique prefix
        run: String,
    },
    /// Remove data that no run needs
    Gc {
        /// Print what would be removed, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Trust a workspace that you did not create here, such as one that was moved
    Trust,
    /// Print shell completions
    Completions {
        /// The shell to print completions for
        shell: clap_complete::Shell,
    },
}

pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    if is_worker(&arguments) {
        return spelunk_sandbox::serve_stdio(TASKS);
    }
    app::survive_file_limit();
    let code = execute(&with_default_command(arguments));
    if app::has_lost_output() { ExitCode::FAILURE } else { code }
}

/// Whether this is a worker process, which runs cells and reads documents. It reads no settings and no environment, and
/// takes its requests from standard input.
fn is_worker(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, word] if word == OWN_WORD)
}

fn execute(arguments: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr()
                && arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json")
            {
                print_line(json!({ "error": error_json(&wrong_usage(&error)) }));
            }
            // Clap knows which stream help and errors go to.
            app::note_written(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let app = match app::open_app(
        cli.common.clone(),
        cli.command.as_ref().map(setting_flags).unwrap_or_default(),
    ) {
        Ok(app) => Arc::new(app),
        Err(failure) => return app::report(&failure, cli.common.json, Paint::Plain),
    };
    let ended = match cli.command {
        Some(command) => dispatch(&app, command),
        None => app::block_on(greet::greet(&app)),
    };
    match ended {
        Ok(code) => code,
        Err(failure) => app::report(&failure, app.json, app.paint_errors),
    }
}

/// What clap says, without the usage of the command.
fn wrong_usage(error: &clap::Error) -> Usage {
    let said = error.render().to_string();
    let message = said.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim_end();
    Usage::new(message, "see `spelunk help`")
}

fn dispatch(app: &Arc<App>, command: Command) -> CliResult {
    match command {
        Command::Ask(args) => app::block_on(ask::ask(app, *args)),
        Command::Resume(args) => app::block_on(resume::resume(app, args)),
        Command::Plan(args) => app::block_on(async {
            args.model.check(app).await?;
            plan::plan(app, &args)
        }),
        Command::Outline(args) => outline::outline(app, &args),
        Command::Search(args) => search::search(app, &args),
        Command::Index(args) => search::index(app, &args),
        Command::Repl(args) => app::block_on(repl::repl(app, args)),
        Command::Context(args) => context::context(app, args),
        Command::Mcp(args) => app::block_on(mcp::mcp(app, args)),
        Command::Serve(args) => app::block_on(serve::serve(app, args)),
        #[cfg(feature = "fleet")]
        Command::Worker(args) => app::block_on(fleet::worker(app, args)),
        #[cfg(feature = "fleet")]
        Command::Fleet(command) => fleet::fleet(app, &command),
        Command::Show(args) => show::show(app, &args),
        Command::Tail(args) => app::block_on(show::tail(app, args)),
        Command::Tool(args) => app::block_on(tool::tool(app, *args)),
        Command::Tools(command) => app::block_on(tools::tools(app, command)),
        Command::Run(command) => run::run(app, &command),
        Command::Config(command) => config::config(app, &command),
        Command::Model(command) => app::block_on(model::model(app, command)),
        Command::Doctor(args) => app::block_on(doctor::doctor(app, args)),
        Command::Eval(command) => app::block_on(eval::eval(app, command)),
        Command::Demo => app::block_on(demo::demo(app)),
        Command::Repair { run } => maintenance::repair(app, &run),
        Command::Gc { dry_run } => maintenance::gc(app, dry_run),
        Command::Trust => maintenance::trust(app),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "spelunk", &mut text);
            print(&String::from_utf8_lossy(&text));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The flags of a command that override settings.
fn setting_flags(command: &Command) -> (Option<ModelFlags>, LimitFlags) {
    let of_model = |model: &ModelFlags| (Some(model.clone()), LimitFlags::default());
    match command {
        Command::Ask(args) => (Some(args.model.clone()), args.limits.clone()),
        Command::Resume(args) => (Some(args.model.clone()), args.limits.clone()),
        Command::Eval(command) => command.setting_flags(),
        Command::Plan(args) => of_model(&args.model),
        Command::Model(command) => (command.flags().cloned(), LimitFlags::default()),
        Command::Doctor(args) => of_model(&args.model),
        Command::Repl(args) => of_model(&args.model),
        Command::Mcp(args) => of_model(&args.model),
        Command::Serve(args) => of_model(&args.model),
        Command::Tool(args) => of_model(&args.model),
        #[cfg(feature = "fleet")]
        Command::Worker(args) => of_model(&args.model),
        #[cfg(feature = "fleet")]
        Command::Fleet(_) => (None, LimitFlags::default()),
        Command::Outline(_)
        | Command::Search(_)
        | Command::Index(_)
        | Command::Context(_)
        | Command::Show(_)
        | Command::Tail(_)
        | Command::Tools(_)
        | Command::Run(_)
        | Command::Config(_)
        | Command::Demo
        | Command::Repair { .. }
        | Command::Gc { .. }
        | Command::Trust
        | Command::Completions { .. } => (None, LimitFlags::default()),
    }
}

/// `spelunk "question" PATH` means `spelunk ask "question" PATH`. A single word is left to clap, which may know which
/// command was meant.
fn with_default_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut words = arguments.iter().skip(1).map(|word| word.to_str().unwrap_or_default());
    let mut first = words.next();
    while let Some(flag) = first.filter(|word| word.starts_with('-')) {
        first = if takes_value(flag) { words.nth(1) } else { words.next() };
    }
    // No command contains a space.
    if first.is_some_and(|first| first.trim().contains(char::is_whitespace)) {
        arguments.insert(1, "ask".into());
    }
    arguments
}

/// Whether a flag of `ask` takes the next word as its value.
fn takes_value(flag: &str) -> bool {
    let mut command = Cli::command();
    command.build();
    let mut flags = command.find_subcommand("ask").into_iter().flat_map(clap::Command::get_opts);
    flags.any(|known| {
        let is_long = known.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long));
        let is_short = known.get_short().is_some_and(|short| flag.chars().eq(['-', short]));
        (is_long || is_short) && known.get_action().takes_values()
    })
}

#[cfg(test)]
mod tests;
