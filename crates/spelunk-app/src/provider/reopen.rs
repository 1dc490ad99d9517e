//! Reopens the model that a run was started with. Its URL comes from a journal, which may have come
//! with a repository: a URL receives a key and the documents of a run only if the settings, the
//! environment or the provider itself name it. A server on this machine is used too, without a key.

use std::sync::Arc;

use spelunk_model::{CommandModel, Model, ModelOptions, is_on_this_machine};
use spelunk_types::{ModelRef, truncate};

use super::keys::{Commands, OPENROUTER_URL, endpoint, required_endpoint};
use super::list::usual;
use super::open::open;
use super::{ProviderError, Result, find_named, found};
use crate::config::{ModelSettings, ProviderChoice, Settings};
use crate::env::{self, Environment};

/// The provider name of a model that an MCP client provides by sampling.
pub const OF_CLIENT: &str = "mcp";

const ADDRESS_CHARS_MAX: usize = 200;

/// The model the run was started with, using today's key.
pub fn recorded(
    recorded: &ModelRef,
    settings: &Settings,
    environment: &Environment,
) -> Result<Arc<dyn Model>> {
    if recorded.provider == OF_CLIENT {
        return Err(ProviderError::OfClient);
    }
    // A named model is opened as it is configured here, even if other providers use the same format.
    let mut refused = None;
    for (alias, named) in &settings.models {
        if leads_to(&named.settings, environment, recorded) {
            match find_named(settings, environment, alias, String::new()) {
                Ok(found) => return Ok(found.model),
                // Another named model may have the key.
                Err(error) => refused = Some(error),
            }
        }
    }
    let settings = &settings.model;
    // Neither has a URL: only today's settings determine the program or the file.
    if matches!(recorded.provider.as_str(), "command" | "local") {
        return open(&recorded.provider, without_key(recorded, settings), settings, environment);
    }
    for known in known_endpoints(recorded, settings, environment) {
        if leads_to(&known, environment, recorded) {
            let endpoint = required_endpoint(&known, environment)?;
            return Ok(found(endpoint, &known, environment)?.model);
        }
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    if recorded.base_url == OPENROUTER_URL {
        let variable = env::OPENROUTER_API_KEY.to_owned();
        return Err(ProviderError::KeyMissing { provider: "OpenRouter", variable });
    }
    // A request to Bedrock always carries credentials.
    if is_on_this_machine(&recorded.base_url) && recorded.provider != "bedrock" {
        return open(&recorded.provider, without_key(recorded, settings), settings, environment);
    }
    let base_url = truncate(&recorded.base_url, ADDRESS_CHARS_MAX).to_owned();
    Err(ProviderError::AddressUnknown { base_url })
}

/// Whether `model.base_url` is the URL of the recorded model.
pub fn is_at_base_url(recorded: &ModelRef, settings: &Settings, environment: &Environment) -> bool {
    at_base_url(recorded, &settings.model).is_some_and(|known| leads_to(&known, environment, recorded))
}

/// The known endpoints of a provider: as configured, at the configured URL, at the default URL.
fn known_endpoints(
    recorded: &ModelRef,
    settings: &ModelSettings,
    environment: &Environment,
) -> Vec<ModelSettings> {
    let name = Some(recorded.name.clone());
    let mut known = vec![ModelSettings { name, ..settings.clone() }];
    known.extend(at_base_url(recorded, settings));
    known.push(usual(settings, provider(recorded), &recorded.name));
    if environment.text(env::OPENROUTER_API_KEY).is_some() {
        known.push(ModelSettings {
            base_url: Some(OPENROUTER_URL.to_owned()),
            key_env: Some(env::OPENROUTER_API_KEY.to_owned()),
            ..usual(settings, ProviderChoice::OpenAi, &recorded.name)
        });
    }
    known
}

/// The configured URL, with the API format of the run.
fn at_base_url(recorded: &ModelRef, settings: &ModelSettings) -> Option<ModelSettings> {
    settings.base_url.as_ref()?;
    let (provider, name) = (provider(recorded), Some(recorded.name.clone()));
    Some(ModelSettings { provider, name, ..settings.clone() })
}

fn provider(recorded: &ModelRef) -> ProviderChoice {
    ProviderChoice::of(&recorded.provider).unwrap_or(ProviderChoice::OpenAi)
}

/// Whether these settings resolve to that model. Runs no key command.
fn leads_to(settings: &ModelSettings, environment: &Environment, recorded: &ModelRef) -> bool {
    let endpoint = endpoint(settings, environment, Commands::Pretend).ok().flatten();
    let found = endpoint.and_then(|endpoint| found(endpoint, settings, environment).ok());
    found.is_some_and(|found| is_same(found.model.reference(), recorded))
}

/// Whether both are the same model; older runs may record a program without its arguments.
fn is_same(here: &ModelRef, recorded: &ModelRef) -> bool {
    let is_earlier = here.provider == "command"
        && (&here.provider, &here.name) == (&recorded.provider, &recorded.name)
        && CommandModel::is_of_program(&here.base_url, &recorded.base_url);
    is_earlier || here == recorded
}

fn without_key(recorded: &ModelRef, settings: &ModelSettings) -> ModelOptions {
    ModelOptions {
        base_url: recorded.base_url.clone(),
        name: recorded.name.clone(),
        key: None,
        price: settings.price,
        label_calls: false,
    }
}

#[cfg(test)]
mod tests;
