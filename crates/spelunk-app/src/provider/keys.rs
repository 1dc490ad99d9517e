//! A provider's URL, credentials and model name: from the settings, else from the environment, else from a server found
//! on this machine.

use std::time::Duration;

use spelunk_model::{DefaultModels, HostedCatalogue, ModelOptions, Price, Secret};

use super::open::{bedrock_url, today};
use super::{ProviderError, Result};
use crate::config::{ModelSettings, ProviderChoice};
use crate::env::{self, Environment};
use crate::local::ModelFolder;

struct Hosted {
    provider: &'static str,
    label: &'static str,
    key_variable: &'static str,
    url_variable: Option<&'static str>,
    url: &'static str,
    /// The prefix of its model names before the maker's own.
    prefix: &'static str,
}

pub(super) const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";

const ANTHROPIC: Hosted = Hosted {
    provider: "anthropic",
    label: "Anthropic",
    key_variable: env::ANTHROPIC_API_KEY,
    url_variable: Some(env::ANTHROPIC_BASE_URL),
    url: "https://api.anthropic.com",
    prefix: "",
};
const OPENAI: Hosted = Hosted {
    provider: "openai",
    label: "OpenAI",
    key_variable: env::OPENAI_API_KEY,
    url_variable: Some(env::OPENAI_BASE_URL),
    url: "https://api.openai.com/v1",
    prefix: "",
};
const RESPONSES: Hosted = Hosted { provider: "openai-responses", ..OPENAI };
const OPENROUTER: Hosted = Hosted {
    provider: "openai",
    label: "OpenRouter",
    key_variable: env::OPENROUTER_API_KEY,
    url_variable: None,
    url: OPENROUTER_URL,
    prefix: "openai/",
};
const GEMINI: Hosted = Hosted {
    provider: "gemini",
    label: "Gemini",
    key_variable: env::GEMINI_API_KEY,
    url_variable: None,
    url: "https://generativelanguage.googleapis.com/v1beta",
    prefix: "",
};

pub(super) const LOCAL_SERVERS: [(&str, &str); 4] = [
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];
/// Probe timeout: a server on this machine answers at once or is not running.
pub(super) const PROBE: Duration = Duration::from_millis(300);

/// A resolved provider, before the model is built.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    pub(super) provider: &'static str,
    pub(super) base_url: String,
    pub(super) name: Option<String>,
    pub(super) key: Option<Secret>,
    pub(super) because: String,
    pub(super) defaults: Option<DefaultModels>,
}

impl Endpoint {
    pub(super) fn options(&self, price: Option<Price>) -> ModelOptions {
        ModelOptions {
            base_url: self.base_url.clone(),
            name: self.name.clone().unwrap_or_default(),
            key: self.key.clone(),
            price,
            label_calls: false,
        }
    }

    /// Fills in the provider's default models if none is named. `prefix` precedes the makers' names.
    fn or_default(self, prefix: &str) -> Self {
        if self.name.is_some() {
            return self;
        }
        let defaults = HostedCatalogue::current().defaults(self.provider, &today(), |_| true);
        self.with_defaults(defaults, prefix)
    }

    pub(super) fn with_defaults(self, defaults: Option<DefaultModels>, prefix: &str) -> Self {
        let prefixed = |name: String| format!("{prefix}{name}");
        let defaults = defaults.map(|DefaultModels { root, sub }| DefaultModels {
            root: prefixed(root),
            sub: sub.map(prefixed),
        });
        Self { name: defaults.as_ref().map(|defaults| defaults.root.clone()), defaults, ..self }
    }

    /// Rejects the name of another provider's model, recognised by its slash.
    pub(super) fn check_name(&self) -> Result<()> {
        let is_theirs = [OPENAI.url, ANTHROPIC.url].contains(&self.base_url.as_str());
        match &self.name {
            Some(name) if is_theirs && name.contains('/') => {
                Err(ProviderError::OfAnother { name: name.clone(), base_url: self.base_url.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Resolves the settings of a model without contacting anything; `None` if nothing is set and there is no key. Unless
/// key commands are run, the result is enough to list a model, not to call it.
pub(super) fn endpoint(
    settings: &ModelSettings,
    environment: &Environment,
    commands: Commands,
) -> Result<Option<Endpoint>> {
    let keys = Keys { settings, environment, commands };
    let because = keys.because(&format!("provider is {}", keys.settings.provider.word()));
    Ok(Some(match keys.settings.provider {
        ProviderChoice::None => return Ok(None),
        ProviderChoice::Auto => return keys.by_environment(),
        ProviderChoice::Anthropic => keys.hosted(&ANTHROPIC, because)?,
        ProviderChoice::OpenAi => keys.hosted(&OPENAI, because)?,
        ProviderChoice::Responses => keys.hosted(&RESPONSES, because)?,
        ProviderChoice::Gemini => keys.gemini(because)?,
        ProviderChoice::Azure => keys.azure(because)?,
        ProviderChoice::Bedrock => {
            let set = keys.settings.base_url.clone();
            let base_url = set.unwrap_or_else(|| bedrock_url(keys.environment));
            let endpoint =
                keyless("bedrock", base_url.trim_end_matches('/'), keys.settings.name.clone(), because);
            endpoint.or_default("")
        }
        ProviderChoice::Command => {
            let name = keys.settings.name.clone().unwrap_or_else(|| "command".to_owned());
            keyless("command", "", Some(name), because)
        }
        ProviderChoice::Local => keyless("local", "", Some(keys.local_name()?), because),
    }))
}

/// The same with key commands, but finding nothing is an error.
pub(super) fn required_endpoint(settings: &ModelSettings, environment: &Environment) -> Result<Endpoint> {
    let nobody = || ProviderError::Nobody { section: settings.section.clone() };
    endpoint(settings, environment, Commands::Run)?.ok_or_else(nobody)
}

struct Keys<'a> {
    settings: &'a ModelSettings,
    environment: &'a Environment,
    commands: Commands,
}

/// Whether commands that print keys are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    Run,
    /// A key from a command counts as present; the endpoint cannot be used for requests.
    Skip,
    /// Every key counts as present; this only resolves which model would be used.
    Pretend,
}

impl Keys<'_> {
    fn by_environment(&self) -> Result<Option<Endpoint>> {
        let has = |variable: &str| self.environment.text(variable).is_some();
        let set = |variable: &str| format!("{variable} is set");
        if self.settings.base_url.is_some() {
            return self.hosted(&OPENAI, self.because("base_url is set")).map(Some);
        }
        let is_claude = self.settings.name.as_deref().map(|name| name.starts_with("claude"));
        let has_other = has(env::OPENAI_API_KEY) || has(env::OPENROUTER_API_KEY);
        let endpoint = if has(env::ANTHROPIC_API_KEY) && !(is_claude == Some(false) && has_other) {
            self.hosted(&ANTHROPIC, set(env::ANTHROPIC_API_KEY))
        } else if is_claude == Some(true) && !has(env::OPENROUTER_API_KEY) {
            self.hosted(&ANTHROPIC, "the model name starts with claude".to_owned())
        } else if has(env::OPENAI_API_KEY) {
            self.hosted(&OPENAI, set(env::OPENAI_API_KEY))
        } else if has(env::OPENAI_BASE_URL) {
            self.hosted(&OPENAI, set(env::OPENAI_BASE_URL))
        } else if has(env::OPENROUTER_API_KEY) {
            self.hosted(&OPENROUTER, set(env::OPENROUTER_API_KEY))
        } else if has(env::GEMINI_API_KEY) || has(env::GOOGLE_API_KEY) {
            self.gemini(set(self.gemini_variable()))
        } else {
            return Ok(None);
        };
        endpoint.map(Some)
    }

    /// The setting that caused this choice, for messages.
    fn because(&self, what: &str) -> String {
        format!("{}.{what}", self.settings.section)
    }

    fn hosted(&self, hosted: &Hosted, because: String) -> Result<Endpoint> {
        self.hosted_with(hosted, self.key(hosted.key_variable)?, because)
    }

    fn gemini(&self, because: String) -> Result<Endpoint> {
        self.hosted_with(&GEMINI, self.key(self.gemini_variable())?, because)
    }

    fn hosted_with(&self, hosted: &Hosted, key: Option<Secret>, because: String) -> Result<Endpoint> {
        let Hosted { provider, label, key_variable, url_variable, url, prefix } = *hosted;
        let set = self.settings.base_url.as_deref();
        let set = set.or_else(|| self.environment.text(url_variable?));
        let base_url = set.unwrap_or(url).trim_end_matches('/').to_owned();
        let is_official = base_url == url;
        if key.is_none() && is_official {
            return Err(ProviderError::KeyMissing { provider: label, variable: key_variable.to_owned() });
        }
        // A server that only speaks OpenAI's format knows best which models it has.
        let has_model = is_official || label != OPENAI.label;
        let name = self.settings.name.clone();
        let endpoint = Endpoint { provider, base_url, name, key, because, defaults: None };
        Ok(if has_model { endpoint.or_default(prefix) } else { endpoint })
    }

    fn gemini_variable(&self) -> &'static str {
        let is_first = self.environment.text(env::GEMINI_API_KEY).is_some();
        if is_first { env::GEMINI_API_KEY } else { env::GOOGLE_API_KEY }
    }

    /// The resource comes from the settings or the environment; the deployment name cannot be guessed.
    fn azure(&self, because: String) -> Result<Endpoint> {
        let variable = env::AZURE_OPENAI_ENDPOINT;
        let set = self.settings.base_url.as_deref().or_else(|| self.environment.text(variable));
        let base_url =
            set.ok_or(ProviderError::AddressMissing { provider: "the Azure resource", variable })?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        let Some(name) = self.settings.name.clone() else {
            return Err(ProviderError::NameMissing { provider: "Azure".to_owned() });
        };
        let key = self.key(env::AZURE_OPENAI_API_KEY)?;
        Ok(Endpoint { provider: "azure", base_url, name: Some(name), key, because, defaults: None })
    }

    /// The named model of the local folder, or the only one.
    fn local_name(&self) -> Result<String> {
        if let Some(name) = &self.settings.name {
            return Ok(name.clone());
        }
        let folder = ModelFolder::of(&self.settings.local, self.environment);
        let mut all = folder.map(|folder| folder.all()).unwrap_or_default();
        match (all.pop(), all.is_empty()) {
            (Some(only), true) => Ok(only.name),
            (Some(_) | None, _) => Err(ProviderError::NameMissing { provider: "a local model".to_owned() }),
        }
    }

    /// The key from the variable or command named in the settings, else from the provider's default variable.
    fn key(&self, variable: &str) -> Result<Option<Secret>> {
        if self.commands == Commands::Pretend
            || (self.commands == Commands::Skip && self.settings.key_command.is_some())
        {
            return Ok(Some(Secret::new("pretended")));
        }
        if let Some(command) = &self.settings.key_command {
            return run_key_command(command, &self.settings.section).map(Some);
        }
        match &self.settings.key_env {
            Some(named) => match self.environment.text(named) {
                Some(key) => Ok(Some(Secret::new(key))),
                None => {
                    let section = self.settings.section.clone();
                    Err(ProviderError::KeyVariableUnset { section, variable: named.clone() })
                }
            },
            None => Ok(self.environment.text(variable).map(Secret::new)),
        }
    }
}

fn keyless(provider: &'static str, base_url: &str, name: Option<String>, because: String) -> Endpoint {
    Endpoint { provider, base_url: base_url.to_owned(), name, key: None, because, defaults: None }
}

fn run_key_command(command: &str, section: &str) -> Result<Secret> {
    let refused = |reason: String| ProviderError::KeyCommand { section: section.to_owned(), reason };
    let output =
        std::process::Command::new("sh").arg("-c").arg(command).stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|error| refused(error.to_string()))?;
    if !output.status.success() {
        return Err(refused(output.status.to_string()));
    }
    let key = String::from_utf8(output.stdout).map_err(|_| refused("its output is not UTF-8".into()))?;
    match key.trim() {
        "" => Err(refused("it printed nothing".into())),
        key if key.contains(char::is_whitespace) => Err(refused("it printed more than one word".into())),
        key => Ok(Secret::new(key)),
    }
}
