//! Lists the models of a server, to recognise a local server and to check whether a provider has a model.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;

use crate::anthropic::API_VERSION;
use crate::error_mapping::RequestContext;
use crate::http::Endpoint;
use crate::reply::{accept, read_json};
use crate::wire::gemini::GeminiList;
use crate::wire::openai::ModelList;
use crate::{ModelError, Secret};

/// The format of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListShape {
    /// `GET {base_url}/models`, with a bearer key.
    OpenAi,
    /// `GET {base_url}/v1/models`, with `x-api-key`.
    Anthropic,
    /// `GET {base_url}/models`, with `x-goog-api-key`; names come as `models/NAME`.
    Gemini,
}

impl ListShape {
    /// The format of a provider; `None` for Bedrock and Azure, which list models elsewhere, and for commands.
    pub fn of(provider: &str) -> Option<Self> {
        match provider {
            "openai" | "openai-responses" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "gemini" => Some(Self::Gemini),
            _ => None,
        }
    }
}

/// The model names from `GET {base_url}/models`, in the server's order. Anything but a list in the
/// OpenAI format is an error: other services use the usual ports too.
pub async fn list_models(
    base_url: &str,
    key: Option<&Secret>,
    timeout: Duration,
) -> Result<Vec<String>, ModelError> {
    list_models_as(ListShape::OpenAi, base_url, key, timeout).await
}

/// The same in another provider's format. Only the first page is read.
pub async fn list_models_as(
    shape: ListShape,
    base_url: &str,
    key: Option<&Secret>,
    timeout: Duration,
) -> Result<Vec<String>, ModelError> {
    let endpoint = Endpoint::open(base_url)?;
    let base_url = &endpoint.base_url;
    let (address, header, prefix) = match shape {
        ListShape::OpenAi => (format!("{base_url}/models"), AUTHORIZATION.as_str(), "Bearer "),
        ListShape::Anthropic => {
            let base_url = base_url.strip_suffix("/v1").unwrap_or(base_url);
            (format!("{base_url}/v1/models?limit=1000"), "x-api-key", "")
        }
        ListShape::Gemini => (format!("{base_url}/models?pageSize=1000"), "x-goog-api-key", ""),
    };
    let mut request = endpoint.client.get(address).timeout(timeout);
    if shape == ListShape::Anthropic {
        request = request.header("anthropic-version", API_VERSION);
    }
    if let Some(value) = endpoint.key_header(key, prefix)? {
        request = request.header(header, value);
    }
    let context = RequestContext::new(
        endpoint.base_url.clone(),
        "models".to_owned(),
        key.cloned().into_iter().collect(),
    );
    let response = match request.send().await {
        Err(error) if error.is_timeout() => return Err(ModelError::timed_out(timeout)),
        sent => accept(sent, &context).await?,
    };
    let body = read_json(response, &context).await?;
    names(shape, &body).map_err(|error| context.malformed(&format!("the list is not valid: {error}")))
}

fn names(shape: ListShape, body: &str) -> Result<Vec<String>, serde_json::Error> {
    Ok(match shape {
        ListShape::OpenAi | ListShape::Anthropic => {
            let list: ModelList = serde_json::from_str(body)?;
            list.data.into_iter().map(|model| model.id).collect()
        }
        ListShape::Gemini => {
            let list: GeminiList = serde_json::from_str(body)?;
            let bare = |name: String| name.strip_prefix("models/").map(str::to_owned).unwrap_or(name);
            list.models.into_iter().map(|model| bare(model.name)).collect()
        }
    })
}
