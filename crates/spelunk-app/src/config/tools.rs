//! The user's tools: `[tools.jira]` in the user's own settings, with the program or server that
//! provides them. A project file cannot define or change any.

use std::collections::BTreeMap;

use spelunk_types::EffectClass;

use super::error::{ConfigError, Result};
use super::group::{Group, GroupKind};
use super::layer::Layer;
use super::table::{Display, Kind, TOOLS, settings, unset};
use super::value::{Value, WHOLE_MAX};

/// What a command is: an MCP server on standard input and output, or a single tool that reads its
/// arguments there and writes its result, both as JSON.
const KINDS: &[&str] = &["mcp", PROGRAM];
const PROGRAM: &str = "program";

const TIMEOUT_MS: u64 = 60_000;
const CALLS_MAX: u64 = 100;

pub(super) fn kind() -> GroupKind {
    let text = |text: &str| Value::Text(text.to_owned());
    let list = |words: &[&str]| Value::List(words.iter().map(|word| (*word).to_owned()).collect());
    let count = Kind::Whole { min: 1, max: WHOLE_MAX };
    GroupKind {
        section: TOOLS,
        what: "tool",
        doc: "Tools of your own, each under a name of your choice: `--tool jira`, or `ask.tools`. Example:",
        example: "jira",
        reserved: vec!["mcp"],
        reserved_hint: "not `mcp`",
        fields: settings! {
            /// The program and its arguments; it runs without a shell.
            "tool.command" = unset(Kind::List, list(&["jira-mcp", "--read-only"])).own();
            /// The URL of an MCP server, such as `http://127.0.0.1:8080/mcp`, instead of a command.
            "tool.url" = unset(Kind::Text, text("")).own().shown_as(Display::Address);
            /// What the command is: an MCP server, or a program that is one tool.
            "tool.kind" = unset(Kind::Choice(KINDS), text("mcp")).own();
            /// The description of a program, for the model.
            "tool.description" = unset(Kind::Text, text("Finds tickets.")).own();
            /// The JSON Schema of the arguments of a program.
            "tool.schema" = unset(Kind::Text, text("{\"type\": \"object\"}")).own();
            /// Environment variables that the command may see, besides `PATH`, `HOME` and the like.
            "tool.env" = unset(Kind::List, list(&["JIRA_TOKEN"])).own();
            /// Whether its calls only read, may be repeated, or must happen at most once; defaults to what an MCP
            /// server declares for each tool, else `once`.
            "tool.effect" = unset(Kind::Choice(EFFECTS), text("read")).own();
            /// Maximum duration of a call, and of the start of a server; defaults to 60000.
            "tool.timeout_ms" = unset(count, Value::Whole(TIMEOUT_MS)).own();
            /// Maximum number of calls of each tool in a run; defaults to 100.
            "tool.calls_max" = unset(count, Value::Whole(CALLS_MAX)).own();
            /// Whether its tools may change something without asking.
            "tool.allow" = unset(Kind::YesNo, Value::YesNo(true)).own();
        },
    }
}

const EFFECTS: &[&str] = &["read", "repeatable", "once"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSource {
    pub name: String,
    pub provider: ToolProvider,
    /// The class of every call, if the user sets it.
    pub effect: Option<EffectClass>,
    pub timeout_ms: u64,
    pub calls_max: u64,
    /// Whether its tools may change something without asking.
    pub is_allowed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolProvider {
    /// An MCP server that this program starts.
    Command(ToolCommand),
    /// An MCP server at a URL.
    Url(String),
    /// A program that is one tool.
    Program { command: ToolCommand, description: String, schema: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCommand {
    pub program: String,
    pub arguments: Vec<String>,
    /// Variables that it may see besides the standard ones.
    pub env: Vec<String>,
}

impl ToolCommand {
    fn of(mut words: Vec<String>, env: Vec<String>) -> Option<Self> {
        if words.is_empty() {
            return None;
        }
        let program = words.remove(0);
        Some(Self { program, arguments: words, env })
    }
}

impl ToolSource {
    /// The MCP server that `--mcp` names: a URL or the words of a command. Nothing is expanded.
    pub fn of_flag(name: String, text: &str) -> Option<Self> {
        let provider = if text.starts_with("http://") || text.starts_with("https://") {
            ToolProvider::Url(text.to_owned())
        } else {
            let words = text.split_whitespace().map(str::to_owned).collect();
            ToolProvider::Command(ToolCommand::of(words, Vec::new())?)
        };
        let (timeout_ms, calls_max) = (TIMEOUT_MS, CALLS_MAX);
        Some(Self { name, provider, effect: None, timeout_ms, calls_max, is_allowed: false })
    }
}

pub(super) fn resolve(layer: &Layer) -> Result<BTreeMap<String, ToolSource>> {
    layer.groups(TOOLS).map(|group| Ok((group.name.clone(), source(group)?))).collect()
}

fn source(group: &Group) -> Result<ToolSource> {
    let entries = &group.entries;
    let text = |key: &str| entries.text(key).unwrap_or_default().to_owned();
    let command = ToolCommand::of(entries.list("tool.command").to_vec(), entries.list("tool.env").to_vec());
    let is_program = entries.text("tool.kind") == Some(PROGRAM);
    let provider = match (command, entries.text("tool.url")) {
        (Some(command), None) if is_program => {
            let (description, schema) = (text("tool.description"), text("tool.schema"));
            ToolProvider::Program { command, description, schema }
        }
        (Some(command), None) => ToolProvider::Command(command),
        (None, Some(url)) if !is_program => ToolProvider::Url(url.to_owned()),
        _ => {
            let (name, origin) = (group.name.clone(), group.origin.clone());
            return Err(ConfigError::ToolWithoutProvider { name, origin });
        }
    };
    Ok(ToolSource {
        name: group.name.clone(),
        provider,
        effect: entries.text("tool.effect").and_then(|word| word.parse().ok()),
        timeout_ms: entries.whole("tool.timeout_ms").unwrap_or(TIMEOUT_MS),
        calls_max: entries.whole("tool.calls_max").unwrap_or(CALLS_MAX),
        is_allowed: entries.yes_no("tool.allow").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
