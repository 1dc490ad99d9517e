//! Which model answers: what flags and settings say, else whoever there is a key for, else a server on this machine.
//! Finding none is not an error here; `ask` then shows passages.

mod open;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use spelunk_model::{Model, ModelError, ModelOptions, Secret, list_models};
use spelunk_types::{ErrorCode, Explain, ModelRef};

use self::open::{bedrock_url, open};
use crate::config::{ModelSettings, ProviderChoice};
use crate::env::{self, Environment};

const OPENAI_URL: &str = "https://api.openai.com/v1";
const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";
const OPENAI_MODEL: &str = "gpt-5-mini";
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";
const OPENROUTER_MODEL: &str = "openai/gpt-5-mini";
const GEMINI_URL: &str = "https://generativelanguage.googleapis.com/v1beta";
const GEMINI_MODEL: &str = "gemini-2.5-flash";
const BEDROCK_MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/// Servers that people run on their own machine, and the port each listens on unless told otherwise.
const LOCAL_SERVERS: [(&str, &str); 4] = [
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];
/// A server on this machine answers at once or is not there.
const PROBE: Duration = Duration::from_millis(300);

/// A model and why it was chosen.
pub(crate) struct Chosen {
    pub(crate) model: Arc<dyn Model>,
    /// The model of sub-calls, if another one was named.
    pub(crate) sub_model: Option<Arc<dyn Model>>,
    /// Such as `ANTHROPIC_API_KEY is set`.
    pub(crate) because: String,
}

/// Why the model that was asked for cannot be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    #[error("there is no key for {provider}")]
    KeyMissing { provider: &'static str, variable: String },
    #[error("`model.key_env` names `{variable}`, which is not set")]
    KeyVariableUnset { variable: String },
    #[error("`model.key_command` did not print a key: {reason}")]
    KeyCommand { reason: String },
    #[error("`model.provider` is `command`, and `model.command` names no program")]
    CommandMissing,
    #[error("it is not known where {provider} is")]
    AddressMissing { provider: &'static str, variable: &'static str },
    #[error("{provider} needs the name of a model")]
    NameMissing { provider: &'static str },
    #[error("the server at `{base_url}` offers no model")]
    NoModels { base_url: String },
    #[error("the run was begun by an MCP client, with a model or agents of its own")]
    OfClient,
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Explain for ProviderError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::KeyMissing { .. }
            | Self::KeyVariableUnset { .. }
            | Self::KeyCommand { .. }
            | Self::CommandMissing
            | Self::AddressMissing { .. }
            | Self::NameMissing { .. }
            | Self::NoModels { .. }
            | Self::OfClient => ErrorCode::ModelNotConfigured,
            Self::Model(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::KeyMissing { variable, .. } => {
                Some(format!("set `{variable}`, or name a local server with `--base-url`"))
            }
            Self::KeyVariableUnset { variable } => Some(format!("set `{variable}`")),
            Self::KeyCommand { .. } => {
                Some("run the command by hand; it must print the key and nothing else".into())
            }
            Self::CommandMissing => Some("set `model.command` in your own settings file".into()),
            Self::AddressMissing { variable, .. } => Some(format!("set `{variable}` or `model.base_url`")),
            Self::NameMissing { .. } => Some("name it with `--model`".into()),
            Self::NoModels { .. } => Some("load a model there, or name one with `--model`".into()),
            Self::OfClient => Some("go on with it from such a client, by the tool `rlm_resume`".into()),
            Self::Model(error) => error.hint(),
        }
    }
}

/// Where a model was looked for and what was found, before it is built.
struct Place {
    provider: &'static str,
    base_url: String,
    name: Option<String>,
    key: Option<Secret>,
    because: String,
}

/// Chooses a model, or none.
pub(crate) async fn choose(
    settings: &ModelSettings,
    environment: &Environment,
) -> Result<Option<Chosen>, ProviderError> {
    let keys = Keys { settings, environment };
    let place = match settings.provider {
        ProviderChoice::None => return Ok(None),
        ProviderChoice::Anthropic => Some(keys.anthropic("model.provider is anthropic")?),
        ProviderChoice::OpenAi => Some(keys.openai("openai", "model.provider is openai")?),
        ProviderChoice::Responses => {
            Some(keys.openai("openai-responses", "model.provider is openai-responses")?)
        }
        ProviderChoice::Gemini => Some(keys.gemini("model.provider is gemini")?),
        ProviderChoice::Azure => Some(keys.azure()?),
        ProviderChoice::Bedrock => Some(keys.bedrock()),
        ProviderChoice::Command => Some(keys.command()),
        ProviderChoice::Auto => match keys.by_environment()? {
            Some(place) => Some(place),
            None if settings.probe_local => probe(settings.name.clone()).await,
            None => None,
        },
    };
    match place {
        Some(place) => build(place, settings, environment).await.map(Some),
        None => Ok(None),
    }
}

/// The model a run was started with, with today's key.
pub(crate) fn recorded(
    recorded: &ModelRef,
    settings: &ModelSettings,
    environment: &Environment,
) -> Result<Arc<dyn Model>, ProviderError> {
    if recorded.provider == crate::mcp::CLIENT_PROVIDER {
        return Err(ProviderError::OfClient);
    }
    let keys = Keys { settings, environment };
    let variable = match recorded.provider.as_str() {
        "anthropic" => env::ANTHROPIC_API_KEY.name,
        "gemini" => keys.gemini_variable(),
        "azure" => env::AZURE_OPENAI_API_KEY.name,
        _ if recorded.base_url.starts_with(OPENROUTER_URL) => env::OPENROUTER_API_KEY.name,
        _ => env::OPENAI_API_KEY.name,
    };
    let options = ModelOptions {
        base_url: recorded.base_url.clone(),
        name: recorded.name.clone(),
        key: keys.key(variable)?,
        price: settings.price,
        label_calls: false,
    };
    open(&recorded.provider, options, settings, environment)
}

struct Keys<'a> {
    settings: &'a ModelSettings,
    environment: &'a Environment,
}

impl Keys<'_> {
    fn by_environment(&self) -> Result<Option<Place>, ProviderError> {
        let (name, has) = (self.settings.name.as_deref(), |variable: env::Variable| {
            self.environment.text(variable.name).is_some()
        });
        if self.settings.base_url.is_some() {
            return self.openai("openai", "model.base_url is set").map(Some);
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

    fn gemini_variable(&self) -> &'static str {
        match self.environment.text(env::GEMINI_API_KEY.name) {
            Some(_) => env::GEMINI_API_KEY.name,
            None => env::GOOGLE_API_KEY.name,
        }
    }

    fn gemini(&self, because: &str) -> Result<Place, ProviderError> {
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

    /// The resource from the settings or the environment; the name of the deployment cannot be guessed.
    fn azure(&self) -> Result<Place, ProviderError> {
        let variable = env::AZURE_OPENAI_ENDPOINT.name;
        let set = self.settings.base_url.as_deref().or_else(|| self.environment.text(variable));
        let base_url =
            set.ok_or(ProviderError::AddressMissing { provider: "the Azure resource", variable })?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        let Some(name) = self.settings.name.clone() else {
            return Err(ProviderError::NameMissing { provider: "Azure" });
        };
        let key = self.key(env::AZURE_OPENAI_API_KEY.name)?;
        let because = "model.provider is azure".to_owned();
        Ok(Place { provider: "azure", base_url, name: Some(name), key, because })
    }

    fn bedrock(&self) -> Place {
        let set = self.settings.base_url.clone();
        let base_url = set.unwrap_or_else(|| bedrock_url(self.environment)).trim_end_matches('/').to_owned();
        let name = Some(self.settings.name.clone().unwrap_or_else(|| BEDROCK_MODEL.into()));
        Place { provider: "bedrock", base_url, name, key: None, because: "model.provider is bedrock".into() }
    }

    fn command(&self) -> Place {
        let name = Some(self.settings.name.clone().unwrap_or_else(|| "command".into()));
        let because = "model.provider is command".to_owned();
        Place { provider: "command", base_url: String::new(), name, key: None, because }
    }

    fn anthropic(&self, because: &str) -> Result<Place, ProviderError> {
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

    fn openai(&self, provider: &'static str, because: &str) -> Result<Place, ProviderError> {
        let key = self.key(env::OPENAI_API_KEY.name)?;
        let base_url = self.base_url(env::OPENAI_BASE_URL.name, OPENAI_URL);
        let is_official = base_url == OPENAI_URL;
        if key.is_none() && is_official {
            return Err(ProviderError::KeyMissing {
                provider: "OpenAI",
                variable: env::OPENAI_API_KEY.name.into(),
            });
        }
        // Another server knows best which models it has.
        let name = self.settings.name.clone().or_else(|| is_official.then(|| OPENAI_MODEL.to_owned()));
        Ok(Place { provider, base_url, name, key, because: because.to_owned() })
    }

    fn base_url(&self, variable: &str, official: &str) -> String {
        let set = self.settings.base_url.as_deref().or_else(|| self.environment.text(variable));
        set.unwrap_or(official).trim_end_matches('/').to_owned()
    }

    /// The key from the variable or command that the settings name, else from the provider's usual variable.
    fn key(&self, variable: &str) -> Result<Option<Secret>, ProviderError> {
        if let Some(command) = &self.settings.key_command {
            return run_key_command(command).map(Some);
        }
        match &self.settings.key_env {
            Some(named) => match self.environment.text(named) {
                Some(key) => Ok(Some(Secret::new(key))),
                None => Err(ProviderError::KeyVariableUnset { variable: named.clone() }),
            },
            None => Ok(self.environment.text(variable).map(Secret::new)),
        }
    }
}

fn run_key_command(command: &str) -> Result<Secret, ProviderError> {
    let refused = |reason: String| ProviderError::KeyCommand { reason };
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

/// The first server on this machine that offers a model, in the order of the list.
async fn probe(wanted: Option<String>) -> Option<Place> {
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

async fn build(
    place: Place,
    settings: &ModelSettings,
    environment: &Environment,
) -> Result<Chosen, ProviderError> {
    let name = match place.name {
        Some(name) => name,
        None => {
            let models = list_models(&place.base_url, place.key.as_ref(), Duration::from_secs(10)).await?;
            let first = models.into_iter().find(|model| !model.contains("embed"));
            first.ok_or_else(|| ProviderError::NoModels { base_url: place.base_url.clone() })?
        }
    };
    let options = |name| ModelOptions {
        base_url: place.base_url.clone(),
        name,
        key: place.key.clone(),
        price: settings.price,
        label_calls: false,
    };
    // A price in the settings is that of the model they name, so the sub-model's comes from the table.
    let sub_model = settings
        .sub
        .clone()
        .map(|name| {
            open(place.provider, ModelOptions { price: None, ..options(name) }, settings, environment)
        })
        .transpose()?;
    let model = open(place.provider, options(name), settings, environment)?;
    Ok(Chosen { model, sub_model, because: place.because })
}
