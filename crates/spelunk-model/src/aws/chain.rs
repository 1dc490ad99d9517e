//! The credential chain: the usual order of the AWS tools, as a pure decision over what the binary found. Assuming
//! roles and single sign-on are not supported; a `credential_process` can do both.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::Url;

use super::keys::{AwsAuth, AwsKeys, Now};
use super::profile::{profile, words};
use crate::{ModelError, Secret};

const CONTAINER_HOST: &str = "http://169.254.170.2";
const METADATA_HOST: &str = "http://169.254.169.254";
/// Hosts besides this machine that are trusted over plain HTTP.
const CONTAINER_ADDRESSES: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// What the binary found: the environment and the contents of the two shared files.
#[derive(Clone, Default)]
pub struct AwsSettings {
    /// The `AWS_…` variables.
    pub variables: BTreeMap<String, String>,
    /// The text of the credentials file, if there is one.
    pub credentials_file: Option<String>,
    /// The text of the config file, if there is one.
    pub config_file: Option<String>,
    /// The content of the file named by `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`.
    pub container_token_file: Option<String>,
}

impl fmt::Debug for AwsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        f.debug_struct("AwsSettings").field("variables", &names).finish_non_exhaustive()
    }
}

/// A source of credentials.
#[derive(Debug, Clone)]
pub enum AwsSource {
    /// Static credentials.
    Keys(AwsKeys),
    /// A program prints them.
    Process {
        /// The program and its arguments.
        command: Vec<String>,
    },
    /// The container's agent serves them.
    Container {
        /// The URL.
        url: String,
        /// The authorization token that the agent expects.
        token: Option<Secret>,
    },
    /// The machine's metadata service serves them.
    Metadata {
        /// The URL, without a trailing slash.
        endpoint: String,
    },
}

impl AwsSettings {
    /// The region from the variables or the profile.
    pub fn region(&self) -> Option<String> {
        let named = self.variable("AWS_REGION").or_else(|| self.variable("AWS_DEFAULT_REGION"));
        named.map(str::to_owned).or_else(|| self.profile()?.remove("region"))
    }

    /// How requests are authenticated: with the Bedrock API key if there is one, otherwise with a signature.
    pub fn auth(&self, now: Now) -> Result<AwsAuth, ModelError> {
        match self.variable("AWS_BEARER_TOKEN_BEDROCK") {
            Some(token) => Ok(AwsAuth::Bearer(Secret::new(token))),
            None => Ok(AwsAuth::Signed { source: self.source()?, now }),
        }
    }

    /// The source of the credentials, in the usual order: variables, profile, container, machine.
    pub fn source(&self) -> Result<AwsSource, ModelError> {
        if let Some(keys) = self.keys_of_variables()? {
            return Ok(AwsSource::Keys(keys));
        }
        match (self.profile(), self.variable("AWS_PROFILE")) {
            (Some(profile), named) => {
                if let Some(source) = source_of_profile(&profile, named.is_some())? {
                    return Ok(source);
                }
            }
            (None, Some(name)) => return Err(missing(&format!("there is no profile `{name}`"))),
            (None, None) => {}
        }
        if let Some(path) = self.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return Ok(AwsSource::Container {
                url: format!("{CONTAINER_HOST}{path}"),
                token: self.container_token(),
            });
        }
        if let Some(url) = self.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            if !is_trusted(url) {
                return Err(missing(
                    "`AWS_CONTAINER_CREDENTIALS_FULL_URI` refers to another machine without `https`",
                ));
            }
            return Ok(AwsSource::Container { url: url.to_owned(), token: self.container_token() });
        }
        if self.variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        {
            return Err(missing("none are set in variables, a profile or a container"));
        }
        let endpoint = self.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or(METADATA_HOST);
        Ok(AwsSource::Metadata { endpoint: endpoint.trim_end_matches('/').to_owned() })
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    fn profile(&self) -> Option<BTreeMap<String, String>> {
        let named = self.variable("AWS_PROFILE").or_else(|| self.variable("AWS_DEFAULT_PROFILE"));
        profile(named.unwrap_or("default"), self.credentials_file.as_deref(), self.config_file.as_deref())
    }

    fn keys_of_variables(&self) -> Result<Option<AwsKeys>, ModelError> {
        match (self.variable("AWS_ACCESS_KEY_ID"), self.variable("AWS_SECRET_ACCESS_KEY")) {
            (Some(id), Some(secret)) => Ok(Some(keys(id, secret, self.variable("AWS_SESSION_TOKEN")))),
            (Some(_), None) => Err(missing("`AWS_ACCESS_KEY_ID` is set, but `AWS_SECRET_ACCESS_KEY` is not")),
            (None, _) => Ok(None),
        }
    }

    fn container_token(&self) -> Option<Secret> {
        let in_file = self.container_token_file.as_deref();
        self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").or(in_file).map(Secret::new)
    }
}

/// The source that a profile defines. A profile without a usable source is an error only if it was requested by name.
fn source_of_profile(
    profile: &BTreeMap<String, String>,
    is_named: bool,
) -> Result<Option<AwsSource>, ModelError> {
    let value = |name: &str| profile.get(name).map(String::as_str).filter(|value| !value.is_empty());
    if let (Some(id), Some(secret)) = (value("aws_access_key_id"), value("aws_secret_access_key")) {
        return Ok(Some(AwsSource::Keys(keys(id, secret, value("aws_session_token")))));
    }
    if let Some(command) = value("credential_process") {
        return Ok(Some(AwsSource::Process { command: words(command) }));
    }
    let foreign = ["role_arn", "sso_session", "sso_start_url", "web_identity_token_file"];
    if let Some(name) = foreign.into_iter().find(|name| value(name).is_some()) {
        return Err(missing(&format!(
            "the profile uses `{name}`, which is not supported; set `credential_process`, or export keys with `aws configure export-credentials`"
        )));
    }
    if is_named {
        return Err(missing("the profile contains no keys"));
    }
    Ok(None)
}

fn keys(id: &str, secret: &str, token: Option<&str>) -> AwsKeys {
    AwsKeys {
        access_key_id: id.to_owned(),
        secret_access_key: Secret::new(secret),
        session_token: token.map(Secret::new),
        expires_at: None,
    }
}

/// Credentials may come over `https`, from this machine, or from the addresses AWS reserves for it.
fn is_trusted(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "https"
        || url.scheme() == "http" && (crate::http::is_local(host) || CONTAINER_ADDRESSES.contains(&host))
}

pub(super) fn missing(detail: &str) -> ModelError {
    ModelError::KeysMissing { service: "AWS".to_owned(), detail: detail.to_owned() }
}

#[cfg(test)]
mod tests;
