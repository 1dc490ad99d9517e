//! `spelunk model`: the available models, their roles and prices, whether they work, and models that run inside this
//! program. `list` sends nothing to a provider; servers on this machine are queried for their models.

mod hosted;
mod test;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use spelunk_app::local::{BUILD_COMMAND, IS_BUILT_IN, LocalModel, ModelFolder, read_header};
use spelunk_app::provider::{KeyState, ListedModel, LocalServer, configured_models, local_servers};
use spelunk_app::pull::{Origin, PIPS, PullError, PullRequest, Pulled, Puller};
use spelunk_app::units::{bytes, dollars, head};
use spelunk_model::{ChatForm, GgufHeader, Price, local_catalogue};

use super::{App, CliResult, ModelFlags, Usage, print_data, print_result};

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the configured models with their roles, prices and keys, and the models of local servers
    List {
        /// List every hosted model of the catalogue instead
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        model: ModelFlags,
    },
    /// Show the window, the prices and the abilities of a hosted model
    Show {
        /// A NAME from `[models.NAME]`, PROVIDER/NAME, or the NAME of a model at any provider
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Download the newest catalogue of hosted models: windows, prices, abilities, defaults
    Update,
    /// Send one short question and report what the model supports; costs a fraction of a cent
    Test {
        /// A NAME from `[models.NAME]`, or PROVIDER/NAME [default: the models of all roles]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        model: ModelFlags,
    },
    /// Install a model that runs inside this program, from a hub, from packages or from a file
    Pull(PullArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// A known name, OWNER/REPOSITORY/FILE.gguf on the hub, or a GGUF file [default: list the known names]
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    /// The name to install it under
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The source: `hub` or `packages` [default: the hub, or packages if the hub does not respond]
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// Copy the file instead of linking to it
    #[arg(long)]
    copy: bool,
}

impl ModelCommand {
    /// The flags that choose a model, if the command has them.
    pub(super) fn flags(&self) -> Option<&ModelFlags> {
        match self {
            Self::List { model, .. } | Self::Test { model, .. } => Some(model),
            Self::Show { .. } | Self::Update | Self::Pull(_) => None,
        }
    }
}

pub(crate) async fn model(app: &App, command: ModelCommand) -> CliResult {
    match command {
        ModelCommand::List { all: true, .. } => Ok(hosted::list(app)),
        ModelCommand::List { all: false, .. } => Ok(list(app).await),
        ModelCommand::Show { name } => hosted::show(app, &name),
        ModelCommand::Update => hosted::update(app),
        ModelCommand::Test { name, .. } => test::test(app, name.as_deref()).await,
        ModelCommand::Pull(args) => pull(app, args).await,
    }
}

const MODELS_MAX: usize = 20;

async fn list(app: &App) -> ExitCode {
    let surveyed = configured_models(&app.settings, &app.environment);
    let local = if app.settings.model.probe_local { local_servers().await } else { Vec::new() };
    let folder = ModelFolder::of(&app.settings.local, &app.environment);
    let files = folder.map(|folder| folder.all()).unwrap_or_default();
    print_result(app, &shown_json(&surveyed, &local, &files), &shown_text(&surveyed, &local, &files));
    ExitCode::SUCCESS
}

fn shown_text(surveyed: &[ListedModel], local: &[LocalServer], files: &[LocalModel]) -> String {
    let mut text = String::new();
    let width = surveyed.iter().map(|model| model.name.chars().count()).max().unwrap_or_default();
    let asked = surveyed.iter().map(|model| model_text(model).chars().count()).max().unwrap_or_default();
    for model in surveyed {
        let roles = if model.roles.is_empty() { "no role".to_owned() } else { model.roles.join(", ") };
        text += &format!(
            "{:<width$}  {:<asked$}  {roles} · {} · {}\n",
            model.name,
            model_text(model),
            price_text(model.price),
            key_text(&model.key)
        );
        for note in notes(model) {
            text += &format!("{:<width$}  {note}\n", "");
        }
    }
    for server in local {
        let names: Vec<&str> = server.models.iter().take(MODELS_MAX).map(String::as_str).collect();
        let more = server.models.len().saturating_sub(MODELS_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!("{} at {}: {}{more}\n", server.name, server.base_url, head(&names.join(", "), 400));
    }
    for file in files {
        text += &format!("local:{}  {}\n", file.name, file_text(file));
    }
    if surveyed.is_empty() && local.is_empty() && files.is_empty() {
        text += "No model is configured: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or add `[models.NAME]` to spelunk.toml.\n";
    }
    text
}

/// The header of a file, and whether the model can be used.
fn file_text(file: &LocalModel) -> String {
    let header = match &file.header {
        Ok(header) => header,
        Err(error) => return format!("{}, not a model: {error}", bytes(file.bytes)),
    };
    let name = header.name.as_deref().unwrap_or(&header.architecture);
    let window = header.context_tokens.map(|n| format!(", {n} tokens of context")).unwrap_or_default();
    let usable = match (IS_BUILT_IN, is_known_form(header)) {
        (_, false) => " · its chat template is not supported: serve it with llama.cpp",
        (false, true) => " · this program was built without local models",
        (true, true) => " · free · inside this program",
    };
    format!("{}, {}{window}{usable}", head(name, 80), bytes(file.bytes))
}

fn is_known_form(header: &GgufHeader) -> bool {
    header.chat_template.as_deref().and_then(ChatForm::of_template).is_some()
}

fn model_text(model: &ListedModel) -> String {
    model.reference.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string)
}

pub(super) fn price_text(price: Option<Price>) -> String {
    match price {
        Some(Price::FREE) => "free".to_owned(),
        Some(price) => format!(
            "{} in, {} out per million tokens",
            dollars(price.input_microusd_per_mtok),
            dollars(price.output_microusd_per_mtok)
        ),
        None => "no known price".to_owned(),
    }
}

fn key_text(key: &KeyState) -> String {
    match key {
        KeyState::Set => "key set".to_owned(),
        KeyState::ByCommand => "key from a command".to_owned(),
        KeyState::NotNeeded => "no key needed".to_owned(),
        KeyState::Aws => "AWS credentials".to_owned(),
        KeyState::Missing { why } => format!("no key: {}", head(why, 160)),
    }
}

fn notes(model: &ListedModel) -> Vec<String> {
    let mut notes = Vec::new();
    if !model.fallback.is_empty() {
        notes.push(format!("fallback: {}", model.fallback.join(", ")));
    }
    let bounds = [
        (model.rate.requests_per_minute, "requests per minute"),
        (model.rate.tokens_per_minute, "tokens per minute"),
        (model.context_tokens, "tokens of context"),
    ];
    let bounds: Vec<String> =
        bounds.iter().filter_map(|(bound, what)| Some(format!("{} {what}", (*bound)?))).collect();
    if !bounds.is_empty() {
        notes.push(bounds.join(", "));
    }
    notes
}

fn shown_json(surveyed: &[ListedModel], local: &[LocalServer], files: &[LocalModel]) -> Value {
    let models: Vec<Value> = surveyed.iter().map(model_json).collect();
    let local: Vec<Value> = local
        .iter()
        .map(|server| json!({"server": server.name, "base_url": server.base_url, "models": server.models}))
        .collect();
    let files: Vec<Value> = files.iter().map(file_json).collect();
    json!({"models": models, "local": local, "files": files})
}

fn file_json(file: &LocalModel) -> Value {
    let header = file.header.as_ref().ok();
    json!({
        "model": format!("local:{}", file.name),
        "bytes": file.bytes,
        "architecture": header.map(|header| &header.architecture),
        "name": header.and_then(|header| header.name.as_ref()),
        "context_tokens": header.and_then(|header| header.context_tokens),
        "usable": IS_BUILT_IN && header.is_some_and(is_known_form),
        "problem": file.header.as_ref().err().map(ToString::to_string),
    })
}

fn model_json(model: &ListedModel) -> Value {
    let (key, why) = match &model.key {
        KeyState::Set => ("set", None),
        KeyState::ByCommand => ("command", None),
        KeyState::NotNeeded => ("not-needed", None),
        KeyState::Aws => ("aws", None),
        KeyState::Missing { why } => ("missing", Some(why)),
    };
    let price = model.price.map(hosted::price_json);
    let of = |part: fn(&spelunk_types::ModelRef) -> &String| model.reference.as_ref().map(part);
    json!({
        "name": model.name,
        "provider": of(|reference| &reference.provider),
        "model": of(|reference| &reference.name),
        "base_url": of(|reference| &reference.base_url),
        "roles": model.roles,
        "price": price,
        "key": key,
        "problem": why,
        "context_tokens": model.context_tokens,
        "requests_per_minute": model.rate.requests_per_minute,
        "tokens_per_minute": model.rate.tokens_per_minute,
        "fallback": model.fallback,
    })
}

async fn pull(app: &App, args: PullArgs) -> CliResult {
    let folder = ModelFolder::of(&app.settings.local, &app.environment).ok_or(PullError::NoFolder)?;
    let Some(model) = args.model else {
        print_data(app, &catalogue_json(), &catalogue_text());
        return Ok(ExitCode::SUCCESS);
    };
    let only = match args.from.as_deref() {
        None => None,
        Some("hub") => Some(Origin::Hub),
        Some("packages") => Some(Origin::Packages),
        Some(other) => {
            let message = format!("`{other}` is not a source of models");
            return Err(Usage::new(message, "choose `hub` or `packages`").into());
        }
    };
    let wanted = PullRequest { model, name: args.name, only, is_copied: args.copy };
    let say = |text: &str| app.say(text);
    let model = puller(app, folder, &say).pull(&wanted).await?;
    let is_known = read_header(&model.path).is_ok_and(|header| is_known_form(&header));
    print_data(app, &pulled_json(&model, is_known), &pulled_text(&model, is_known));
    if !IS_BUILT_IN {
        app.say(&format!(
            "This program was built without local models. To use the model, build it with: {BUILD_COMMAND}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn puller<'a>(app: &App, folder: ModelFolder, say: &'a dyn Fn(&str)) -> Puller<'a> {
    Puller {
        folder,
        hub_url: app.settings.local.hub_url.clone(),
        current_dir: app.current_dir.clone(),
        pips: PIPS,
        say,
    }
}

fn pulled_text(pulled: &Pulled, is_known: bool) -> String {
    let from = match pulled.origin {
        Origin::Hub => "from the hub",
        Origin::Packages => "from packages",
        Origin::File => "from a file",
        Origin::Folder => "already installed",
    };
    let checked = match &pulled.sha256 {
        Some(_) => ", SHA-256 checked",
        None => "",
    };
    let next = if is_known {
        format!("use it with `--model local:{}`", pulled.name)
    } else {
        "its chat template is not supported, so it cannot be used here: serve it with llama.cpp and set `--base-url`".to_owned()
    };
    format!("{}: {}, {from}{checked}\n{next}\n", pulled.name, bytes(pulled.bytes))
}

fn pulled_json(pulled: &Pulled, is_known: bool) -> Value {
    json!({
        "name": pulled.name,
        "model": format!("local:{}", pulled.name),
        "path": pulled.path.display().to_string(),
        "bytes": pulled.bytes,
        "sha256": pulled.sha256,
        "from": pulled.origin.word(),
        "usable": IS_BUILT_IN && is_known,
    })
}

fn catalogue_text() -> String {
    let width = local_catalogue().iter().map(|model| model.name.len()).max().unwrap_or_default();
    let row = |model: &spelunk_model::CatalogueModel| {
        format!("{:<width$}  {}, {}: {}\n", model.name, bytes(model.bytes), model.license, model.about)
    };
    let rows: String = local_catalogue().iter().map(row).collect();
    format!("{rows}Install one with `spelunk model pull NAME`, or any GGUF file by its path.\n")
}

fn catalogue_json() -> Value {
    let row = |model: &spelunk_model::CatalogueModel| {
        json!({
            "name": model.name,
            "about": model.about,
            "license": model.license,
            "bytes": model.bytes,
            "sha256": model.sha256,
            "hub": model.hub,
            "packages": model.parts.iter().map(|part| part.package.clone()).collect::<Vec<_>>(),
        })
    };
    local_catalogue().iter().map(row).collect()
}
