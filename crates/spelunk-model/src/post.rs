//! JSON sent to a collector that is no model, by the same client: our TLS, no redirects, no retries, bounded in time.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;

use crate::error_mapping::Asked;
use crate::http::Endpoint;
use crate::reply::accept;
use crate::{ModelError, Secret};

/// Sends a body of JSON to an address, with these headers. What comes back is looked at for its status alone.
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
    let asked = Asked::new(endpoint.base_url, "collector".to_owned(), secrets(headers));
    accept(sent, &asked).await?;
    Ok(())
}

/// What no error may quote: any header may hold a key, with or without a word such as `Bearer` before it.
fn secrets(headers: &[(String, String)]) -> Vec<Secret> {
    let values = headers.iter().map(|(_, value)| value.as_str());
    values.flat_map(|value| std::iter::once(value).chain(value.split_whitespace())).map(Secret::new).collect()
}
