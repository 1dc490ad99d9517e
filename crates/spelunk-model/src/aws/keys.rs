//! AWS credentials, and the signer that holds them. They are fetched at the first request and again
//! shortly before they expire.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Request, RequestBuilder};
use tokio::sync::Mutex;

use super::chain::{AwsSource, missing};
use super::{fetch, sign};
use crate::reply::Prepared;
use crate::{ModelError, Secret, http, time};

/// Keys that expire sooner than this are fetched again.
const EXPIRY_MARGIN: Duration = Duration::from_mins(5);

/// The hash of the body, which S3 wants among the headers.
const CONTENT_HASH: &str = "x-amz-content-sha256";

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
pub struct AwsSigner {
    source: AwsSource,
    now: Now,
    region: String,
    service: &'static str,
    /// One fetch at a time: concurrent callers wait for it.
    held: Mutex<Option<AwsKeys>>,
}

impl fmt::Debug for AwsSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsSigner")
            .field("source", &self.source)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

impl AwsSigner {
    /// A signer with keys from this source.
    pub fn new(source: AwsSource, now: Now, region: &str, service: &'static str) -> Self {
        Self { source, now, region: region.to_owned(), service, held: Mutex::new(None) }
    }

    /// Signs a request to S3 that has no body, and whose parameters are in order.
    pub async fn signed_get(&self, request: RequestBuilder) -> Result<RequestBuilder, ModelError> {
        let sent = request.try_clone().and_then(|request| request.build().ok());
        let url = sent.as_ref().map(Request::url).ok_or_else(|| missing("the request is not valid"))?;
        let empty = sign::hash(b"");
        let (host, headers) = (http::host_of(url), [(CONTENT_HASH, empty.as_str())]);
        let (path, query) = (url.path(), url.query().unwrap_or_default());
        let parts = sign::Request { method: "GET", path, query, headers: &headers, body: b"" };
        Ok(self.with_signature(request.header(CONTENT_HASH, &empty), &host, parts).await?.request)
    }

    pub(crate) async fn signed(
        &self,
        request: RequestBuilder,
        (host, path, body): (&str, &str, &[u8]),
    ) -> Result<Prepared, ModelError> {
        let headers = [("content-type", "application/json")];
        let parts = sign::Request { method: "POST", path, query: "", headers: &headers, body };
        self.with_signature(request, host, parts).await
    }

    async fn with_signature(
        &self,
        request: RequestBuilder,
        host: &str,
        parts: sign::Request<'_>,
    ) -> Result<Prepared, ModelError> {
        let keys = self.keys().await?;
        let stamp = time::stamp((self.now)());
        let token = keys.session_token.as_ref().map(Secret::expose);
        let mut headers = vec![("host", host), ("x-amz-date", &stamp)];
        headers.extend(parts.headers);
        headers.extend(token.map(|token| ("x-amz-security-token", token)));
        let authorization = sign::authorization(
            &sign::Request { headers: &headers, ..parts },
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
