//! The user's tools: which sources a question uses, how they are started, and who is asked before a
//! tool changes something. The engine calls and records them.

mod http;
mod mcp;
mod program;

use std::collections::BTreeMap;
use std::process::Stdio;

use spelunk_engine::{ExternalTool, ExternalTools};
use spelunk_types::{EffectClass, ErrorCode, Explain};
use tokio::process::Command;

use crate::config::{Settings, ToolCommand, ToolProvider, ToolSource, nearest};
use crate::env::Environment;
use crate::failure::{Result, Usage};

#[derive(Debug, Clone, Default)]
pub struct WantedTools {
    /// Names from the settings.
    pub names: Vec<String>,
    /// MCP servers: commands or URLs.
    pub mcp: Vec<String>,
    /// Tools, or whole sources, that may change something without asking.
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    /// Tools, or whole sources, that child frames may use too.
    pub sub: Vec<String>,
}

impl WantedTools {
    pub fn of_settings(settings: &Settings) -> Self {
        Self { names: settings.tools_on.clone(), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Complaints {
    /// It would be mixed with the output of a question.
    Hidden,
    Shown,
}

#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ToolsError {
    #[error("the tool `{name}` cannot be used: {why}")]
    Unavailable { name: String, why: String },
    #[error("`{name}` failed: {why}")]
    Failed { name: String, why: String },
}

impl Explain for ToolsError {
    fn code(&self) -> ErrorCode {
        ErrorCode::ToolUnavailable
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unavailable { .. } => "see `spelunk tools list`, or leave it out".to_owned(),
            Self::Failed { .. } => return None,
        })
    }
}

/// Starts the sources and lists their tools. The sources stop when the tools are dropped.
pub async fn open(
    settings: &Settings,
    environment: &Environment,
    wanted: &WantedTools,
    complaints: Complaints,
) -> Result<ExternalTools> {
    let mut tools = Vec::new();
    for source in sources(settings, wanted)? {
        tools.extend(open_source(&source, environment, complaints).await?);
    }
    let is_named = |names: &[String], tool: &ExternalTool| {
        names.iter().any(|name| *name == tool.name || *name == tool.source)
    };
    for name in wanted.allow.iter().chain(&wanted.deny).chain(&wanted.sub) {
        if !tools.iter().any(|tool| is_named(std::slice::from_ref(name), tool)) {
            let known = tools.iter().map(|tool| tool.name.as_str());
            return Err(unknown(name, known).into());
        }
    }
    tools.retain(|tool| !is_named(&wanted.deny, tool));
    for tool in &mut tools {
        tool.is_allowed |= is_named(&wanted.allow, tool);
        tool.in_children = is_named(&wanted.sub, tool) || is_named(&settings.sub_tools_on, tool);
    }
    Ok(ExternalTools::new(tools)?)
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Usage {
    let listed: Vec<String> = known.clone().map(|name| format!("`{name}`")).collect();
    let hint = match nearest(name, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if listed.is_empty() => "define it with `[tools.NAME]` in your settings".to_owned(),
        None => format!("the tools are {}", listed.join(", ")),
    };
    Usage { message: format!("there is no tool `{name}`"), hint }
}

fn sources(settings: &Settings, wanted: &WantedTools) -> Result<Vec<ToolSource>, Usage> {
    let mut sources = BTreeMap::new();
    for name in &wanted.names {
        let known = settings.tools.keys().map(String::as_str);
        let source = settings.tools.get(name).ok_or_else(|| unknown(name, known))?;
        sources.insert(name, source.clone());
    }
    let mut sources: Vec<ToolSource> = sources.into_values().collect();
    for (idx, text) in wanted.mcp.iter().enumerate() {
        let name = if idx == 0 { "mcp".to_owned() } else { format!("mcp{}", idx + 1) };
        sources.push(ToolSource::of_flag(name, text).ok_or_else(|| Usage {
            message: "`--mcp` needs a command or a URL".into(),
            hint: "such as `--mcp 'npx some-server'`".into(),
        })?);
    }
    Ok(sources)
}

async fn open_source(
    source: &ToolSource,
    environment: &Environment,
    complaints: Complaints,
) -> Result<Vec<ExternalTool>, ToolsError> {
    let unavailable = |why: String| ToolsError::Unavailable { name: source.name.clone(), why };
    let transport = match &source.provider {
        ToolProvider::Program { command, description, schema } => {
            let schema = if schema.is_empty() { "{}" } else { schema };
            let schema = serde_json::from_str(schema)
                .map_err(|error| unavailable(format!("its schema is not JSON: {error}")))?;
            let call = program::calls(command.clone(), environment.clone(), complaints);
            let name = function_name(&source.name);
            return Ok(vec![external(source, name, description.clone(), schema, EffectClass::Once, call)]);
        }
        ToolProvider::Command(command) => {
            mcp::Transport::Command(self::command(command, environment, complaints))
        }
        ToolProvider::Url(url) => mcp::Transport::Url(url.clone()),
    };
    mcp::open(source, transport).await.map_err(unavailable)
}

/// The command with the variables that it may see, which exclude model keys.
fn command(command: &ToolCommand, environment: &Environment, complaints: Complaints) -> Command {
    const USUAL: [&str; 12] = [
        "HOME",
        "LANG",
        "LC_ALL",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
    ];
    let mut process = Command::new(&command.program);
    process.args(&command.arguments).env_clear().kill_on_drop(true);
    for name in USUAL.into_iter().chain(command.env.iter().map(String::as_str)) {
        if let Some(value) = environment.path(name) {
            process.env(name, value);
        }
    }
    process.stdin(Stdio::piped()).stdout(Stdio::piped());
    process.stderr(if complaints == Complaints::Shown { Stdio::inherit() } else { Stdio::null() });
    process
}

fn external(
    source: &ToolSource,
    name: String,
    description: String,
    schema: serde_json::Value,
    said: EffectClass,
    call: spelunk_engine::ToolFn,
) -> ExternalTool {
    ExternalTool {
        name,
        source: source.name.clone(),
        description,
        schema,
        effect: source.effect.unwrap_or(said),
        timeout_ms: source.timeout_ms,
        calls_max: source.calls_max,
        is_allowed: source.is_allowed,
        in_children: false,
        call,
    }
}

/// The name as a Python identifier.
pub fn function_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
