//! Builds a model from an endpoint: selects the adapter and supplies what it needs besides a URL and a key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use spelunk_model::{
    AnthropicModel, AwsSettings, BedrockModel, CommandModel, CommandOptions, CommandOutput, GeminiModel,
    Model, ModelOptions, OpenAiModel, ResponsesModel,
};

use super::{ProviderError, Result};
use crate::config::ModelSettings;
use crate::env::{self, Environment};
use crate::local::{IS_BUILT_IN, LocalModel, ModelFolder};

pub(crate) const AWS_REGION: &str = "us-east-1";

pub fn open(
    provider: &str,
    options: ModelOptions,
    settings: &ModelSettings,
    environment: &Environment,
) -> Result<Arc<dyn Model>> {
    Ok(match provider {
        "anthropic" => Arc::new(AnthropicModel::new(options)?),
        "openai-responses" => Arc::new(ResponsesModel::new(options)?),
        "gemini" => Arc::new(GeminiModel::new(options)?),
        "azure" => Arc::new(OpenAiModel::azure(options, &settings.azure_api_version)?),
        "bedrock" => {
            let aws = aws(environment);
            let region = aws.region().unwrap_or_else(|| AWS_REGION.to_owned());
            Arc::new(BedrockModel::new(options, &region, aws.auth(Arc::new(now))?)?)
        }
        "command" => Arc::new(command(options, settings)?),
        "local" => local(&options.name, settings, environment)?,
        _ => Arc::new(OpenAiModel::new(options)?),
    })
}

pub(super) fn bedrock_url(environment: &Environment) -> String {
    BedrockModel::base_url(&aws(environment).region().unwrap_or_else(|| AWS_REGION.to_owned()))
}

#[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// The date, `YYYY-MM-DD`, in UTC.
pub fn today() -> String {
    let seconds = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let [year, month, day] = spelunk_types::civil_date(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The AWS configuration of this machine, found the way the AWS tools find it.
pub(crate) fn aws(environment: &Environment) -> AwsSettings {
    let variables: BTreeMap<String, String> = environment.beginning_with("AWS_").collect();
    let home = environment.path(env::HOME).map(|home| home.join(".aws"));
    let text = |variable: &str, file: &str| {
        let named = variables.get(variable).map(PathBuf::from);
        read(&named.or_else(|| Some(home.as_ref()?.join(file)))?)
    };
    AwsSettings {
        credentials_file: text("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
        config_file: text("AWS_CONFIG_FILE", "config"),
        container_token_file: variables
            .get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
            .and_then(|path| read(Path::new(path))),
        variables,
    }
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the files of the user's tools")]
fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// A model of the local folder. The file must exist and be a model file, even if this build cannot run it.
fn local(name: &str, settings: &ModelSettings, environment: &Environment) -> Result<Arc<dyn Model>> {
    let missing = || ProviderError::LocalMissing { name: name.to_owned() };
    let folder = ModelFolder::of(&settings.local, environment).ok_or_else(missing)?;
    let found = folder.find(name).ok_or_else(missing)?;
    match found.header {
        Ok(_) if IS_BUILT_IN => run(found, settings),
        Ok(_) => Err(ProviderError::NotBuiltIn { name: found.name }),
        Err(source) => Err(ProviderError::LocalDamaged { name: name.to_owned(), source }),
    }
}

#[cfg(feature = "embedded")]
fn run(found: LocalModel, settings: &ModelSettings) -> Result<Arc<dyn Model>> {
    let LocalModel { name, path, bytes, header } = found;
    let header = header.map_err(|source| ProviderError::LocalDamaged { name: name.clone(), source })?;
    let sampling = settings.sampling;
    // A setting has at most six decimals, so no digit is lost.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "a small decimal number"
    )]
    let temperature = (sampling.temperature as f64 / 1e6) as f32;
    Ok(Arc::new(spelunk_model::EmbeddedModel::new(spelunk_model::EmbeddedOptions {
        name,
        path,
        bytes,
        header,
        context_tokens: sampling.context_tokens,
        temperature,
        seed: sampling.seed,
        threads: settings.local.threads,
    })?))
}

#[cfg(not(feature = "embedded"))]
fn run(found: LocalModel, _settings: &ModelSettings) -> Result<Arc<dyn Model>> {
    Err(ProviderError::NotBuiltIn { name: found.name })
}

/// A program: the words of `model.command`, without any expansion.
fn command(options: ModelOptions, settings: &ModelSettings) -> Result<CommandModel> {
    let Some(line) = settings.command.as_deref() else {
        return Err(ProviderError::CommandMissing { section: settings.section.clone() });
    };
    let mut words = line.split_whitespace().map(str::to_owned);
    let program =
        words.next().ok_or_else(|| ProviderError::CommandMissing { section: settings.section.clone() })?;
    Ok(CommandModel::new(CommandOptions {
        program,
        arguments: words.collect(),
        name: options.name,
        output: if settings.command_json { CommandOutput::JsonLines } else { CommandOutput::Text },
        price: options.price,
    })?)
}
