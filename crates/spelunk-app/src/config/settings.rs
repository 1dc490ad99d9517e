//! Settings as the program uses them: typed, complete, each with its origin. One function builds
//! them from the merged layers, so that no other code checks whether something is set.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;

use spelunk_context::{CustomKind, Detector};
use spelunk_model::Price;
use spelunk_types::Limits;

use super::choice::{ColorChoice, DurabilityChoice, ProviderChoice, SandboxChoice, StrategyChoice};
use super::error::{ConfigError, Result};
use super::layer::{Entries, Layer, Origin};
use super::models::{self, NamedModel};
use super::roles::Roles;
use super::table::{AZURE_API_VERSION, TYPES};
use super::tools::{self, ToolSource};
use super::types;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub model: ModelSettings,
    pub(crate) models: BTreeMap<String, NamedModel>,
    pub tools: BTreeMap<String, ToolSource>,
    pub tools_on: Vec<String>,
    pub sub_tools_on: Vec<String>,
    pub roles: Roles,
    pub strategy: StrategyChoice,
    pub(crate) sandbox: SandboxChoice,
    pub(crate) durability: DurabilityChoice,
    pub(crate) workspace_path: PathBuf,
    pub retention_days: u64,
    pub(crate) cache_replies: bool,
    pub objects_bytes_max: u64,
    pub color: ColorChoice,
    pub local: LocalSettings,
    pub server: ServerSettings,
    pub fleet: FleetSettings,
    pub limits: Limits,
    pub(super) layer: Layer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalSettings {
    pub(crate) path: Option<String>,
    pub hub_url: String,
    /// Compute threads; one per core if unset.
    pub(crate) threads: Option<NonZero<usize>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSettings {
    pub url: Option<String>,
    pub creds_file: Option<String>,
    pub ca_file: Option<String>,
    pub prefix: String,
    pub node: Option<String>,
    pub lease_ms: u64,
    pub cache_bytes_max: u64,
    pub calls_max: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    pub listen: String,
    /// The file with the digests of access tokens.
    pub token_file: Option<String>,
    /// Accepted host names; if empty, the server decides.
    pub hosts: Vec<String>,
    pub cors_origins: Vec<String>,
    pub runs_parallel_max: u64,
    pub queue_max: u64,
    pub connections_max: u64,
    pub body_bytes_max: u64,
    pub upload_bytes_max: u64,
    pub request_ms_max: u64,
    pub long_message_chars: u64,
}

/// The model that answers calls, and its price. `None` leaves the choice to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// The section, for messages: `model`, `models.fast`.
    pub(crate) section: String,
    pub provider: ProviderChoice,
    pub(crate) name: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key_env: Option<String>,
    pub(crate) key_command: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) command_json: bool,
    pub(crate) azure_api_version: String,
    pub(crate) price: Option<Price>,
    pub probe_local: bool,
    pub(crate) sampling: Sampling,
    pub(crate) local: LocalSettings,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// In millionths; 0 always takes the most likely token.
    pub(crate) temperature: u64,
    pub(crate) seed: u32,
    pub(crate) context_tokens: Option<u64>,
}

impl Settings {
    pub(crate) fn resolve(layer: Layer) -> Result<Self> {
        let entries = &layer.entries;
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

    pub(crate) fn origin(&self, key: &str) -> &Origin {
        self.layer.get(key).map_or(&Origin::Default, |entry| &entry.origin)
    }

    pub fn notices(&self) -> &[String] {
        &self.layer.notices
    }

    pub(crate) fn custom_kinds(&self) -> impl Iterator<Item = CustomKind> {
        self.layer.groups(TYPES).map(types::custom_kind)
    }

    pub fn detector(&self) -> Detector {
        self.custom_kinds().fold(Detector::default(), Detector::with_custom)
    }
}

impl ModelSettings {
    /// The model of the section `model`, or of a group in `models`, which has the same keys.
    pub(super) fn resolve(section: String, entries: &Entries, local: LocalSettings) -> Result<Self> {
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

/// Either both input and output have a price or neither: half a price would make a run look cheaper than it is.
fn price(section: &str, entries: &Entries) -> Result<Option<Price>> {
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
        [Some(input), Some(output), cached] => {
            Ok(Some(Price::of([input, output, cached.unwrap_or(input), input], None)))
        }
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
