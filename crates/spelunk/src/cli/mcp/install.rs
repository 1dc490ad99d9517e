//! `spelunk mcp --install`: adds the server to a client's settings and keeps everything else. An existing entry that
//! differs is replaced only with `--force`.
#![expect(
    clippy::disallowed_methods,
    reason = "the settings of another program are a file that the user names"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use spelunk_app::env::HOME;

use super::McpArgs;
use crate::cli::{App, CliResult, Usage, no_such, print};

const NAME: &str = "spelunk";
const FILE_BYTES_MAX: u64 = 4 << 20;

struct Client {
    name: &'static str,
    place: Place,
    form: Form,
}

#[derive(Clone, Copy)]
enum Place {
    /// In the project, where the client also starts its servers.
    Project(&'static str),
    /// In the home directory; the client starts its servers in the project.
    Home(&'static str),
    /// In the platform's settings directory; the client starts its servers anywhere.
    Settings(&'static str),
    /// In the home directory; the client starts its servers anywhere.
    HomeAnywhere(&'static str),
}

#[derive(Clone, Copy)]
enum Form {
    /// JSON with the servers under this key.
    Json(&'static str),
    /// The same, with the transport in each entry.
    Stdio(&'static str),
    /// Zed's JSON, where each server names its source.
    Zed,
    /// The JSON of opencode, where the command is one list.
    OpenCode,
    /// TOML with a table per server.
    Toml,
}

const CLINE: &str = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
const CLIENTS: [Client; 10] = [
    client("claude-code", Place::Project(".mcp.json"), Form::Json("mcpServers")),
    client("claude-desktop", Place::Settings("Claude/claude_desktop_config.json"), Form::Json("mcpServers")),
    client("cursor", Place::Project(".cursor/mcp.json"), Form::Json("mcpServers")),
    client("vscode", Place::Project(".vscode/mcp.json"), Form::Stdio("servers")),
    client("windsurf", Place::HomeAnywhere(".codeium/windsurf/mcp_config.json"), Form::Json("mcpServers")),
    client("zed", Place::HomeAnywhere(".config/zed/settings.json"), Form::Zed),
    client("codex", Place::Home(".codex/config.toml"), Form::Toml),
    client("gemini", Place::Project(".gemini/settings.json"), Form::Json("mcpServers")),
    client("opencode", Place::Project("opencode.json"), Form::OpenCode),
    client("cline", Place::Settings(CLINE), Form::Json("mcpServers")),
];

const fn client(name: &'static str, place: Place, form: Form) -> Client {
    Client { name, place, form }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    Kept,
    Replaced,
}

pub(super) fn install(app: &App, client: &str, flags: &McpArgs) -> CliResult {
    let client = CLIENTS
        .iter()
        .find(|known| known.name == client)
        .ok_or_else(|| no_such("client", client, &CLIENTS.map(|known| known.name)))?;
    let entry = Entry::new(app, client.place, flags)?;
    if flags.print {
        let fresh = merged(client.form, None, &entry, Other::Kept).ok().flatten();
        print(&fresh.unwrap_or_default());
        return Ok(ExitCode::SUCCESS);
    }
    let (path, shown) = place(app, client.place)?;
    let left_alone = |what: String| Usage {
        message: format!("`{shown}` was not changed: {what}"),
        hint: format!(
            "add the entry by hand: `spelunk mcp --install {} --print` prints it; `--force` replaces an existing entry",
            client.name
        ),
    };
    let before = read(&path).map_err(|error| left_alone(format!("it cannot be read: {error}")))?;
    let other = if flags.force { Other::Replaced } else { Other::Kept };
    match merged(client.form, before.as_deref(), &entry, other).map_err(left_alone)? {
        None => app.say(&format!("`{NAME}` is already in `{shown}`")),
        Some(text) => {
            write(&path, &text).map_err(|error| left_alone(format!("it cannot be written: {error}")))?;
            app.say(&format!("added `{NAME}` to `{shown}`"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

struct Entry {
    command: String,
    args: Vec<String>,
}

impl Entry {
    /// With absolute paths: a client may start the server in any directory and without the user's `PATH`.
    fn new(app: &App, place: Place, flags: &McpArgs) -> Result<Self, Usage> {
        let program = std::env::current_exe().map_err(|error| {
            Usage::new(format!("could not find the path of this program: {error}"), "add the entry by hand")
        })?;
        let is_anywhere = matches!(place, Place::Settings(_) | Place::HomeAnywhere(_));
        let mut roots = flags.roots.clone();
        if roots.is_empty() && is_anywhere {
            roots.push(".".to_owned());
        }
        let mut args = vec!["mcp".to_owned()];
        for root in roots {
            let path = app.current_dir.join(&root);
            let path = path.canonicalize().unwrap_or(path);
            args.extend(["--root".to_owned(), path.to_string_lossy().into_owned()]);
        }
        if flags.tools != McpArgs::TOOLS {
            args.extend(["--tools".to_owned(), flags.tools.clone()]);
        }
        Ok(Self { command: program.to_string_lossy().into_owned(), args })
    }

    fn json(&self, form: Form) -> Value {
        let Self { command, args } = self;
        match form {
            Form::Json(_) | Form::Toml => json!({ "command": command, "args": args }),
            Form::Stdio(_) => json!({ "type": "stdio", "command": command, "args": args }),
            Form::Zed => json!({ "source": "custom", "command": command, "args": args }),
            Form::OpenCode => {
                let command: Vec<&String> = std::iter::once(command).chain(args).collect();
                json!({ "type": "local", "command": command, "enabled": true })
            }
        }
    }
}

fn place(app: &App, place: Place) -> Result<(PathBuf, String), Usage> {
    let file = match place {
        Place::Project(file) => return Ok((app.current_dir.join(file), file.to_owned())),
        Place::Home(file) | Place::HomeAnywhere(file) => file.to_owned(),
        Place::Settings(file) if cfg!(target_os = "macos") => format!("Library/Application Support/{file}"),
        Place::Settings(file) if cfg!(windows) => format!("AppData/Roaming/{file}"),
        Place::Settings(file) => format!(".config/{file}"),
    };
    let home = app
        .environment
        .text(HOME)
        .ok_or_else(|| Usage::new("the home directory is unknown", "set HOME, or use `--print`"))?;
    Ok((Path::new(home).join(&file), format!("~/{file}")))
}

/// `None` if the file does not exist.
fn read(path: &Path) -> io::Result<Option<String>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(file) if file.len() > FILE_BYTES_MAX => Err(io::Error::other("it is too long")),
        Ok(_) => std::fs::read_to_string(path).map(Some),
    }
}

/// Atomic: a client that reads the file meanwhile sees the old content or the new one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    // Keeps a symbolic link and writes its target.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let staged = path.with_extension("spelunk-new");
    std::fs::write(&staged, text)?;
    if let Ok(before) = std::fs::metadata(&path) {
        std::fs::set_permissions(&staged, before.permissions())?;
    }
    std::fs::rename(&staged, &path)
}

/// The settings with the server added; `None` if it is already there.
fn merged(form: Form, before: Option<&str>, entry: &Entry, other: Other) -> Result<Option<String>, String> {
    let before = before.filter(|text| !text.trim().is_empty());
    let servers = match form {
        Form::Json(servers) | Form::Stdio(servers) => servers,
        Form::Zed => "context_servers",
        Form::OpenCode => "mcp",
        Form::Toml => return merged_toml(before.unwrap_or_default(), entry, other),
    };
    merged_json(servers, before, entry.json(form), other)
}

fn has_other() -> String {
    format!("it has a different entry `{NAME}`")
}

fn merged_json(
    servers: &str,
    before: Option<&str>,
    entry: Value,
    other: Other,
) -> Result<Option<String>, String> {
    let parsed = before.map(serde_json::from_str::<Value>).transpose();
    let mut settings = match parsed.map_err(|error| format!("it is not plain JSON: {error}"))? {
        None => Map::new(),
        Some(Value::Object(settings)) => settings,
        Some(_) => return Err("it is not an object".into()),
    };
    let all = settings.entry(servers).or_insert_with(|| json!({}));
    let all = all.as_object_mut().ok_or_else(|| format!("`{servers}` is not an object"))?;
    match all.get(NAME) {
        Some(known) if *known == entry => return Ok(None),
        Some(_) if other == Other::Kept => return Err(has_other()),
        Some(_) | None => drop(all.insert(NAME.to_owned(), entry)),
    }
    Ok(Some(format!("{:#}\n", Value::Object(settings))))
}

fn merged_toml(before: &str, entry: &Entry, other: Other) -> Result<Option<String>, String> {
    let parse = |text: &str| text.parse::<toml::Table>().map_err(|error| format!("it is not TOML: {error}"));
    let settings = parse(before)?;
    let args = toml::Value::Array(entry.args.iter().map(|arg| toml::Value::from(arg.as_str())).collect());
    let command = toml::Value::from(entry.command.as_str());
    let known = settings.get("mcp_servers").and_then(|servers| servers.get(NAME));
    let before = match known {
        Some(known) if known.get("command") == Some(&command) && known.get("args") == Some(&args) => {
            return Ok(None);
        }
        Some(_) if other == Other::Kept => return Err(has_other()),
        Some(_) => without_entry(before),
        None => before.to_owned(),
    };
    let gap = if before.is_empty() { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{end}{gap}[mcp_servers.{NAME}]\ncommand = {command}\nargs = {args}\n");
    // An inline table cannot be extended.
    parse(&text).map_err(|_| "its servers have a form that cannot be edited automatically".to_owned())?;
    Ok(Some(text))
}

fn without_entry(text: &str) -> String {
    let (own, below) = (format!("[mcp_servers.{NAME}]"), format!("[mcp_servers.{NAME}."));
    let (mut kept, mut is_own) = (String::new(), false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            is_own = line.trim_start().starts_with(&own) || line.trim_start().starts_with(&below);
        }
        if !is_own {
            kept.push_str(line);
        }
    }
    kept.trim_end().to_owned()
}
