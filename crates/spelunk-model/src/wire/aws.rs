//! Credentials in the format of AWS services and programs.

use serde::Deserialize;

/// The output of a credential process, a container's agent or the metadata service.
#[derive(Deserialize)]
pub(crate) struct Credentials {
    #[serde(rename = "AccessKeyId")]
    pub(crate) access_key_id: Option<String>,
    #[serde(rename = "SecretAccessKey")]
    pub(crate) secret_access_key: Option<String>,
    /// Programs call it the session token, services just the token.
    #[serde(rename = "SessionToken", alias = "Token")]
    pub(crate) token: Option<String>,
    #[serde(rename = "Expiration")]
    pub(crate) expiration: Option<String>,
}
