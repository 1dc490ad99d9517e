//! `spelunk mcp --install`: adds the server to a client's settings and keeps everything else. An existing entry that
//! differs is never overwritten.
#![expect(
    clippy::disallowed_methods,
    reason = "the settings of another program are a file that the user names"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use spelunk_app::app::App;
use spelunk_app::env::HOME;
use spelunk_app::failure::{Failure, Usage};

use crate::cli::app::{no_such, print};

const NAME: &str = "spelunk";
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A client and the location of its settings.
struct Client {
    name: &'static str,
    /// Relative to the current directory, or to the home directory.
    file: &'static str,
    is_at_home: bool,
    form: Form,
}

/// The format of its settings.
#[derive(Clone, Copy)]
enum Form {
    /// JSON with the servers under this key.
    Json(&'static str),
    /// TOML with a table per server.
    Toml,
}

const CLIENTS: [Client; 5] = [
    Client { name: "claude-code", file: ".mcp.json", is_at_home: false, form: Form::Json("mcpServers") },
    Client { name: "cursor", file: ".cursor/mcp.json", is_at_home: false, form: Form::Json("mcpServers") },
    Client { name: "vscode", file: ".vscode/mcp.json", is_at_home: false, form: Form::Json("servers") },
    Client {
        name: "gemini",
        file: ".gemini/settings.json",
        is_at_home: false,
        form: Form::Json("mcpServers"),
    },
    Client { name: "codex", file: ".codex/config.toml", is_at_home: true, form: Form::Toml },
];

pub(super) fn install(
    app: &App,
    client: &str,
    roots: &[String],
    only_print: bool,
) -> Result<ExitCode, Failure> {
    let client = CLIENTS
        .iter()
        .find(|known| known.name == client)
        .ok_or_else(|| no_such("client", client, &CLIENTS.map(|known| known.name)))?;
    let args: Vec<&str> =
        std::iter::once("mcp").chain(roots.iter().flat_map(|root| ["--root", root.as_str()])).collect();
    if only_print {
        let fresh = merged(client.form, None, &args).ok().flatten();
        print(&fresh.unwrap_or_default());
        return Ok(ExitCode::SUCCESS);
    }
    let (path, shown) = place(app, client)?;
    let left_alone = |what: String| Usage {
        message: format!("`{shown}` is left alone: {what}"),
        hint: format!("put the entry in by hand; `spelunk mcp --install {} --print` shows it", client.name),
    };
    let before = read(&path).map_err(|error| left_alone(format!("it cannot be read: {error}")))?;
    match merged(client.form, before.as_deref(), &args).map_err(left_alone)? {
        None => app.say(&format!("`{NAME}` is in `{shown}` already")),
        Some(text) => {
            write(&path, &text).map_err(|error| left_alone(format!("it cannot be written: {error}")))?;
            app.say(&format!("added `{NAME}` to `{shown}`"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn place(app: &App, client: &Client) -> Result<(PathBuf, String), Usage> {
    if !client.is_at_home {
        return Ok((app.current_dir.join(client.file), client.file.to_owned()));
    }
    let home = app.environment.text(HOME).ok_or_else(|| Usage {
        message: "there is no home directory".into(),
        hint: "set HOME, or use `--print`".into(),
    })?;
    Ok((Path::new(home).join(client.file), format!("~/{}", client.file)))
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

/// Atomic: a client that reads it in the meantime sees the old file or the new one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    // A link is kept: its target is written.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let staged = path.with_extension("spelunk-new");
    std::fs::write(&staged, text)?;
    if let Ok(before) = std::fs::metadata(&path) {
        std::fs::set_permissions(&staged, before.permissions())?;
    }
    std::fs::rename(&staged, &path)
}

/// The settings with the server added; `None` if it is already there.
fn merged(form: Form, before: Option<&str>, args: &[&str]) -> Result<Option<String>, String> {
    let before = before.filter(|text| !text.trim().is_empty());
    match form {
        Form::Json(servers) => merged_json(servers, before, args),
        Form::Toml => merged_toml(before.unwrap_or_default(), args),
    }
}

fn other() -> String {
    format!("it has another entry `{NAME}`")
}

fn merged_json(servers: &str, before: Option<&str>, args: &[&str]) -> Result<Option<String>, String> {
    let mut entry = json!({ "command": NAME, "args": args });
    if servers == "servers" {
        entry["type"] = json!("stdio");
    }
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
        Some(_) => return Err(other()),
        None => drop(all.insert(NAME.to_owned(), entry)),
    }
    Ok(Some(format!("{:#}\n", Value::Object(settings))))
}

fn merged_toml(before: &str, args: &[&str]) -> Result<Option<String>, String> {
    let parse = |text: &str| text.parse::<toml::Table>().map_err(|error| format!("it is not TOML: {error}"));
    let settings = parse(before)?;
    let args = toml::Value::Array(args.iter().map(|arg| toml::Value::from(*arg)).collect());
    let known = settings.get("mcp_servers").and_then(|servers| servers.get(NAME));
    if let Some(known) = known {
        let is_same = known.get("command").and_then(toml::Value::as_str) == Some(NAME)
            && known.get("args") == Some(&args);
        return if is_same { Ok(None) } else { Err(other()) };
    }
    let gap = if before.is_empty() { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{end}{gap}[mcp_servers.{NAME}]\ncommand = \"{NAME}\"\nargs = {args}\n");
    // An inline table cannot be extended.
    parse(&text).map_err(|_| "its servers are written in a form that cannot be added to".to_owned())?;
    Ok(Some(text))
}
