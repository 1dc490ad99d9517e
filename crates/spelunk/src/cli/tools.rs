//! `spelunk tools`: lists and calls the user's tools, and the flags that give tools to a question.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use spelunk_app::render::progress::pause;
use spelunk_app::tools::{self, Complaints, ToolsError, WantedTools, function_name};
use spelunk_app::units::escaped;
use spelunk_engine::{ConsentFn, EffectDecision, ExternalTool, ToolError};
use spelunk_types::{EffectClass, EffectId};

use super::{App, CliResult, Failure, Usage, print_line, print_result};

const SHOWN_CHARS_MAX: usize = 2_000;

/// Tools of a question.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ToolFlags {
    /// Let the model use a tool of your settings (`[tools.NAME]`); may be repeated
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    #[command(flatten)]
    pub(super) common: CommonToolFlags,
    /// Leave out a tool, or all of a source; may be repeated
    #[arg(long, value_name = "NAME")]
    deny_tool: Vec<String>,
    /// Let child frames use a tool, or all tools of a source; may be repeated
    #[arg(long, value_name = "NAME")]
    sub_tool: Vec<String>,
}

impl ToolFlags {
    pub(super) fn is_unset(&self) -> bool {
        let CommonToolFlags { mcp, allow_tool } = &self.common;
        [&self.tool, &self.deny_tool, &self.sub_tool, mcp, allow_tool].iter().all(|flags| flags.is_empty())
    }
}

/// Tools of a question or of a resumed run.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CommonToolFlags {
    /// Let the model use the tools of an MCP server: a command or a URL; may be repeated
    #[arg(long, value_name = "SERVER")]
    mcp: Vec<String>,
    /// Let a tool, or all of a source, change something without asking; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_tool: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Show the tools of your settings as a model sees them
    List {
        /// Also those of an MCP server: a command or a URL; may be repeated
        #[arg(long, value_name = "SERVER")]
        mcp: Vec<String>,
    },
    /// Call a tool
    Call {
        /// Its name, as `spelunk tools list` shows it
        name: String,
        /// Its arguments: a JSON object
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
        /// Use an MCP server: a command or a URL; may be repeated
        #[arg(long, value_name = "SERVER")]
        mcp: Vec<String>,
    },
}

pub(crate) async fn tools(app: &App, command: ToolsCommand) -> CliResult {
    let all = || app.settings.tools.keys().cloned();
    match command {
        ToolsCommand::List { mcp } => {
            let wanted = WantedTools { names: all().collect(), mcp, ..WantedTools::default() };
            let tools = tools::open(&app.settings, &app.environment, &wanted, Complaints::Shown).await?;
            if tools.is_empty() && !app.json {
                app.say("no tools are configured; add `[tools.NAME]` to your settings, or pass a server with `--mcp`");
            }
            let shown: String = tools.all().iter().map(|tool| listed(tool) + "\n").collect();
            print_result(app, &tools.all().iter().map(listed_json).collect(), &shown);
            Ok(ExitCode::SUCCESS)
        }
        ToolsCommand::Call { name, arguments, mcp } => {
            let names = all().filter(|source| name.starts_with(&function_name(source))).collect();
            let wanted = WantedTools { names, mcp, ..WantedTools::default() };
            let tools = tools::open(&app.settings, &app.environment, &wanted, Complaints::Shown).await?;
            let Some(tool) = tools.all().iter().find(|tool| tool.name == name) else {
                let message = format!("there is no tool `{name}`");
                return Err(Usage::new(message, "list them with `spelunk tools list`").into());
            };
            let arguments: Value =
                serde_json::from_str(&arguments).ok().filter(Value::is_object).ok_or_else(|| {
                    Usage::new("the arguments are not a JSON object", r#"such as '{"query": "text"}'"#)
                })?;
            let time = Duration::from_millis(tool.timeout_ms);
            let called = tokio::time::timeout(time, (tool.call)(arguments)).await;
            let value = called
                .unwrap_or_else(|_| {
                    Err(ToolError::Unknown(format!("no result within {} ms", tool.timeout_ms)))
                })
                .map_err(|error| {
                    let (ToolError::Failed(why) | ToolError::Unknown(why)) = error;
                    ToolsError::Failed { name, why }
                })?;
            print_line(match value.as_str() {
                _ if app.json => value.to_string(),
                Some(text) => text.to_owned(),
                None => serde_json::to_string_pretty(&value).unwrap_or_default(),
            });
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn listed(tool: &ExternalTool) -> String {
    let consent = match tool.effect {
        EffectClass::Read => "",
        EffectClass::Repeatable | EffectClass::Once if tool.is_allowed => ", allowed",
        EffectClass::Repeatable | EffectClass::Once => ", needs consent",
    };
    let listed =
        format!("{}  [{}{consent}]\n    {}", tool.signature(), tool.effect, escaped(&tool.summary()));
    listed.trim_end().to_owned()
}

fn listed_json(tool: &ExternalTool) -> Value {
    json!({
        "name": tool.name,
        "source": tool.source,
        "description": tool.description,
        "schema": tool.schema,
        "effect": tool.effect.name(),
        "timeout_ms": tool.timeout_ms,
        "calls_max": tool.calls_max,
        "allowed": tool.is_allowed,
    })
}

pub(super) async fn open(app: &App, flags: &ToolFlags) -> Result<(), Failure> {
    let ToolFlags { tool, common, deny_tool, sub_tool } = flags.clone();
    let mut wanted = WantedTools::of_settings(&app.settings);
    wanted.names.extend(tool);
    (wanted.mcp, wanted.allow, wanted.deny) = (common.mcp, common.allow_tool, deny_tool);
    wanted.sub = sub_tool;
    open_wanted(app, &wanted, BTreeMap::new()).await
}

/// Opens the tools that a server's questions may use. Nobody can be asked for consent.
pub(super) async fn open_for_server(app: &App) -> Result<(), Failure> {
    let wanted = WantedTools::of_settings(&app.settings);
    app.use_tools(tools::open(&app.settings, &app.environment, &wanted, Complaints::Hidden).await?);
    Ok(())
}

pub(super) async fn open_again(
    app: &App,
    flags: &CommonToolFlags,
    sources: impl IntoIterator<Item = String>,
    decisions: &[String],
) -> Result<(), Failure> {
    let decisions = decisions.iter().map(|text| decision(text)).collect::<Result<_, Usage>>()?;
    let CommonToolFlags { mcp, allow_tool } = flags.clone();
    let names = sources.into_iter().filter(|name| !name.starts_with("mcp")).collect();
    let wanted = WantedTools { names, mcp, allow: allow_tool, ..WantedTools::default() };
    open_wanted(app, &wanted, decisions).await
}

fn decision(text: &str) -> Result<(EffectId, EffectDecision), Usage> {
    let read = || {
        let (id, word) = text.split_once('=')?;
        let decision = match word {
            "done" => EffectDecision::Done,
            "again" => EffectDecision::Again,
            _ => return None,
        };
        Some((id.parse().ok()?, decision))
    };
    read().ok_or_else(|| Usage {
        message: format!("`--tool {text}` is not a valid decision"),
        hint: "name the call and the decision: `--tool '0!3=done'` or `--tool '0!3=again'`".into(),
    })
}

async fn open_wanted(
    app: &App,
    wanted: &WantedTools,
    decisions: BTreeMap<EffectId, EffectDecision>,
) -> Result<(), Failure> {
    let mut tools = tools::open(&app.settings, &app.environment, wanted, Complaints::Hidden).await?;
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        tools = tools.with_consent(consent());
    }
    app.use_tools(tools.with_decisions(decisions));
    Ok(())
}

fn consent() -> ConsentFn {
    let turn = Arc::new(Mutex::new(()));
    Arc::new(move |asked| {
        let shown: String = asked.arguments.to_string().chars().take(SHOWN_CHARS_MAX).collect();
        let question = format!("{} wants to run with {shown}", asked.tool);
        let (turn, (tell, told)) = (Arc::clone(&turn), tokio::sync::oneshot::channel());
        // A thread and not a task: a task would keep the program from exiting while nobody answers.
        std::thread::spawn(move || {
            let _turn = turn.lock();
            // The run may have ended meanwhile.
            let _unheard = tell.send(is_confirmed(&format!("{question}\nAllow it?")));
        });
        Box::pin(async move { told.await.unwrap_or(false) })
    })
}

/// Asks on the terminal; anything but a yes means no.
pub(super) fn is_confirmed(question: &str) -> bool {
    pause(true);
    let mut stderr = io::stderr().lock();
    drop(write!(stderr, "\r\u{1b}[J{} [y/N] ", escaped(question)));
    drop(stderr.flush());
    drop(stderr);
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    pause(false);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
