//! Credentials, as the services and programs of AWS write them.

use serde::Deserialize;

/// The output of a credential process, a container's agent or the metadata service.
#[derive(Deserialize)]
pub(crate) struct Credentials {
    #[serde(default, rename = "AccessKeyId")]
    pub(crate) access_key_id: Option<String>,
    #[serde(default, rename = "SecretAccessKey")]
    pub(crate) secret_access_key: Option<String>,
    /// Programs call it the session token, services just the token.
    #[serde(default, rename = "SessionToken", alias = "Token")]
    pub(crate) token: Option<String>,
    #[serde(default, rename = "Expiration")]
    pub(crate) expiration: Option<String>,
}
