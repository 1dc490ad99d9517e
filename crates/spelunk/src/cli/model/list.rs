//! `spelunk model list`: nothing is sent to a provider; servers on this machine are asked what they have.

use std::process::ExitCode;

use serde_json::{Value, json};
use spelunk_model::Price;

use crate::cli::app::{App, print};
use crate::provider::{KeyState, LocalServer, Surveyed, local_servers, survey};
use crate::render::units::{dollars, head};

/// Models that are shown of one server.
const MODELS_MAX: usize = 20;

pub(super) async fn list(app: &App) -> ExitCode {
    let surveyed = survey(&app.settings, &app.environment);
    let local = if app.settings.model.probe_local { local_servers().await } else { Vec::new() };
    print(&if app.json { shown_json(&surveyed, &local) } else { shown_text(&surveyed, &local) });
    ExitCode::SUCCESS
}

fn shown_text(surveyed: &[Surveyed], local: &[LocalServer]) -> String {
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
    if surveyed.is_empty() && local.is_empty() {
        text += "No model is set up: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or write `[models.NAME]` into spelunk.toml.\n";
    }
    text
}

fn model_text(model: &Surveyed) -> String {
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

/// What else is set about it.
fn notes(model: &Surveyed) -> Vec<String> {
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

fn shown_json(surveyed: &[Surveyed], local: &[LocalServer]) -> String {
    let models: Vec<Value> = surveyed.iter().map(model_json).collect();
    let local: Vec<Value> = local
        .iter()
        .map(|server| json!({"server": server.name, "base_url": server.base_url, "models": server.models}))
        .collect();
    format!("{}\n", json!({"models": models, "local": local}))
}

fn model_json(model: &Surveyed) -> Value {
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
