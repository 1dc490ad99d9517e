//! The configured models, listed without contacting any of them: provider, roles, price, and whether a key is present.
//! No key command is run.

use spelunk_model::{Price, Rate};
use spelunk_types::{Explain, ModelRef};

use super::keys::{Commands, Endpoint, LOCAL_SERVERS, PROBE, endpoint};
use super::{Result, found};
use crate::config::{ModelSettings, NamedModel, ProviderChoice, RoleModel, Settings};
use crate::env::Environment;

pub struct ListedModel {
    /// The user's name for it: NAME of `[models.NAME]`, `model` for that section, or PROVIDER/NAME.
    pub name: String,
    /// The model; `None` if it cannot be resolved without its key.
    pub reference: Option<ModelRef>,
    pub roles: Vec<&'static str>,
    pub price: Option<Price>,
    pub key: KeyState,
    pub context_tokens: Option<u64>,
    pub rate: Rate,
    pub fallback: Vec<String>,
}

pub enum KeyState {
    Set,
    /// A command prints it; the command was not run.
    ByCommand,
    NotNeeded,
    /// The default AWS credential chain.
    Aws,
    Missing {
        why: String,
    },
}

pub struct LocalServer {
    pub name: &'static str,
    pub base_url: &'static str,
    pub models: Vec<String>,
}

/// Every model that settings, roles and environment resolve to.
pub fn configured_models(settings: &Settings, environment: &Environment) -> Vec<ListedModel> {
    let mut listed: Vec<ListedModel> =
        settings.models.values().map(|named| of_named(named, environment)).collect();
    if let Some(plain) = plain(&settings.model, environment) {
        listed.insert(0, plain);
    }
    let root = give(&mut listed, "root", &settings.roles.root, settings, environment);
    let sub = match (&settings.roles.sub, root) {
        // No model is named, so the provider's default sub-model is used.
        (RoleModel::Unset, Some(root)) if listed[root].name == "model" => {
            let endpoint = endpoint(&settings.model, environment, Commands::Pretend).ok().flatten();
            let name = endpoint.and_then(|endpoint| endpoint.defaults?.sub);
            name.map_or(RoleModel::Unset, |name| RoleModel::SameProvider { name })
        }
        (set, _) => set.clone(),
    };
    for (role, model) in [("sub", &sub), ("synthesis", &settings.roles.synthesis)] {
        match (model, root) {
            (RoleModel::Unset, Some(root)) => listed[root].roles.push(role),
            (RoleModel::Unset, None) => {}
            (model, _) => {
                give(&mut listed, role, model, settings, environment);
            }
        }
    }
    if settings.roles.embedding != RoleModel::Unset {
        give(&mut listed, "embedding", &settings.roles.embedding, settings, environment);
    }
    listed
}

pub async fn local_servers() -> Vec<LocalServer> {
    let asking = LOCAL_SERVERS.map(|(name, base_url)| async move {
        let models = spelunk_model::list_models(base_url, None, PROBE).await.ok()?;
        Some(LocalServer { name, base_url, models })
    });
    futures_util::future::join_all(asking).await.into_iter().flatten().collect()
}

/// The first server on this machine that offers the model, or any model if none is wanted.
pub(super) async fn probe(wanted: Option<&str>) -> Option<Endpoint> {
    for LocalServer { name: server, base_url, models } in local_servers().await {
        let is_meant = |model: &String| wanted.map_or(!model.contains("embed"), |wanted| model == wanted);
        if let Some(name) = models.into_iter().find(is_meant) {
            let because = format!("{server} responds at {base_url}");
            let base_url = base_url.to_owned();
            let name = Some(name);
            return Some(Endpoint { provider: "openai", base_url, name, key: None, because, defaults: None });
        }
    }
    None
}

/// Records a role with its model, adding the model if it is not listed; returns its index.
fn give(
    listed: &mut Vec<ListedModel>,
    role: &'static str,
    model: &RoleModel,
    settings: &Settings,
    environment: &Environment,
) -> Option<usize> {
    let name = match model {
        RoleModel::Unset => "model".to_owned(),
        RoleModel::Named { alias, .. } => alias.clone(),
        RoleModel::AtProvider { provider, name, .. } => {
            let usual = usual(&settings.model, *provider, name);
            listed.push(of_settings(provider_and_name(*provider, name), &usual, environment));
            provider_and_name(*provider, name)
        }
        RoleModel::SameProvider { name } => {
            let sibling = ModelSettings { name: Some(name.clone()), price: None, ..settings.model.clone() };
            listed.push(of_settings(name.clone(), &sibling, environment));
            name.clone()
        }
    };
    let idx = listed.iter().position(|model| model.name == name)?;
    listed[idx].roles.push(role);
    Some(idx)
}

/// The settings of a model at its provider's default URL. A configured URL, key or price belongs only to the model that
/// the settings name.
pub(super) fn usual(settings: &ModelSettings, provider: ProviderChoice, name: &str) -> ModelSettings {
    ModelSettings {
        provider,
        name: Some(name.to_owned()),
        base_url: None,
        key_env: None,
        key_command: None,
        price: None,
        ..settings.clone()
    }
}

fn provider_and_name(provider: ProviderChoice, name: &str) -> String {
    format!("{}/{name}", provider.word())
}

/// The model of the section `model`, unless neither the section nor the environment names one.
fn plain(settings: &ModelSettings, environment: &Environment) -> Option<ListedModel> {
    match endpoint(settings, environment, Commands::Skip) {
        Ok(None) => None,
        Ok(Some(_)) | Err(_) => Some(of_settings("model".to_owned(), settings, environment)),
    }
}

fn of_named(named: &NamedModel, environment: &Environment) -> ListedModel {
    ListedModel {
        context_tokens: named.context_tokens,
        rate: named.rate,
        fallback: named.fallback.clone(),
        ..of_settings(named.alias.clone(), &named.settings, environment)
    }
}

fn of_settings(name: String, settings: &ModelSettings, environment: &Environment) -> ListedModel {
    let key = key_state(settings, &endpoint(settings, environment, Commands::Skip));
    let endpoint = endpoint(settings, environment, Commands::Pretend);
    // A custom server could be asked for its first model, but nothing is contacted here.
    let named = endpoint.ok().flatten().map(|endpoint| Endpoint {
        name: Some(endpoint.name.clone().unwrap_or_else(|| "(the first one offered)".to_owned())),
        ..endpoint
    });
    let opened = named.and_then(|endpoint| found(endpoint, settings, environment).ok());
    ListedModel {
        name,
        reference: opened.as_ref().map(|found| found.model.reference().clone()),
        roles: Vec::new(),
        price: opened.and_then(|found| found.model.facts().price),
        key,
        context_tokens: None,
        rate: Rate::default(),
        fallback: Vec::new(),
    }
}

fn key_state(settings: &ModelSettings, endpoint: &Result<Option<Endpoint>>) -> KeyState {
    match endpoint {
        Err(error) => {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            KeyState::Missing { why: format!("{error}{hint}") }
        }
        Ok(None) => KeyState::Missing { why: "no provider is set, and no key was found".to_owned() },
        Ok(Some(_)) if settings.key_command.is_some() => KeyState::ByCommand,
        Ok(Some(endpoint)) if endpoint.provider == "bedrock" => KeyState::Aws,
        Ok(Some(endpoint)) if endpoint.key.is_some() => KeyState::Set,
        Ok(Some(_)) => KeyState::NotNeeded,
    }
}
