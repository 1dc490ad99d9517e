//! Posts JSON to a collector (not a model) with the same client: our TLS, no redirects, no retries, and a timeout.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;

use crate::error_mapping::RequestContext;
use crate::http::Endpoint;
use crate::reply::accept;
use crate::{ModelError, Secret};

/// Posts a JSON body to a URL with these headers. Only the status of the response is used.
pub async fn post_json(
    url: &str,
    headers: &[(String, String)],
    body: String,
    timeout: Duration,
) -> Result<(), ModelError> {
    let endpoint = Endpoint::open(url)?;
    let mut request = endpoint.client.post(&endpoint.base_url).timeout(timeout);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let sent = request.header(CONTENT_TYPE, "application/json").body(body).send().await;
    let context = RequestContext::new(endpoint.base_url, "collector".to_owned(), secrets(headers));
    accept(sent, &context).await?;
    Ok(())
}

/// What no error may quote: any header may contain a key, with or without a prefix such as `Bearer`.
fn secrets(headers: &[(String, String)]) -> Vec<Secret> {
    let values = headers.iter().map(|(_, value)| value.as_str());
    values.flat_map(|value| std::iter::once(value).chain(value.split_whitespace())).map(Secret::new).collect()
}
