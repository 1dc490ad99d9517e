//! From a place to a model: which adapter speaks to it, and what it needs besides an address and a key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use spelunk_model::{
    AnthropicModel, AwsSettings, BedrockModel, CommandModel, CommandOptions, CommandOutput, GeminiModel,
    Model, ModelOptions, OpenAiModel, ResponsesModel,
};

use super::ProviderError;
use crate::config::ModelSettings;
use crate::env::{self, Environment};

const AWS_REGION: &str = "us-east-1";

/// The model of this provider.
pub(super) fn open(
    provider: &str,
    options: ModelOptions,
    settings: &ModelSettings,
    environment: &Environment,
) -> Result<Arc<dyn Model>, ProviderError> {
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
        _ => Arc::new(OpenAiModel::new(options)?),
    })
}

/// The address of Bedrock in the region that the environment names.
pub(super) fn bedrock_url(environment: &Environment) -> String {
    BedrockModel::base_url(&aws(environment).region().unwrap_or_else(|| AWS_REGION.to_owned()))
}

#[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// What the machine knows about AWS, as its own tools would find it.
fn aws(environment: &Environment) -> AwsSettings {
    let variables: BTreeMap<String, String> = environment.beginning_with("AWS_").collect();
    let home = environment.path(env::HOME.name).map(|home| home.join(".aws"));
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

/// A program: the words of `model.command`, with nothing expanded.
fn command(options: ModelOptions, settings: &ModelSettings) -> Result<CommandModel, ProviderError> {
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
