//! AWS credentials, and the signer that holds them. They are fetched at the first request and again
//! shortly before they expire.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tokio::sync::Mutex;

use super::chain::{AwsSource, missing};
use super::{fetch, sign};
use crate::reply::Prepared;
use crate::{ModelError, Secret, time};

/// Keys that expire sooner than this are fetched again.
const EXPIRY_MARGIN: Duration = Duration::from_mins(5);

/// The current time, supplied by the caller: libraries have no clock.
pub type Now = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// AWS credentials.
#[derive(Debug, Clone)]
pub struct AwsKeys {
    /// Not secret by itself.
    pub access_key_id: String,
    /// The signing key.
    pub secret_access_key: Secret,
    /// Present for temporary credentials.
    pub session_token: Option<Secret>,
    /// When they expire, if ever.
    pub expires_at: Option<SystemTime>,
}

/// How requests to Bedrock are authenticated.
#[derive(Clone)]
pub enum AwsAuth {
    /// A Bedrock API key (`AWS_BEARER_TOKEN_BEDROCK`).
    Bearer(Secret),
    /// A signature with keys from this source.
    Signed {
        /// Where the keys come from.
        source: AwsSource,
        /// The clock: signatures contain the time.
        now: Now,
    },
}

impl fmt::Debug for AwsAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bearer(secret) => f.debug_tuple("Bearer").field(secret).finish(),
            Self::Signed { source, now: _ } => f.debug_tuple("Signed").field(source).finish(),
        }
    }
}

/// Signs requests to one service in one region.
pub(crate) struct Signer {
    source: AwsSource,
    now: Now,
    region: String,
    service: &'static str,
    /// One fetch at a time: concurrent callers wait for it.
    held: Mutex<Option<AwsKeys>>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("source", &self.source)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

impl Signer {
    pub(crate) fn new(source: AwsSource, now: Now, region: &str, service: &'static str) -> Self {
        Self { source, now, region: region.to_owned(), service, held: Mutex::new(None) }
    }

    pub(crate) async fn signed(
        &self,
        request: RequestBuilder,
        (host, path, body): (&str, &str, &[u8]),
    ) -> Result<Prepared, ModelError> {
        let keys = self.keys().await?;
        let stamp = time::stamp((self.now)());
        let token = keys.session_token.as_ref().map(Secret::expose);
        let mut headers = vec![("content-type", "application/json"), ("host", host), ("x-amz-date", &stamp)];
        headers.extend(token.map(|token| ("x-amz-security-token", token)));
        let authorization = sign::authorization(
            &sign::Request { method: "POST", path, headers: &headers, body },
            &sign::Scope { region: &self.region, service: self.service, stamp: &stamp },
            &keys.access_key_id,
            &keys.secret_access_key,
        );
        let unusable = || missing("the available ones contain characters that are not allowed in a header");
        let mut value = HeaderValue::from_str(&authorization).map_err(|_| unusable())?;
        value.set_sensitive(true);
        let mut request = request.header(AUTHORIZATION, value).header("x-amz-date", &stamp);
        if let Some(token) = &keys.session_token {
            request = request.header("x-amz-security-token", token.header("").ok_or_else(unusable)?);
        }
        // A gateway may quote the headers it received.
        let secrets = [Some(Secret::new(&authorization)), Some(keys.secret_access_key), keys.session_token];
        Ok(Prepared { request, secrets: secrets.into_iter().flatten().collect() })
    }

    async fn keys(&self) -> Result<AwsKeys, ModelError> {
        let mut held = self.held.lock().await;
        let needed_until = (self.now)() + EXPIRY_MARGIN;
        if let Some(keys) = held.as_ref().filter(|keys| keys.expires_at.is_none_or(|at| at > needed_until)) {
            return Ok(keys.clone());
        }
        let keys = fetch::keys(&self.source).await?;
        *held = Some(keys.clone());
        Ok(keys)
    }
}
