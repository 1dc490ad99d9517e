//! Which model answers: what flags, roles and settings say, else whoever there is a key for, else a server on this machine.
//! Finding none is not an error here; `ask` then shows passages.

mod bounded;
mod embedding;
mod keys;
mod list;
mod nobody;
mod open;
mod reopen;

use std::sync::Arc;
use std::time::Duration;

use spelunk_engine::NamedModels;
use spelunk_model::{
    FallbackModel, GgufError, ListShape, Model, ModelError, ModelOptions, list_models, list_models_as,
};
use spelunk_types::{ErrorCode, Explain};

pub use self::bounded::BoundedModel;
pub use self::embedding::{SharedEmbedder, client as embedding_client, table as embedding_table};
pub use self::keys::{Place, place, probe};
use self::list::usual;
pub use self::list::{KeyState, ListedModel, LocalServer, local_servers, survey};
pub use self::nobody::Nobody;
pub use self::open::open;
pub use self::reopen::{OF_CLIENT, is_at_base_url, recorded};
use crate::config::{ModelSettings, NamedModel, ProviderChoice, RoleModel, Settings, at_provider};
use crate::env::Environment;
use crate::local::BUILD_COMMAND;

/// A model and why it was chosen.
pub struct Chosen {
    pub model: Arc<dyn Model>,
    /// The model of sub-calls, if another one was named.
    pub sub_model: Option<Arc<dyn Model>>,
    /// The model that puts findings together, if another one was named.
    pub synthesis_model: Option<Arc<dyn Model>>,
    /// Such as `ANTHROPIC_API_KEY is set`.
    pub because: String,
}

/// Why the model that was asked for cannot be.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("there is no key for {provider}")]
    KeyMissing { provider: &'static str, variable: String },
    #[error("`{section}.key_env` names `{variable}`, which is not set")]
    KeyVariableUnset { section: String, variable: String },
    #[error("`{section}.key_command` did not print a key: {reason}")]
    KeyCommand { section: String, reason: String },
    #[error("`{section}.provider` is `command`, and `{section}.command` names no program")]
    CommandMissing { section: String },
    #[error("it is not known where {provider} is")]
    AddressMissing { provider: &'static str, variable: &'static str },
    #[error("{provider} needs the name of a model")]
    NameMissing { provider: String },
    #[error("`{section}` leads to no provider: none is set, and no key was found")]
    Nobody { section: String },
    #[error("the model `{name}` cannot be asked: no key was found, and no server on this machine has it")]
    NotOffered { name: String, known: String },
    #[error("`{name}` is no model of {base_url}")]
    OfAnother { name: String, base_url: String },
    #[error("vectors are asked for in OpenAI's format, and {provider} has another")]
    NoEmbeddings { provider: &'static str },
    #[error("there is no model `{name}`")]
    Unknown { name: String, known: String },
    #[error("there is no local model `{name}`")]
    LocalMissing { name: String },
    #[error("the local model `{name}` cannot be read")]
    LocalDamaged { name: String, source: GgufError },
    #[error("`local:{name}` is there, and this program was built without the runner for local models")]
    NotBuiltIn { name: String },
    #[error("the server at `{base_url}` offers no model")]
    NoModels { base_url: String },
    #[error("the run was begun by an MCP client, with a model or agents of its own")]
    OfClient,
    #[error("the run was begun with a model at `{base_url}`, an address that your settings do not name")]
    AddressUnknown { base_url: String },
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Explain for ProviderError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::KeyMissing { .. }
            | Self::KeyVariableUnset { .. }
            | Self::KeyCommand { .. }
            | Self::CommandMissing { .. }
            | Self::AddressMissing { .. }
            | Self::NameMissing { .. }
            | Self::Nobody { .. }
            | Self::NotOffered { .. }
            | Self::OfAnother { .. }
            | Self::NoEmbeddings { .. }
            | Self::Unknown { .. }
            | Self::NoModels { .. }
            | Self::LocalMissing { .. }
            | Self::LocalDamaged { .. }
            | Self::NotBuiltIn { .. }
            | Self::OfClient
            | Self::AddressUnknown { .. } => ErrorCode::ModelNotConfigured,
            Self::Model(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::KeyMissing { variable, .. } => {
                Some(format!("set `{variable}`, or name a local server with `--base-url`"))
            }
            Self::KeyVariableUnset { variable, .. } => Some(format!("set `{variable}`")),
            Self::KeyCommand { .. } => {
                Some("run the command by hand; it must print the key and nothing else".into())
            }
            Self::CommandMissing { section } => {
                Some(format!("set `{section}.command` in your own settings file"))
            }
            Self::AddressMissing { variable, .. } => Some(format!("set `{variable}` or `model.base_url`")),
            Self::NameMissing { .. } => Some("name it with `--model`, or in the settings".into()),
            Self::Nobody { section } => Some(format!("set `{section}.provider` and its key")),
            Self::NotOffered { known, .. } => {
                let known = if known.is_empty() { String::new() } else { format!("; your models are {known}") };
                Some(format!(
                    "set the key of its provider, write PROVIDER/NAME, or name its server with `--base-url`{known}"
                ))
            }
            Self::OfAnother { .. } => Some(
                "write PROVIDER/NAME with a provider that `spelunk ask --help` lists, or name the server with `--base-url`"
                    .into(),
            ),
            Self::NoEmbeddings { .. } => {
                Some("name a model of OpenAI or of a server of your own, or unset `roles.embedding`".into())
            }
            Self::Unknown { known, .. } if known.is_empty() => {
                Some("define it with `[models.NAME]` in `spelunk.toml`".into())
            }
            Self::Unknown { known, .. } => Some(format!("the models are {known}")),
            Self::LocalMissing { .. } => Some(
                "bring it with `spelunk model pull`; `spelunk model list` shows those that are there".into(),
            ),
            Self::LocalDamaged { name, .. } => {
                Some(format!("remove its file and pull it again: `spelunk model pull {name}`"))
            }
            Self::NotBuiltIn { .. } => Some(format!("build it with `{BUILD_COMMAND}`")),
            Self::NoModels { .. } => Some("load a model there, or name one with `--model`".into()),
            Self::OfClient => Some("go on with it from such a client, by the tool `rlm_resume`".into()),
            Self::AddressUnknown { .. } => {
                Some("if that server may have your documents and your key, name it with `--base-url`".into())
            }
            Self::Model(error) => error.hint(),
        }
    }
}

/// A model that can be asked, and where it was found.
pub struct Found {
    pub model: Arc<dyn Model>,
    pub because: String,
    /// Those of its chain that cannot be asked, and why.
    pub left_out: Vec<(String, ProviderError)>,
    place: Place,
}

impl Found {
    /// Whether it is asked with a key of ours.
    pub fn has_key(&self) -> bool {
        self.place.key.is_some()
    }

    /// The names that its server offers, where it can be asked for a list.
    pub async fn offered(&self, timeout: Duration) -> Result<Option<Vec<String>>, ModelError> {
        let Some(shape) = ListShape::of(self.place.provider) else { return Ok(None) };
        let (base_url, key) = (&self.model.reference().base_url, self.place.key.as_ref());
        list_models_as(shape, base_url, key, timeout).await.map(Some)
    }
}

/// Chooses the models of all roles, or none.
pub async fn choose(settings: &Settings, environment: &Environment) -> Result<Option<Chosen>, ProviderError> {
    let Some(root) = find_root(settings, environment).await? else { return Ok(None) };
    let of_role = |role| find_role(settings, environment, role, &root);
    let sub_model = of_role(&settings.roles.sub)?.map(|found| found.model);
    let synthesis_model = of_role(&settings.roles.synthesis)?.map(|found| found.model);
    Ok(Some(Chosen { model: root.model, sub_model, synthesis_model, because: root.because }))
}

/// The model that leads, or none.
pub async fn find_root(
    settings: &Settings,
    environment: &Environment,
) -> Result<Option<Found>, ProviderError> {
    match &settings.roles.root {
        RoleModel::Named { alias, because } => {
            find_named(settings, environment, alias, because.clone()).map(Some)
        }
        RoleModel::AtProvider { provider, name, because } => {
            find_at(&settings.model, environment, *provider, name, because).map(Some)
        }
        RoleModel::Unset | RoleModel::SameProvider { .. } => {
            let model = &settings.model;
            let place = match place(model, environment)? {
                None if model.provider == ProviderChoice::Auto && model.probe_local => {
                    probe(model.name.clone()).await
                }
                known => known,
            };
            match (place, &model.name) {
                (Some(place), _) => found(with_name(place).await?, model, environment).map(Some),
                // Whoever names a model wants that one and not the job without a model.
                (None, Some(name)) if model.provider != ProviderChoice::None => {
                    Err(ProviderError::NotOffered { name: name.clone(), known: known_names(settings) })
                }
                (None, _) => Ok(None),
            }
        }
    }
}

/// The model of a role below the root; none where it has no other than the root's.
pub fn find_role(
    settings: &Settings,
    environment: &Environment,
    role: &RoleModel,
    root: &Found,
) -> Result<Option<Found>, ProviderError> {
    match role {
        RoleModel::Unset => Ok(None),
        RoleModel::Named { alias, because } => {
            find_named(settings, environment, alias, because.clone()).map(Some)
        }
        RoleModel::AtProvider { provider, name, because } => {
            find_at(&settings.model, environment, *provider, name, because).map(Some)
        }
        RoleModel::SameProvider { name } => {
            let because = "model.sub is set".to_owned();
            let place = Place { name: Some(name.clone()), because, ..root.place.clone() };
            // A price in the settings is that of the model they name, so the sub-model's comes from the table.
            let unpriced = ModelSettings { price: None, ..settings.model.clone() };
            found(place, &unpriced, environment).map(Some)
        }
    }
}

/// A model by the name a user typed: one of `[models.NAME]`, alone and not those that stand in for it, or
/// PROVIDER/NAME.
pub fn find_by_name(
    settings: &Settings,
    environment: &Environment,
    name: &str,
) -> Result<Found, ProviderError> {
    match at_provider(name) {
        Some((provider, at)) if !settings.models.contains_key(name) => {
            find_at(&settings.model, environment, provider, at, name)
        }
        Some(_) | None => find_one(of_alias(settings, name)?, environment),
    }
}

/// A model of `[models.NAME]`, with those that are asked when it is out.
pub(crate) fn find_named(
    settings: &Settings,
    environment: &Environment,
    alias: &str,
    because: String,
) -> Result<Found, ProviderError> {
    let named = of_alias(settings, alias)?;
    let mut first = find_one(named, environment)?;
    first.because = because;
    let mut others = Vec::new();
    for alias in &named.fallback {
        // One that cannot be asked is no reason not to ask the others.
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

fn of_alias<'a>(settings: &'a Settings, alias: &str) -> Result<&'a NamedModel, ProviderError> {
    settings
        .models
        .get(alias)
        .ok_or_else(|| ProviderError::Unknown { name: alias.to_owned(), known: known_names(settings) })
}

/// The names of `[models.NAME]`, in words.
fn known_names(settings: &Settings) -> String {
    settings.models.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A model of `[models.NAME]` without those.
fn find_one(named: &NamedModel, environment: &Environment) -> Result<Found, ProviderError> {
    let section = || named.settings.section.clone();
    let place =
        place(&named.settings, environment)?.ok_or_else(|| ProviderError::Nobody { section: section() })?;
    if place.name.is_none() {
        return Err(ProviderError::NameMissing { provider: format!("`{}`", section()) });
    }
    let mut found = found(place, &named.settings, environment)?;
    if let Some(bounded) = BoundedModel::around(&found.model, named.context_tokens, named.rate) {
        found.model = Arc::new(bounded);
    }
    Ok(found)
}

/// A model at its provider's usual address, with its usual key.
fn find_at(
    settings: &ModelSettings,
    environment: &Environment,
    provider: ProviderChoice,
    name: &str,
    because: &str,
) -> Result<Found, ProviderError> {
    let usual = usual(settings, provider, name);
    let place = place(&usual, environment)?
        .ok_or_else(|| ProviderError::Nobody { section: settings.section.clone() })?;
    found(Place { because: because.to_owned(), ..place }, &usual, environment)
}

/// The models that code of a session may name. Each is opened when it is first asked: a key that nobody needs is not
/// looked for.
pub(crate) fn roster(settings: &Settings, environment: &Environment) -> NamedModels {
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

/// The place with a model's name in it: the first that the server offers, where none was said.
async fn with_name(place: Place) -> Result<Place, ProviderError> {
    if place.name.is_some() {
        return Ok(place);
    }
    let models = list_models(&place.base_url, place.key.as_ref(), Duration::from_secs(10)).await?;
    let first = models.into_iter().find(|model| !model.contains("embed"));
    let name = first.ok_or_else(|| ProviderError::NoModels { base_url: place.base_url.clone() })?;
    Ok(Place { name: Some(name), ..place })
}

fn found(place: Place, settings: &ModelSettings, environment: &Environment) -> Result<Found, ProviderError> {
    place.check_name()?;
    let options = ModelOptions {
        base_url: place.base_url.clone(),
        name: place.name.clone().unwrap_or_default(),
        key: place.key.clone(),
        price: settings.price,
        label_calls: false,
    };
    let model = open(place.provider, options, settings, environment)?;
    Ok(Found { model, because: place.because.clone(), left_out: Vec::new(), place })
}
