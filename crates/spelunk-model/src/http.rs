//! The HTTP client: one per adapter, with our own TLS provider and without retries, redirects or
//! total timeouts. The engine decides how long a call may take.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Client, Url};
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::{ModelError, Secret};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Carries the call id, if the adapter is configured to send it.
pub(crate) const CALL_HEADER: &str = "x-spelunk-call";

#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    /// Without a trailing slash and without credentials.
    pub(crate) base_url: String,
    pub(crate) is_local: bool,
    /// The host, for provider-specific behaviour.
    pub(crate) host: String,
}

/// A client for other requests to this URL: without redirects or retries, and with a proxy only if the host is remote.
pub fn http_client(url: &str) -> Result<Client, ModelError> {
    Ok(Endpoint::open(url)?.client)
}

impl Endpoint {
    /// Validates the base URL and builds the client. Costs microseconds for `http`; for `https` it loads the system's
    /// root certificates.
    pub(crate) fn open(base_url: &str) -> Result<Self, ModelError> {
        let url = checked_url(base_url)?;
        let shown = url.as_str().trim_end_matches('/').to_owned();
        let unusable = |detail: String| ModelError::Unreachable { base_url: shown.clone(), detail };
        let host = url.host_str().unwrap_or_default().to_owned();
        let is_local = is_local(&host);
        let tls = tls_config(url.scheme()).map_err(|error| unusable(error.to_string()))?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("spelunk/", env!("CARGO_PKG_VERSION")));
        if is_local || is_link_local(&host) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| unusable(deepest_cause(&error)))?;
        Ok(Self { client, base_url: shown, is_local, host })
    }

    /// The same for a URL that is used unchanged, including its query.
    pub(crate) fn open_with_query(url: &str) -> Result<Self, ModelError> {
        let (path, _) = url.split_once('?').unwrap_or((url, ""));
        Self::open(path)
    }

    /// The `host` header and the path of a request to `{base_url}{path}`, as sent.
    pub(crate) fn host_and_path(&self, path: &str) -> (String, String) {
        let Ok(url) = Url::parse(&format!("{}{path}", self.base_url)) else {
            return (String::new(), String::new());
        };
        (host_of(&url), url.path().to_owned())
    }

    /// The value of the header that carries the key, if there is one.
    pub(crate) fn key_header(
        &self,
        key: Option<&Secret>,
        prefix: &str,
    ) -> Result<Option<HeaderValue>, ModelError> {
        let Some(key) = key else { return Ok(None) };
        match key.header(prefix) {
            Some(value) => Ok(Some(value)),
            None => Err(ModelError::Unauthorized {
                base_url: self.base_url.clone(),
                detail: "the key contains characters that are not allowed in a header".to_owned(),
            }),
        }
    }
}

/// The `host` header of a request to this URL.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether the server at this URL runs on this machine.
pub fn is_on_this_machine(base_url: &str) -> bool {
    checked_url(base_url).is_ok_and(|url| is_local(url.host_str().unwrap_or_default()))
}

/// Why a request got no response: the innermost cause is the most specific, and the only one without the URL.
pub fn deepest_cause(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

/// Escapes everything but letters, digits and `-._~`, so that a name is one path component.
pub fn percent_encoded(text: &str) -> String {
    spelunk_types::percent_encoded(text, |c| c.is_ascii_alphanumeric() || "-._~".contains(c))
}

/// Rejects a URL with parts that must not be shown, or to which no path can be appended.
fn checked_url(base_url: &str) -> Result<Url, ModelError> {
    let refused = |shown: &str, detail: &str| ModelError::Unreachable {
        base_url: shown.chars().take(200).collect(),
        detail: detail.to_owned(),
    };
    let Ok(mut url) = Url::parse(base_url.trim()) else {
        return Err(refused(without_credentials(base_url), "it is not a valid URL"));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(without_credentials(base_url), "it must not contain credentials; set a key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        url.set_query(None);
        url.set_fragment(None);
        return Err(refused(url.as_str(), "it must not have a query or fragment"));
    }
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(refused(url.as_str(), "it must begin with `http://` or `https://`")),
    }
}

/// The part after the last `@`: enough to recognise the URL.
fn without_credentials(base_url: &str) -> &str {
    base_url.rsplit('@').next().unwrap_or_default()
}

pub(crate) fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
    }
}

/// Link-local services of a cloud are never reached through a proxy.
fn is_link_local(host: &str) -> bool {
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_link_local(),
        Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
        Err(_) => false,
    }
}

/// TLS with the `ring` provider, whatever default the process has installed. The configuration for
/// plain HTTP trusts nobody, so no certificate is read.
fn tls_config(scheme: &str) -> Result<ClientConfig, rustls::Error> {
    let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let mut config = if scheme == "https" {
        let verifier = Arc::new(Verifier::new(provider)?);
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests;
