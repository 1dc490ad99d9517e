//! `spelunk model list`: sends nothing to a provider; servers on this machine are queried for their models, and local
//! model files are read.

use std::process::ExitCode;

use serde_json::{Value, json};
use spelunk_app::app::App;
use spelunk_app::local::{IS_BUILT_IN, LocalModel, ModelFolder};
use spelunk_app::provider::{KeyState, ListedModel, LocalServer, configured_models, local_servers};
use spelunk_app::units::{bytes, dollars, head};
use spelunk_model::{ChatForm, GgufHeader, Price};

use crate::cli::app::print;

/// The maximum number of models shown per server.
const MODELS_MAX: usize = 20;

pub(super) async fn list(app: &App) -> ExitCode {
    let listed = configured_models(&app.settings, &app.environment);
    let local = if app.settings.model.probe_local { local_servers().await } else { Vec::new() };
    let folder = ModelFolder::of(&app.settings.local, &app.environment);
    let files = folder.map(|folder| folder.all()).unwrap_or_default();
    print(&if app.json { shown_json(&listed, &local, &files) } else { shown_text(&listed, &local, &files) });
    ExitCode::SUCCESS
}

fn shown_text(listed: &[ListedModel], local: &[LocalServer], files: &[LocalModel]) -> String {
    let mut text = String::new();
    let width = listed.iter().map(|model| model.name.chars().count()).max().unwrap_or_default();
    let asked = listed.iter().map(|model| model_text(model).chars().count()).max().unwrap_or_default();
    for model in listed {
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
    if listed.is_empty() && local.is_empty() && files.is_empty() {
        text += "No model is set up: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or write `[models.NAME]` into spelunk.toml.\n";
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
        (_, false) => " · its chat template is not known here: serve it with llama.cpp",
        (false, true) => " · this program was built without the runner",
        (true, true) => " · free · inside this program",
    };
    format!("{}, {}{window}{usable}", head(name, 80), bytes(file.bytes))
}

/// Whether its chat template is supported.
pub(super) fn is_known_form(header: &GgufHeader) -> bool {
    header.chat_template.as_deref().and_then(ChatForm::of_template).is_some()
}

fn model_text(model: &ListedModel) -> String {
    model.reference.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string)
}

fn price_text(price: Option<Price>) -> String {
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
        KeyState::ByCommand => "key by command".to_owned(),
        KeyState::NotNeeded => "no key needed".to_owned(),
        KeyState::Aws => "AWS credentials".to_owned(),
        KeyState::Missing { why } => format!("no key: {}", head(why, 160)),
    }
}

/// Its other settings.
fn notes(model: &ListedModel) -> Vec<String> {
    let mut notes = Vec::new();
    if !model.fallback.is_empty() {
        notes.push(format!("when it is out: {}", model.fallback.join(", ")));
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

fn shown_json(listed: &[ListedModel], local: &[LocalServer], files: &[LocalModel]) -> String {
    let models: Vec<Value> = listed.iter().map(model_json).collect();
    let local: Vec<Value> = local
        .iter()
        .map(|server| json!({"server": server.name, "base_url": server.base_url, "models": server.models}))
        .collect();
    let files: Vec<Value> = files.iter().map(file_json).collect();
    format!("{}\n", json!({"models": models, "local": local, "files": files}))
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
    let price = model.price.map(|price| {
        json!({
            "input_microusd_per_mtok": price.input_microusd_per_mtok,
            "cached_microusd_per_mtok": price.cached_microusd_per_mtok,
            "cache_write_microusd_per_mtok": price.cache_write_microusd_per_mtok,
            "output_microusd_per_mtok": price.output_microusd_per_mtok,
        })
    });
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
