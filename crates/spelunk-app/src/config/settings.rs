//! Settings as the program uses them: typed, complete, each with its origin. One function builds them from the merged
//! layers; no later code checks whether something was set.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;

use spelunk_context::{CustomKind, Detector};
use spelunk_model::Price;
use spelunk_types::Limits;

use super::choice::{ColorChoice, DurabilityChoice, ProviderChoice, SandboxChoice, StrategyChoice};
use super::error::ConfigError;
use super::layer::{Entries, Layer, Origin};
use super::models::{self, NamedModel};
use super::roles::Roles;
use super::table::{AZURE_API_VERSION, TYPES};
use super::tools::{self, ToolSource};
use super::types;

/// All settings of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The model that answers calls.
    pub model: ModelSettings,
    /// User-defined models, by name.
    pub(crate) models: BTreeMap<String, NamedModel>,
    /// Sources of tools, by name.
    pub tools: BTreeMap<String, ToolSource>,
    /// The names of those that questions may use.
    pub tools_on: Vec<String>,
    /// The names of tools, or sources, that child frames may use, too.
    pub sub_tools_on: Vec<String>,
    /// Which model does which work.
    pub roles: Roles,
    /// How a question is answered.
    pub strategy: StrategyChoice,
    /// The sandbox for model code.
    pub(crate) sandbox: SandboxChoice,
    /// What a recorded reply survives.
    pub(crate) durability: DurabilityChoice,
    /// The directory for runs.
    pub(crate) workspace_path: PathBuf,
    /// The age in days after which runs are cleaned up.
    pub retention_days: u64,
    /// Whether repeated calls are answered from the cache in the workspace.
    pub(crate) cache_replies: bool,
    /// The size of the cache for objects of S3.
    pub objects_bytes_max: u64,
    /// When output is coloured.
    pub color: ColorChoice,
    /// Models that run inside this program.
    pub local: LocalSettings,
    /// Settings of the server.
    pub server: ServerSettings,
    /// The fleet that this process belongs to.
    pub fleet: FleetSettings,
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

/// The fleet that a process belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSettings {
    /// Its servers, if there is one.
    pub url: Option<String>,
    /// The credentials.
    pub creds_file: Option<String>,
    /// The root certificates.
    pub ca_file: Option<String>,
    /// What the names of its streams begin with.
    pub prefix: String,
    /// The name of this node, if the user sets it.
    pub node: Option<String>,
    /// How long a node may be silent.
    pub lease_ms: u64,
    /// The size of the cache.
    pub cache_bytes_max: u64,
    /// How many model calls this node makes at once.
    pub calls_max: u64,
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
    pub provider: ProviderChoice,
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
        let entries = layer.entries();
        let local = LocalSettings::resolve(entries);
        let model = ModelSettings::resolve("model".to_owned(), entries, local.clone())?;
        let models = models::resolve(&layer, &local)?;
        Ok(Self {
            model,
            roles: Roles::resolve(entries, &models)?,
            models,
            tools: tools::resolve(&layer)?,
            tools_on: words(entries, "ask.tools"),
            sub_tools_on: words(entries, "ask.sub_tools"),
            strategy: choice(entries, "ask.strategy", StrategyChoice::of),
            sandbox: choice(entries, "ask.sandbox", SandboxChoice::of),
            durability: choice(entries, "journal.durability", DurabilityChoice::of),
            workspace_path: PathBuf::from(entries.text("workspace.path").unwrap_or_default()),
            retention_days: whole(entries, "run.retention_days"),
            cache_replies: entries.yes_no("cache.replies").unwrap_or_default(),
            objects_bytes_max: whole(entries, "cache.objects_bytes_max"),
            color: choice(entries, "output.color", ColorChoice::of),
            local,
            server: ServerSettings::resolve(entries),
            fleet: FleetSettings::resolve(entries),
            limits: limits(entries),
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
    pub(crate) fn custom_kinds(&self) -> impl Iterator<Item = CustomKind> {
        self.layer.groups(TYPES).map(types::custom_kind)
    }

    /// Detects content types, including user-defined ones.
    pub fn detector(&self) -> Detector {
        self.custom_kinds().fold(Detector::default(), Detector::with_custom)
    }

    /// Everything that was set, with its origin.
    pub(super) fn layer(&self) -> &Layer {
        &self.layer
    }
}

impl ModelSettings {
    /// The model of the section `model`, or of a group in `models`, which has the same keys.
    pub(super) fn resolve(
        section: String,
        entries: &Entries,
        local: LocalSettings,
    ) -> Result<Self, ConfigError> {
        let text = |key: &str| entries.text(key).map(str::to_owned);
        let seed = entries.whole("model.seed").and_then(|seed| u32::try_from(seed).ok());
        Ok(Self {
            provider: entries
                .text("model.provider")
                .and_then(ProviderChoice::of)
                .unwrap_or(ProviderChoice::Auto),
            name: text("model.name"),
            base_url: text("model.base_url"),
            key_env: text("model.key_env"),
            key_command: text("model.key_command"),
            command: text("model.command"),
            command_json: entries.yes_no("model.command_json").unwrap_or_default(),
            azure_api_version: text("model.azure_api_version")
                .unwrap_or_else(|| AZURE_API_VERSION.to_owned()),
            price: price(&section, entries)?,
            probe_local: entries.yes_no("model.probe_local").unwrap_or(true),
            sampling: Sampling {
                temperature: entries.millionths("model.temperature").unwrap_or_default(),
                seed: seed.unwrap_or_default(),
                context_tokens: entries.whole("model.context_tokens"),
            },
            local,
            section,
        })
    }
}

impl LocalSettings {
    fn resolve(entries: &Entries) -> Self {
        Self {
            path: entries.text("local.path").map(str::to_owned),
            hub_url: entries.text("local.hub_url").unwrap_or_default().to_owned(),
            threads: usize::try_from(whole(entries, "local.threads")).ok().and_then(NonZero::new),
        }
    }
}

impl FleetSettings {
    fn resolve(entries: &Entries) -> Self {
        let text = |key: &str| entries.text(key).map(str::to_owned);
        Self {
            url: text("fleet.url"),
            creds_file: text("fleet.creds_file"),
            ca_file: text("fleet.ca_file"),
            prefix: text("fleet.prefix").unwrap_or_default(),
            node: text("fleet.node"),
            lease_ms: whole(entries, "fleet.lease_ms"),
            cache_bytes_max: whole(entries, "fleet.cache_bytes_max"),
            calls_max: whole(entries, "fleet.node_calls_max"),
        }
    }
}

impl ServerSettings {
    fn resolve(entries: &Entries) -> Self {
        Self {
            listen: entries.text("server.listen").unwrap_or_default().to_owned(),
            token_file: entries.text("server.token_file").map(str::to_owned),
            hosts: words(entries, "server.hosts"),
            cors_origins: words(entries, "server.cors_origins"),
            runs_parallel_max: whole(entries, "server.runs_parallel_max"),
            queue_max: whole(entries, "server.queue_max"),
            connections_max: whole(entries, "server.connections_max"),
            body_bytes_max: whole(entries, "server.body_bytes_max"),
            upload_bytes_max: whole(entries, "server.upload_bytes_max"),
            request_ms_max: whole(entries, "server.request_ms_max"),
            long_message_chars: whole(entries, "server.long_message_chars"),
        }
    }
}

/// Splits a comma-separated value.
fn words(entries: &Entries, key: &str) -> Vec<String> {
    let words = entries.text(key).unwrap_or_default().split(',').map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn limits(entries: &Entries) -> Limits {
    let mut limits = Limits::default();
    for limit in Limits::ALL {
        if let Some(value) = entries.whole(&format!("limits.{}", limit.name)) {
            let is_known = limits.set(limit.name, value);
            debug_assert!(is_known, "a limit is set by the name it is listed under");
        }
    }
    limits
}

/// Input and output both have a price, or neither has: half a price would make a run look cheaper than it is.
fn price(section: &str, entries: &Entries) -> Result<Option<Price>, ConfigError> {
    const KEYS: [&str; 3] = [
        "model.price_input_usd_per_mtok",
        "model.price_output_usd_per_mtok",
        "model.price_cached_usd_per_mtok",
    ];
    let Some(present) = KEYS.iter().find_map(|key| entries.get(key)) else { return Ok(None) };
    let half = |word: &str| {
        let key = format!("{section}.{word}");
        Err(ConfigError::HalfPrice { key, origin: present.origin.clone() })
    };
    match KEYS.map(|key| entries.millionths(key)) {
        [Some(input), Some(output), cached] => Ok(Some(Price {
            input_microusd_per_mtok: input,
            cached_microusd_per_mtok: cached.unwrap_or(input),
            cache_write_microusd_per_mtok: input,
            output_microusd_per_mtok: output,
            above: None,
        })),
        [Some(_), None, _] => half("price_output_usd_per_mtok"),
        [None, _, _] => half("price_input_usd_per_mtok"),
    }
}

fn whole(entries: &Entries, key: &str) -> u64 {
    entries.whole(key).unwrap_or_default()
}

fn choice<T>(entries: &Entries, key: &str, of: fn(&str) -> Option<T>) -> T {
    of(entries.text(key).unwrap_or_default()).expect("a layer over the defaults holds a word of each choice")
}
