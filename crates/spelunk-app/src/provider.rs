//! Model selection: from flags, roles and settings, else from the first provider with a key, else from a server on this
//! machine. Finding no model is not an error here; `ask` then shows passages.

mod bounded;
mod embedding;
mod keys;
mod list;
mod nobody;
mod offered;
mod open;
mod reopen;

use std::sync::Arc;
use std::time::Duration;

use spelunk_engine::NamedModels;
use spelunk_model::{FallbackModel, GgufError, ListShape, Model, ModelError, list_models, list_models_as};
use spelunk_types::{ErrorCode, Explain};

pub use self::bounded::BoundedModel;
pub use self::embedding::{SharedEmbedder, client as embedding_client, table as embedding_table};
use self::keys::{Commands, Endpoint, endpoint, required_endpoint};
pub use self::list::{KeyState, ListedModel, LocalServer, configured_models, local_servers};
use self::list::{probe, usual};
pub use self::nobody::Nobody;
pub(crate) use self::open::{AWS_REGION, aws, now};
pub use self::open::{open, today};
pub use self::reopen::{OF_CLIENT, is_at_base_url, recorded};
use crate::config::{ModelSettings, NamedModel, Origin, ProviderChoice, RoleModel, Settings, at_provider};
use crate::env::Environment;
use crate::local::BUILD_COMMAND;

pub struct ChosenModels {
    pub model: Arc<dyn Model>,
    /// The model for sub-calls, if a separate one was named.
    pub sub_model: Option<Arc<dyn Model>>,
    pub synthesis_model: Option<Arc<dyn Model>>,
    /// The reason, such as `ANTHROPIC_API_KEY is set`.
    pub because: String,
}

impl ChosenModels {
    /// The models and the reason: `openai/a, sub-calls: openai/b (OPENAI_API_KEY is set)`.
    pub fn line(&self) -> String {
        let root = self.model.reference().to_string();
        let sub = self.sub_model.as_ref().map(|sub| sub.reference().to_string()).filter(|sub| *sub != root);
        let sub = sub.map(|sub| format!(", sub-calls: {sub}")).unwrap_or_default();
        format!("{root}{sub} ({})", self.because)
    }
}

type Result<T, E = ProviderError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("no API key for {provider}")]
    KeyMissing { provider: &'static str, variable: String },
    #[error("`{section}.key_env` names `{variable}`, which is not set")]
    KeyVariableUnset { section: String, variable: String },
    #[error("`{section}.key_command` did not print a key: {reason}")]
    KeyCommand { section: String, reason: String },
    #[error("`{section}.provider` is `command`, but `{section}.command` is empty")]
    CommandMissing { section: String },
    #[error("the base URL of {provider} is not set")]
    AddressMissing { provider: &'static str, variable: &'static str },
    #[error("{provider} needs the name of a model")]
    NameMissing { provider: String },
    #[error("`{section}` has no provider: none is set, and no key was found")]
    Nobody { section: String },
    #[error("cannot use the model `{name}`: no key was found, and no local server offers it")]
    NotOffered { name: String, known: String },
    #[error("`{name}` is not a model of {base_url}")]
    OfAnother { name: String, base_url: String },
    #[error("embeddings need an OpenAI-compatible API, which {provider} does not have")]
    NoEmbeddings { provider: &'static str },
    #[error("`{section}.effort` is set, but {provider} does not support it")]
    NoEffort { section: String, provider: &'static str },
    #[error("there is no model `{name}`")]
    Unknown { name: String, known: String },
    #[error("the local model `{name}` is not installed")]
    LocalMissing { name: String },
    #[error("the local model `{name}` cannot be read")]
    LocalDamaged { name: String, source: GgufError },
    #[error("`local:{name}` is installed, but this program was built without local models")]
    NotBuiltIn { name: String },
    #[error("the server at `{base_url}` offers no models")]
    NoModels { base_url: String },
    #[error("the run was started by an MCP client with its own model or agents")]
    OfClient,
    #[error("the run was started with a model at `{base_url}`, an address that is not in your settings")]
    AddressUnknown { base_url: String },
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Explain for ProviderError {
    fn code(&self) -> ErrorCode {
        if let Self::Model(error) = self { error.code() } else { ErrorCode::ModelNotConfigured }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::KeyMissing { variable, .. } => {
                format!("set `{variable}`, or use a local server with `--base-url`")
            }
            Self::KeyVariableUnset { variable, .. } => format!("set `{variable}`"),
            Self::KeyCommand { .. } => "run the command by hand; it must print only the key".into(),
            Self::CommandMissing { section } => format!("set `{section}.command` in your own settings file"),
            Self::AddressMissing { variable, .. } => format!("set `{variable}` or `model.base_url`"),
            Self::NameMissing { .. } => "set it with `--model` or in the settings".into(),
            Self::Nobody { section } => format!("set `{section}.provider` and its key"),
            Self::NotOffered { known, .. } => {
                let known =
                    if known.is_empty() { String::new() } else { format!("; your models are {known}") };
                format!(
                    "set the key of its provider, write PROVIDER/NAME, or set its server with `--base-url`{known}"
                )
            }
            Self::OfAnother { .. } => {
                "write PROVIDER/NAME with a provider listed in `spelunk ask --help`, or set the server \
                                       with `--base-url`"
                    .into()
            }
            Self::NoEmbeddings { .. } => {
                "use a model of OpenAI or of your own server, or unset `roles.embedding`".into()
            }
            Self::NoEffort { section, .. } => format!("unset `{section}.effort`"),
            Self::Unknown { known, .. } if known.is_empty() => {
                "define it with `[models.NAME]` in `spelunk.toml`".into()
            }
            Self::Unknown { known, .. } => format!("the models are {known}"),
            Self::LocalMissing { .. } => {
                "install it with `spelunk model pull`; `spelunk model list` lists the installed ones".into()
            }
            Self::LocalDamaged { name, .. } => {
                format!("remove its file and install it again: `spelunk model pull {name}`")
            }
            Self::NotBuiltIn { .. } => format!("build it with `{BUILD_COMMAND}`"),
            Self::NoModels { .. } => "load a model there, or choose one with `--model`".into(),
            Self::OfClient => "continue it from such a client with the tool `rlm_run`".into(),
            Self::AddressUnknown { .. } => {
                "if you trust that server with your documents and your key, pass it with `--base-url`".into()
            }
            Self::Model(error) => return error.hint(),
        })
    }
}

pub struct UsableModel {
    pub model: Arc<dyn Model>,
    pub because: String,
    /// The unusable models of its fallback chain, and why.
    pub left_out: Vec<(String, ProviderError)>,
    endpoint: Endpoint,
}

impl UsableModel {
    pub fn has_key(&self) -> bool {
        self.endpoint.key.is_some()
    }

    /// The model names its server lists, if the server can be queried for a list.
    pub async fn offered(&self, timeout: Duration) -> Result<Option<Vec<String>>, ModelError> {
        let Some(shape) = ListShape::of(self.endpoint.provider) else { return Ok(None) };
        let (base_url, key) = (&self.model.reference().base_url, self.endpoint.key.as_ref());
        list_models_as(shape, base_url, key, timeout).await.map(Some)
    }
}

pub async fn choose(settings: &Settings, environment: &Environment) -> Result<Option<ChosenModels>> {
    let Some(root) = find_root(settings, environment).await? else { return Ok(None) };
    let sub_model = find_sub(settings, environment, &root)?.map(|found| found.model);
    let synthesis_model =
        find_role(settings, environment, &settings.roles.synthesis, &root)?.map(|found| found.model);
    let because = match settings.origin("model.provider") {
        Origin::Flag { flag } if flag == "--model" => "set with --model".to_owned(),
        Origin::Flag { .. } | Origin::Env { .. } | Origin::File { .. } | Origin::Default => root.because,
    };
    Ok(Some(ChosenModels { model: root.model, sub_model, synthesis_model, because }))
}

/// Every usable model that a run with these settings may call, without duplicates and fallbacks.
pub async fn usable(settings: &Settings, environment: &Environment) -> Vec<Arc<dyn Model>> {
    let chosen = choose(settings, environment).await.ok().flatten();
    let of_roles = chosen.map(|ChosenModels { model, sub_model, synthesis_model, .. }| {
        [Some(model), sub_model, synthesis_model].into_iter().flatten()
    });
    let named = |alias: &String| find_named(settings, environment, alias, String::new()).ok();
    let named = settings.models.keys().filter_map(named).map(|found| found.model);
    let mut models: Vec<Arc<dyn Model>> = Vec::new();
    for model in of_roles.into_iter().flatten().chain(named) {
        let links = if model.links().is_empty() { vec![model] } else { model.links().to_vec() };
        for link in links {
            if models.iter().all(|known| known.reference() != link.reference()) {
                models.push(link);
            }
        }
    }
    models
}

pub async fn find_root(settings: &Settings, environment: &Environment) -> Result<Option<UsableModel>> {
    if let Some(found) = find_role_model(settings, environment, &settings.roles.root)? {
        return Ok(Some(found));
    }
    let model = &settings.model;
    let endpoint = match endpoint(model, environment, Commands::Run)? {
        None if model.provider == ProviderChoice::Auto && model.probe_local => {
            probe(model.name.as_deref()).await
        }
        known => known,
    };
    match (endpoint, &model.name) {
        (Some(endpoint), _) => {
            let endpoint = offered::checked(with_name(endpoint).await?, model, environment).await;
            found(endpoint, model, environment).map(Some)
        }
        // A user who names a model wants that model rather than a run without one.
        (None, Some(name)) if model.provider != ProviderChoice::None => {
            Err(ProviderError::NotOffered { name: name.clone(), known: known_names(settings) })
        }
        (None, _) => Ok(None),
    }
}

/// The model for sub-calls; `None` if it is the root's. Without a setting, it is the provider's default.
pub fn find_sub(
    settings: &Settings,
    environment: &Environment,
    root: &UsableModel,
) -> Result<Option<UsableModel>> {
    let default = root.endpoint.defaults.as_ref().and_then(|defaults| defaults.sub.clone());
    match (&settings.roles.sub, default) {
        (RoleModel::Unset, Some(name)) => {
            let found = find_role(settings, environment, &RoleModel::SameProvider { name }, root)?;
            let because = "cheaper model of the same provider".to_owned();
            Ok(found.map(|found| UsableModel { because, ..found }))
        }
        (role, _) => find_role(settings, environment, role, root),
    }
}

/// The model of a role below the root; `None` if it uses the root's.
pub fn find_role(
    settings: &Settings,
    environment: &Environment,
    role: &RoleModel,
    root: &UsableModel,
) -> Result<Option<UsableModel>> {
    let RoleModel::SameProvider { name } = role else {
        return find_role_model(settings, environment, role);
    };
    let because = "model.sub is set".to_owned();
    let endpoint = Endpoint { name: Some(name.clone()), because, ..root.endpoint.clone() };
    // A configured price belongs to the model it is configured for, so the sub-model's price comes from the catalogue.
    let unpriced = ModelSettings { price: None, ..settings.model.clone() };
    found(endpoint, &unpriced, environment).map(Some)
}

fn find_role_model(
    settings: &Settings,
    environment: &Environment,
    role: &RoleModel,
) -> Result<Option<UsableModel>> {
    match role {
        RoleModel::Unset | RoleModel::SameProvider { .. } => Ok(None),
        RoleModel::Named { alias, because } => {
            find_named(settings, environment, alias, because.clone()).map(Some)
        }
        RoleModel::AtProvider { provider, name, because } => {
            find_at(&settings.model, environment, *provider, name, because).map(Some)
        }
    }
}

/// A model by the name that the user typed: `[models.NAME]` without its fallbacks, or PROVIDER/NAME.
pub fn find_by_name(settings: &Settings, environment: &Environment, name: &str) -> Result<UsableModel> {
    match at_provider(name) {
        Some((provider, at)) if !settings.models.contains_key(name) => {
            find_at(&settings.model, environment, provider, at, name)
        }
        Some(_) | None => find_one(of_alias(settings, name)?, environment),
    }
}

pub(crate) fn find_named(
    settings: &Settings,
    environment: &Environment,
    alias: &str,
    because: String,
) -> Result<UsableModel> {
    let named = of_alias(settings, alias)?;
    let mut first = find_one(named, environment)?;
    first.because = because;
    let mut others = Vec::new();
    for alias in &named.fallback {
        // One unusable fallback is no reason to drop the others.
        match of_alias(settings, alias).and_then(|named| find_one(named, environment)) {
            Ok(found) => others.push(found.model),
            Err(error) => first.left_out.push((alias.clone(), error)),
        }
    }
    if !others.is_empty() {
        first.model = Arc::new(FallbackModel::new(first.model, others));
    }
    Ok(first)
}

fn of_alias<'a>(settings: &'a Settings, alias: &str) -> Result<&'a NamedModel> {
    settings
        .models
        .get(alias)
        .ok_or_else(|| ProviderError::Unknown { name: alias.to_owned(), known: known_names(settings) })
}

fn known_names(settings: &Settings) -> String {
    settings.models.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A model of `[models.NAME]` without its fallbacks.
fn find_one(named: &NamedModel, environment: &Environment) -> Result<UsableModel> {
    // Only the plain settings have a default sub-model.
    let endpoint = Endpoint { defaults: None, ..required_endpoint(&named.settings, environment)? };
    if endpoint.name.is_none() {
        return Err(ProviderError::NameMissing { provider: format!("`{}`", named.settings.section) });
    }
    if named.effort.is_some() && matches!(endpoint.provider, "command" | "local") {
        let section = named.settings.section.clone();
        return Err(ProviderError::NoEffort { section, provider: endpoint.provider });
    }
    let mut found = found(endpoint, &named.settings, environment)?;
    let NamedModel { context_tokens, rate, effort, vision, pdf, .. } = *named;
    if let Some(bounded) = BoundedModel::around(&found.model, context_tokens, rate, effort, [vision, pdf]) {
        found.model = Arc::new(bounded);
    }
    Ok(found)
}

/// A model at its provider's default URL, with its default key.
fn find_at(
    settings: &ModelSettings,
    environment: &Environment,
    provider: ProviderChoice,
    name: &str,
    because: &str,
) -> Result<UsableModel> {
    let usual = usual(settings, provider, name);
    let endpoint = required_endpoint(&usual, environment)?;
    found(Endpoint { because: because.to_owned(), ..endpoint }, &usual, environment)
}

/// The named models available to session code. Each is opened at its first use, so unused keys are never looked up.
pub(crate) fn named_models(settings: &Settings, environment: &Environment) -> NamedModels {
    let names = settings.models.keys().cloned().collect();
    let (settings, environment) = (settings.clone(), environment.clone());
    NamedModels::new(names, move |alias| {
        let found = find_named(&settings, &environment, alias, String::new());
        found.map(|found| found.model).map_err(|error| match error.hint() {
            Some(hint) => format!("{error}: {hint}"),
            None => error.to_string(),
        })
    })
}

/// The endpoint with a model name: if none was given, the first one that the server lists.
async fn with_name(endpoint: Endpoint) -> Result<Endpoint> {
    if endpoint.name.is_some() {
        return Ok(endpoint);
    }
    let models = list_models(&endpoint.base_url, endpoint.key.as_ref(), Duration::from_secs(10)).await?;
    let first = models.into_iter().find(|model| !model.contains("embed"));
    let name = first.ok_or_else(|| ProviderError::NoModels { base_url: endpoint.base_url.clone() })?;
    Ok(Endpoint { name: Some(name), ..endpoint })
}

fn found(endpoint: Endpoint, settings: &ModelSettings, environment: &Environment) -> Result<UsableModel> {
    endpoint.check_name()?;
    let model = open(endpoint.provider, endpoint.options(settings.price), settings, environment)?;
    Ok(UsableModel { model, because: endpoint.because.clone(), left_out: Vec::new(), endpoint })
}
