//! The list of models behind an address: how a local server is recognised.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;

use crate::http::Endpoint;
use crate::refusal::Asked;
use crate::reply::{accept, content_type, read_text};
use crate::wire::openai::ModelList;
use crate::{ModelError, Secret};

/// The names behind `GET {base_url}/models`, in the server's order. Anything but a list in the OpenAI shape is an error:
/// other services answer on the usual ports too.
pub async fn list_models(
    base_url: &str,
    key: Option<&Secret>,
    timeout: Duration,
) -> Result<Vec<String>, ModelError> {
    let endpoint = Endpoint::open(base_url)?;
    let mut request = endpoint.client.get(format!("{}/models", endpoint.base_url)).timeout(timeout);
    if let Some(authorization) = endpoint.key_header(key, "Bearer ")? {
        request = request.header(AUTHORIZATION, authorization);
    }
    let asked =
        Asked::new(endpoint.base_url.clone(), "models".to_owned(), key.cloned().into_iter().collect());
    let response = match request.send().await {
        Err(error) if error.is_timeout() => {
            let after_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            return Err(ModelError::TimedOut { after_ms });
        }
        sent => accept(sent, &asked).await?,
    };
    let content_type = content_type(response.headers());
    if content_type != "application/json" {
        return Err(asked.malformed(&format!("its content type is `{content_type}`")));
    }
    let body = read_text(response, &asked).await?;
    let list: ModelList = serde_json::from_str(&body)
        .map_err(|error| asked.malformed(&format!("the list cannot be read: {error}")))?;
    Ok(list.data.into_iter().map(|model| model.id).collect())
}
