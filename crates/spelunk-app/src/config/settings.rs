//! Settings as the program uses them: typed, complete, each with its origin. One function builds them from the merged
//! layers; no later code checks whether something was set.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;

use spelunk_context::Detector;
use spelunk_model::Price;
use spelunk_types::Limits;

use super::choice::{ColorChoice, ProviderChoice, SandboxChoice, StrategyChoice};
use super::error::ConfigError;
use super::layer::{Entry, Layer, Origin};
use super::models::{NamedModel, WrittenModel};
use super::roles::Roles;
use super::types::CustomType;
use super::value::{Decimal, Value};

const PRICE_INPUT: &str = "model.price_input_usd_per_mtok";
const PRICE_CACHED: &str = "model.price_cached_usd_per_mtok";
const PRICE_OUTPUT: &str = "model.price_output_usd_per_mtok";

/// All settings of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The model that answers calls.
    pub model: ModelSettings,
    /// User-defined models, by name.
    pub(crate) models: BTreeMap<String, NamedModel>,
    /// Which model does which work.
    pub roles: Roles,
    /// How a question is answered.
    pub strategy: StrategyChoice,
    /// The sandbox for model code.
    pub(crate) sandbox: SandboxChoice,
    /// The directory for runs.
    pub(crate) workspace_path: PathBuf,
    /// The age in days after which runs are cleaned up.
    pub retention_days: u64,
    /// Whether repeated calls are answered from the cache in the workspace.
    pub(crate) cache_replies: bool,
    /// When output is coloured.
    pub color: ColorChoice,
    /// Models that run inside this program.
    pub local: LocalSettings,
    /// Settings of the server.
    pub server: ServerSettings,
    /// The limits the engine enforces.
    pub limits: Limits,
    layer: Layer,
}

/// Models that run inside this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSettings {
    /// Their folder, if not the default one.
    pub(crate) path: Option<String>,
    /// The hub they are pulled from.
    pub hub_url: String,
    /// Compute threads, if the user sets them; otherwise one per core.
    pub(crate) threads: Option<NonZero<usize>>,
}

/// Settings of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// The address it listens on.
    pub listen: String,
    /// The file with the digests of access tokens.
    pub token_file: Option<String>,
    /// Accepted host names; if empty, the server decides.
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests.
    pub cors_origins: Vec<String>,
    /// Runs in parallel.
    pub runs_parallel_max: u64,
    /// Queued runs.
    pub queue_max: u64,
    /// Concurrent connections.
    pub connections_max: u64,
    /// The largest request body.
    pub body_bytes_max: u64,
    /// The largest upload.
    pub upload_bytes_max: u64,
    /// The timeout for receiving a request, and for a client to read a piece of a response.
    pub request_ms_max: u64,
    /// The length from which a chat message becomes a document.
    pub long_message_chars: u64,
}

/// The model that answers calls, and its price. `None` leaves the choice to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// The section, for messages: `model`, `models.fast`.
    pub(crate) section: String,
    /// The API format.
    pub(crate) provider: ProviderChoice,
    /// The provider's name for the model.
    pub(crate) name: Option<String>,
    /// The base URL of requests.
    pub(crate) base_url: Option<String>,
    /// The environment variable that contains the key.
    pub(crate) key_env: Option<String>,
    /// A command that prints the key.
    pub(crate) key_command: Option<String>,
    /// The program that answers, with the provider `command`.
    pub(crate) command: Option<String>,
    /// Whether that program writes JSON lines instead of plain text.
    pub(crate) command_json: bool,
    /// The Azure API version.
    pub(crate) azure_api_version: String,
    /// The token price, if the user sets it.
    pub(crate) price: Option<Price>,
    /// Whether to look for a model server on this machine.
    pub probe_local: bool,
    /// Sampling of a local model.
    pub(crate) sampling: Sampling,
    /// The folder and options of local models.
    pub(crate) local: LocalSettings,
}

/// Sampling of a local model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// In millionths; 0 always takes the most likely token.
    pub(crate) temperature: u64,
    /// The random seed.
    pub(crate) seed: u32,
    /// The context window, if the user sets it.
    pub(crate) context_tokens: Option<u64>,
}

impl Settings {
    /// Resolves the merged layers, which include the defaults.
    pub(crate) fn resolve(layer: Layer) -> Result<Self, ConfigError> {
        let model = ModelSettings {
            section: "model".to_owned(),
            provider: choice(&layer, "model.provider", ProviderChoice::of),
            name: optional_text(&layer, "model.name"),
            base_url: optional_text(&layer, "model.base_url"),
            key_env: optional_text(&layer, "model.key_env"),
            key_command: optional_text(&layer, "model.key_command"),
            command: optional_text(&layer, "model.command"),
            command_json: yes_no(&layer, "model.command_json"),
            azure_api_version: text(&layer, "model.azure_api_version").to_owned(),
            price: price(&layer)?,
            probe_local: yes_no(&layer, "model.probe_local"),
            sampling: Sampling::default(),
            local: local(&layer),
        };
        let models = named_models(&layer)?;
        let roles = Roles::resolve(&layer, &models)?;
        Ok(Self {
            model,
            models,
            roles,
            strategy: choice(&layer, "ask.strategy", StrategyChoice::of),
            sandbox: choice(&layer, "ask.sandbox", SandboxChoice::of),
            workspace_path: PathBuf::from(text(&layer, "workspace.path")),
            retention_days: whole(&layer, "run.retention_days"),
            cache_replies: yes_no(&layer, "cache.replies"),
            color: choice(&layer, "output.color", ColorChoice::of),
            local: local(&layer),
            server: server(&layer),
            limits: limits(&layer),
            layer,
        })
    }

    /// The origin of a setting's value.
    pub(crate) fn origin(&self, key: &str) -> &Origin {
        self.layer.get(key).map_or(&Origin::Default, |entry| &entry.origin)
    }

    /// Notices about settings without effect.
    pub fn notices(&self) -> &[String] {
        self.layer.notices()
    }

    /// The user-defined content types, by name.
    pub(crate) fn types(&self) -> impl Iterator<Item = &CustomType> {
        self.layer.types()
    }

    /// The user-defined models, as written.
    pub(crate) fn written_models(&self) -> impl Iterator<Item = &WrittenModel> {
        self.layer.models()
    }

    /// Detects content types, including user-defined ones.
    pub fn detector(&self) -> Detector {
        self.types().fold(Detector::default(), |detector, custom| detector.with_custom(custom.kind()))
    }

    /// The value of a setting and its origin; `None` if it is unset and has no default.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.layer.get(key)
    }
}

fn named_models(layer: &Layer) -> Result<BTreeMap<String, NamedModel>, ConfigError> {
    let known: Vec<&str> = layer.models().map(WrittenModel::name).collect();
    let local = local(layer);
    layer.models().map(|model| Ok((model.name().to_owned(), model.resolve(&known, &local)?))).collect()
}

fn local(layer: &Layer) -> LocalSettings {
    LocalSettings {
        path: optional_text(layer, "local.path"),
        hub_url: text(layer, "local.hub_url").to_owned(),
        threads: usize::try_from(whole(layer, "local.threads")).ok().and_then(NonZero::new),
    }
}

fn server(layer: &Layer) -> ServerSettings {
    ServerSettings {
        listen: text(layer, "server.listen").to_owned(),
        token_file: optional_text(layer, "server.token_file"),
        hosts: words(layer, "server.hosts"),
        cors_origins: words(layer, "server.cors_origins"),
        runs_parallel_max: whole(layer, "server.runs_parallel_max"),
        queue_max: whole(layer, "server.queue_max"),
        connections_max: whole(layer, "server.connections_max"),
        body_bytes_max: whole(layer, "server.body_bytes_max"),
        upload_bytes_max: whole(layer, "server.upload_bytes_max"),
        request_ms_max: whole(layer, "server.request_ms_max"),
        long_message_chars: whole(layer, "server.long_message_chars"),
    }
}

/// Splits a comma-separated value.
fn words(layer: &Layer, key: &str) -> Vec<String> {
    let words = text(layer, key).split(',').map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn limits(layer: &Layer) -> Limits {
    let mut limits = Limits::default();
    for limit in Limits::ALL {
        if let Some(Value::Whole(value)) = value(layer, &format!("limits.{}", limit.name)) {
            let is_known = limits.set(limit.name, *value);
            debug_assert!(is_known, "a limit is set by the name it is listed under");
        }
    }
    limits
}

/// Input and output both have a price, or neither has: half a price would make a run look cheaper than it is.
fn price(layer: &Layer) -> Result<Option<Price>, ConfigError> {
    match (number(layer, PRICE_INPUT), number(layer, PRICE_OUTPUT)) {
        (Some(input), Some(output)) => Ok(Some(Price {
            input_microusd_per_mtok: input.millionths,
            cached_microusd_per_mtok: number(layer, PRICE_CACHED).unwrap_or(input).millionths,
            cache_write_microusd_per_mtok: input.millionths,
            output_microusd_per_mtok: output.millionths,
        })),
        (Some(_), None) => Err(half_price(layer, PRICE_OUTPUT, PRICE_INPUT)),
        (None, Some(_)) => Err(half_price(layer, PRICE_INPUT, PRICE_OUTPUT)),
        (None, None) if number(layer, PRICE_CACHED).is_some() => {
            Err(half_price(layer, PRICE_INPUT, PRICE_CACHED))
        }
        (None, None) => Ok(None),
    }
}

fn half_price(layer: &Layer, key: &str, present: &str) -> ConfigError {
    let origin = layer.get(present).map_or(Origin::Default, |entry| entry.origin.clone());
    ConfigError::HalfPrice { key: key.to_owned(), origin }
}

fn value<'a>(layer: &'a Layer, key: &str) -> Option<&'a Value> {
    layer.get(key).map(|entry| &entry.value)
}

fn number(layer: &Layer, key: &str) -> Option<Decimal> {
    match value(layer, key)? {
        Value::Number(number) => Some(*number),
        Value::Text(_) | Value::Whole(_) | Value::YesNo(_) | Value::List(_) => None,
    }
}

fn text<'a>(layer: &'a Layer, key: &str) -> &'a str {
    match value(layer, key) {
        Some(Value::Text(text)) => text,
        Some(Value::Whole(_) | Value::YesNo(_) | Value::Number(_) | Value::List(_)) | None => "",
    }
}

fn optional_text(layer: &Layer, key: &str) -> Option<String> {
    Some(text(layer, key)).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn whole(layer: &Layer, key: &str) -> u64 {
    match value(layer, key) {
        Some(Value::Whole(number)) => *number,
        Some(Value::Text(_) | Value::YesNo(_) | Value::Number(_) | Value::List(_)) | None => 0,
    }
}

fn yes_no(layer: &Layer, key: &str) -> bool {
    match value(layer, key) {
        Some(Value::YesNo(yes)) => *yes,
        Some(Value::Text(_) | Value::Whole(_) | Value::Number(_) | Value::List(_)) | None => false,
    }
}

fn choice<T>(layer: &Layer, key: &str, of: fn(&str) -> Option<T>) -> T {
    of(text(layer, key)).expect("a layer over the defaults holds a word of each choice")
}
