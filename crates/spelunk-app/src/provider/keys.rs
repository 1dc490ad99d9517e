//! A provider's URL, credentials and model name: from the settings, else from the environment, else from a server found
//! on this machine.

use std::time::Duration;

use futures_util::future::join_all;
use spelunk_model::{Secret, list_models};

use super::ProviderError;
use super::open::bedrock_url;
use crate::config::{ModelSettings, ProviderChoice};
use crate::env::{self, Environment};
use crate::local::ModelFolder;

const OPENAI_URL: &str = "https://api.openai.com/v1";
const ANTHROPIC_URL: &str = "https://api.anthropic.com";
pub(super) const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";
const OPENAI_MODEL: &str = "gpt-5-mini";
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";
const OPENROUTER_MODEL: &str = "openai/gpt-5-mini";
const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta";
const GEMINI_MODEL: &str = "gemini-2.5-flash";
const BEDROCK_MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/// Local model servers and the default port of each.
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
pub struct Place {
    pub(super) provider: &'static str,
    pub(super) base_url: String,
    pub(super) name: Option<String>,
    pub(super) key: Option<Secret>,
    pub(super) because: String,
}

impl Place {
    /// Rejects the name of another provider's model: one with a slash, as other providers write them.
    pub(super) fn check_name(&self) -> Result<(), ProviderError> {
        let is_theirs = [OPENAI_URL, ANTHROPIC_URL].contains(&self.base_url.as_str());
        match &self.name {
            Some(name) if is_theirs && name.contains('/') => {
                Err(ProviderError::OfAnother { name: name.clone(), base_url: self.base_url.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Resolves the settings of a model without contacting anything; `None` if nothing is set and no key exists.
pub fn place(settings: &ModelSettings, environment: &Environment) -> Result<Option<Place>, ProviderError> {
    place_of(&Keys { settings, environment, commands: Commands::Run })
}

/// The same with another policy for keys: enough to list a model, not to call it.
pub(super) fn place_unasked(
    settings: &ModelSettings,
    environment: &Environment,
    commands: Commands,
) -> Result<Option<Place>, ProviderError> {
    place_of(&Keys { settings, environment, commands })
}

fn place_of(keys: &Keys<'_>) -> Result<Option<Place>, ProviderError> {
    Ok(match keys.settings.provider {
        ProviderChoice::None => None,
        ProviderChoice::Anthropic => Some(keys.anthropic(&keys.because("provider is anthropic"))?),
        ProviderChoice::OpenAi => Some(keys.openai("openai", &keys.because("provider is openai"))?),
        ProviderChoice::Responses => {
            Some(keys.openai("openai-responses", &keys.because("provider is openai-responses"))?)
        }
        ProviderChoice::Gemini => Some(keys.gemini(&keys.because("provider is gemini"))?),
        ProviderChoice::Azure => Some(keys.azure()?),
        ProviderChoice::Bedrock => Some(keys.bedrock()),
        ProviderChoice::Command => Some(keys.command()),
        ProviderChoice::Local => Some(keys.local()?),
        ProviderChoice::Auto => keys.by_environment()?,
    })
}

/// Looks up keys and URLs.
pub(super) struct Keys<'a> {
    pub(super) settings: &'a ModelSettings,
    pub(super) environment: &'a Environment,
    pub(super) commands: Commands,
}

/// Whether commands that print keys are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    Run,
    /// A key from a command counts as present; the place cannot be used for requests.
    Skip,
    /// Every key counts as present; this only resolves which model would be used.
    Pretend,
}

impl Keys<'_> {
    pub(super) fn by_environment(&self) -> Result<Option<Place>, ProviderError> {
        let (name, has) = (self.settings.name.as_deref(), |variable: env::Variable| {
            self.environment.text(variable.name).is_some()
        });
        if self.settings.base_url.is_some() {
            return self.openai("openai", &self.because("base_url is set")).map(Some);
        }
        let wants_claude = name.is_some_and(|name| name.starts_with("claude"));
        let wants_other = name.is_some_and(|name| !name.starts_with("claude"));
        if has(env::ANTHROPIC_API_KEY)
            && !(wants_other && (has(env::OPENAI_API_KEY) || has(env::OPENROUTER_API_KEY)))
        {
            return self.anthropic("ANTHROPIC_API_KEY is set").map(Some);
        }
        if wants_claude && !has(env::OPENROUTER_API_KEY) {
            return self.anthropic("the model's name begins with claude").map(Some);
        }
        if has(env::OPENAI_API_KEY) || has(env::OPENAI_BASE_URL) {
            let because =
                if has(env::OPENAI_API_KEY) { "OPENAI_API_KEY is set" } else { "OPENAI_BASE_URL is set" };
            return self.openai("openai", because).map(Some);
        }
        if has(env::OPENROUTER_API_KEY) {
            let key = self.key(env::OPENROUTER_API_KEY.name)?;
            let name = Some(self.settings.name.clone().unwrap_or_else(|| OPENROUTER_MODEL.into()));
            let because = "OPENROUTER_API_KEY is set".to_owned();
            return Ok(Some(Place {
                provider: "openai",
                base_url: OPENROUTER_URL.into(),
                name,
                key,
                because,
            }));
        }
        if has(env::GEMINI_API_KEY) || has(env::GOOGLE_API_KEY) {
            return self.gemini(&format!("{} is set", self.gemini_variable())).map(Some);
        }
        Ok(None)
    }

    /// The setting that caused this choice, for messages.
    pub(super) fn because(&self, what: &str) -> String {
        format!("{}.{what}", self.settings.section)
    }

    pub(super) fn gemini_variable(&self) -> &'static str {
        match self.environment.text(env::GEMINI_API_KEY.name) {
            Some(_) => env::GEMINI_API_KEY.name,
            None => env::GOOGLE_API_KEY.name,
        }
    }

    pub(super) fn gemini(&self, because: &str) -> Result<Place, ProviderError> {
        let key = self.key(self.gemini_variable())?;
        let base_url = self.settings.base_url.as_deref().unwrap_or(GEMINI_URL);
        if key.is_none() && base_url == GEMINI_URL {
            let variable = env::GEMINI_API_KEY.name.into();
            return Err(ProviderError::KeyMissing { provider: "Gemini", variable });
        }
        let name = Some(self.settings.name.clone().unwrap_or_else(|| GEMINI_MODEL.into()));
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Place { provider: "gemini", base_url, name, key, because: because.to_owned() })
    }

    /// The resource comes from the settings or the environment; the deployment name cannot be guessed.
    pub(super) fn azure(&self) -> Result<Place, ProviderError> {
        let variable = env::AZURE_OPENAI_ENDPOINT.name;
        let set = self.settings.base_url.as_deref().or_else(|| self.environment.text(variable));
        let base_url =
            set.ok_or(ProviderError::AddressMissing { provider: "the Azure resource", variable })?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        let Some(name) = self.settings.name.clone() else {
            return Err(ProviderError::NameMissing { provider: "Azure".to_owned() });
        };
        let key = self.key(env::AZURE_OPENAI_API_KEY.name)?;
        let because = self.because("provider is azure");
        Ok(Place { provider: "azure", base_url, name: Some(name), key, because })
    }

    pub(super) fn bedrock(&self) -> Place {
        let set = self.settings.base_url.clone();
        let base_url = set.unwrap_or_else(|| bedrock_url(self.environment)).trim_end_matches('/').to_owned();
        let name = Some(self.settings.name.clone().unwrap_or_else(|| BEDROCK_MODEL.into()));
        Place { provider: "bedrock", base_url, name, key: None, because: self.because("provider is bedrock") }
    }

    pub(super) fn command(&self) -> Place {
        let name = Some(self.settings.name.clone().unwrap_or_else(|| "command".into()));
        let because = self.because("provider is command");
        Place { provider: "command", base_url: String::new(), name, key: None, because }
    }

    /// A model of the local folder: the one named, or the only one.
    pub(super) fn local(&self) -> Result<Place, ProviderError> {
        let folder = ModelFolder::of(&self.settings.local, self.environment);
        let name = match self.settings.name.clone() {
            Some(name) => name,
            None => {
                let mut all = folder.map(|folder| folder.all()).unwrap_or_default();
                match (all.pop(), all.is_empty()) {
                    (Some(only), true) => only.name,
                    (Some(_) | None, _) => {
                        return Err(ProviderError::NameMissing { provider: "a local model".to_owned() });
                    }
                }
            }
        };
        let (provider, because) = ("local", self.because("provider is local"));
        Ok(Place { provider, base_url: String::new(), name: Some(name), key: None, because })
    }

    pub(super) fn anthropic(&self, because: &str) -> Result<Place, ProviderError> {
        let key = self.key(env::ANTHROPIC_API_KEY.name)?;
        let base_url = self.base_url(env::ANTHROPIC_BASE_URL.name, ANTHROPIC_URL);
        if key.is_none() && base_url == ANTHROPIC_URL {
            return Err(ProviderError::KeyMissing {
                provider: "Anthropic",
                variable: env::ANTHROPIC_API_KEY.name.into(),
            });
        }
        let name = Some(self.settings.name.clone().unwrap_or_else(|| ANTHROPIC_MODEL.into()));
        Ok(Place { provider: "anthropic", base_url, name, key, because: because.to_owned() })
    }

    pub(super) fn openai(&self, provider: &'static str, because: &str) -> Result<Place, ProviderError> {
        let key = self.key(env::OPENAI_API_KEY.name)?;
        let base_url = self.base_url(env::OPENAI_BASE_URL.name, OPENAI_URL);
        let is_official = base_url == OPENAI_URL;
        if key.is_none() && is_official {
            return Err(ProviderError::KeyMissing {
                provider: "OpenAI",
                variable: env::OPENAI_API_KEY.name.into(),
            });
        }
        // A non-default server knows best which models it has.
        let name = self.settings.name.clone().or_else(|| is_official.then(|| OPENAI_MODEL.to_owned()));
        Ok(Place { provider, base_url, name, key, because: because.to_owned() })
    }

    fn base_url(&self, variable: &str, official: &str) -> String {
        let set = self.settings.base_url.as_deref().or_else(|| self.environment.text(variable));
        set.unwrap_or(official).trim_end_matches('/').to_owned()
    }

    /// The key from the variable or command named in the settings, else from the provider's default variable.
    pub(super) fn key(&self, variable: &str) -> Result<Option<Secret>, ProviderError> {
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

fn run_key_command(command: &str, section: &str) -> Result<Secret, ProviderError> {
    let refused = |reason: String| ProviderError::KeyCommand { section: section.to_owned(), reason };
    let output =
        std::process::Command::new("sh").arg("-c").arg(command).stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|error| refused(error.to_string()))?;
    if !output.status.success() {
        return Err(refused(output.status.to_string()));
    }
    let key = String::from_utf8(output.stdout).map_err(|_| refused("its output is not text".into()))?;
    match key.trim() {
        "" => Err(refused("it printed nothing".into())),
        key if key.contains(char::is_whitespace) => Err(refused("it printed more than one word".into())),
        key => Ok(Secret::new(key)),
    }
}

/// The first server on this machine that offers a model, in list order.
pub async fn probe(wanted: Option<String>) -> Option<Place> {
    let answers = join_all(LOCAL_SERVERS.map(|(_, base_url)| list_models(base_url, None, PROBE))).await;
    for ((server, base_url), answer) in LOCAL_SERVERS.into_iter().zip(answers) {
        let Ok(models) = answer else { continue };
        let name = match &wanted {
            Some(wanted) => models.iter().find(|model| *model == wanted),
            None => models.iter().find(|model| !model.contains("embed")),
        };
        if let Some(name) = name {
            let because = format!("{server} answers at {base_url}");
            return Some(Place {
                provider: "openai",
                base_url: base_url.into(),
                name: Some(name.clone()),
                key: None,
                because,
            });
        }
    }
    None
}
