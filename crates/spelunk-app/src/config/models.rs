//! User-defined models: `[models.fast]` in a settings file, with everything needed to call one. Roles, flags and
//! session code refer to them by name. The fields that `[model]` has too have the same keys and meaning.

use std::collections::BTreeMap;

use spelunk_model::{Effort, Rate};
use spelunk_types::truncate;

use super::choice::ProviderChoice;
use super::error::{ConfigError, Result};
use super::group::{Group, GroupKind};
use super::layer::{Entry, Layer, Origin};
use super::settings::{LocalSettings, ModelSettings};
use super::suggest::nearest;
use super::table::{AZURE_API_VERSION, Display, Kind, MODELS, number, settings, unset};
use super::value::{Value, WHOLE_MAX};

/// How much of an unknown name an error repeats.
const NAME_CHARS_MAX: usize = 40;

pub(super) fn kind() -> GroupKind {
    let text = |text: &str| Value::Text(text.to_owned());
    let count = Kind::Whole { min: 1, max: WHOLE_MAX };
    GroupKind {
        section: MODELS,
        what: "model",
        doc: "User-defined models, each under a name of your choice: `--model fast`, `roles.sub = \"fast\"`, \
              `llm_query(…, model=\"fast\")`. Example:",
        example: "fast",
        reserved: vec!["none"],
        reserved_hint: "not `none`",
        fields: settings! {
            /// The provider; defaults to the first one with a key.
            "model.provider" = unset(Kind::Choice(ProviderChoice::WORDS), text("openai"));
            /// The provider's name for the model; defaults to the provider's default model.
            "model.name" = unset(Kind::Text, text("gpt-6-luna"));
            /// The base URL for requests; defaults to the provider's own.
            "model.base_url" = unset(Kind::Text, text("https://api.openai.com/v1")).own().shown_as(Display::Address);
            /// The environment variable that contains the API key; defaults to the provider's usual one.
            "model.key_env" = unset(Kind::VariableName, text("OPENAI_API_KEY")).own();
            /// A command that prints the API key.
            "model.key_command" = unset(Kind::Text, text("pass show openai")).own().shown_as(Display::Secret);
            /// The program, with arguments, that answers if `provider = "command"`; it runs without a shell.
            "model.command" = unset(Kind::Text, text("my-model --fast")).own();
            /// Whether that program writes JSON lines instead of plain text.
            "model.command_json" = unset(Kind::YesNo, Value::YesNo(true)).own();
            /// The Azure API version.
            "model.azure_api_version" = unset(Kind::Text, text(AZURE_API_VERSION)).own();
            /// Price of input tokens, in dollars per million.
            "model.price_input_usd_per_mtok" = unset(Kind::Number, number(50_000)).own();
            /// Price of cached input tokens, in dollars per million; if unset, that of input tokens.
            "model.price_cached_usd_per_mtok" = unset(Kind::Number, number(5_000)).own();
            /// Price of output tokens, in dollars per million.
            "model.price_output_usd_per_mtok" = unset(Kind::Number, number(400_000)).own();
            /// The model's context window; prompts estimated to be longer are rejected before they are sent.
            "model.context_tokens" = unset(count, Value::Whole(272_000));
            /// How long a reasoning model thinks; if unset, the provider decides.
            "model.effort" = unset(Kind::Choice(Effort::WORDS), text("low"));
            /// Whether the model sees images; if unset, the catalogue decides, and a model that it does not list sees none.
            "model.vision" = unset(Kind::YesNo, Value::YesNo(true));
            /// Whether the model reads pages of PDF files; if unset, the catalogue decides, and a model that it does not list reads none.
            "model.pdf" = unset(Kind::YesNo, Value::YesNo(true));
            /// The sampling temperature of a local model; if unset, the most likely token is always chosen.
            "model.temperature" = unset(Kind::Number, number(700_000));
            /// The random seed of a local model, used if the temperature is above 0.
            "model.seed" = unset(Kind::Whole { min: 0, max: u64::from(u32::MAX) }, Value::Whole(1));
            /// Requests per minute that the provider accepts, across all runs of a process.
            "model.requests_per_minute" = unset(count, Value::Whole(500));
            /// Tokens per minute that the provider accepts, across all runs of a process.
            "model.tokens_per_minute" = unset(count, Value::Whole(200_000));
            /// Names of the models to try, in this order, if this one is unavailable.
            "model.fallback" = unset(Kind::List, Value::List(Vec::new()));
        },
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModel {
    pub(crate) alias: String,
    /// Its provider, URL, key and price.
    pub(crate) settings: ModelSettings,
    /// Its context window, if the user sets it.
    pub(crate) context_tokens: Option<u64>,
    /// Its provider's rate per minute, if the user sets it.
    pub(crate) rate: Rate,
    /// The reasoning effort, if the user sets it.
    pub(crate) effort: Option<Effort>,
    /// Whether it sees images, if the user sets it.
    pub(crate) vision: Option<bool>,
    /// Whether it reads pages of PDF files, if the user sets it.
    pub(crate) pdf: Option<bool>,
    pub(crate) fallback: Vec<String>,
}

pub(super) fn resolve(layer: &Layer, local: &LocalSettings) -> Result<BTreeMap<String, NamedModel>> {
    let known: Vec<&str> = layer.groups(MODELS).map(|group| group.name.as_str()).collect();
    let mut models = BTreeMap::new();
    for group in layer.groups(MODELS) {
        let entries = &group.entries;
        let rate = Rate {
            requests_per_minute: entries.whole("model.requests_per_minute"),
            tokens_per_minute: entries.whole("model.tokens_per_minute"),
        };
        let model = NamedModel {
            alias: group.name.clone(),
            settings: ModelSettings::resolve(group.section(), entries, local.clone())?,
            context_tokens: entries.whole("model.context_tokens"),
            rate,
            effort: entries.text("model.effort").and_then(Effort::of),
            vision: entries.yes_no("model.vision"),
            pdf: entries.yes_no("model.pdf"),
            fallback: fallback(group, &known)?,
        };
        models.insert(group.name.clone(), model);
    }
    Ok(models)
}

fn fallback(group: &Group, known: &[&str]) -> Result<Vec<String>> {
    let Some(Entry { value: Value::List(names), origin }) = group.entries.get("model.fallback") else {
        return Ok(Vec::new());
    };
    let others: Vec<&str> = known.iter().copied().filter(|name| *name != group.name).collect();
    match names.iter().find(|name| !others.contains(&name.as_str())) {
        Some(name) => Err(unknown_model(&group.key("fallback"), name, &others, origin.clone())),
        None => Ok(names.clone()),
    }
}

pub(super) fn unknown_model(key: &str, name: &str, known: &[&str], origin: Origin) -> ConfigError {
    let names = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let advice = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? The models are {names}"),
        None if names.is_empty() => format!("define it with `[{MODELS}.NAME]`"),
        None => format!("the models are {names}; define another with `[{MODELS}.NAME]`"),
    };
    let name = truncate(name, NAME_CHARS_MAX).to_owned();
    ConfigError::UnknownModel { key: key.to_owned(), name, advice: advice.into(), origin }
}

#[cfg(test)]
mod tests;
