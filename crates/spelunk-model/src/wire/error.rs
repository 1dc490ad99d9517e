//! Error bodies. Servers that claim compatibility differ most here, so several shapes are parsed.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// A longer wait is shortened to this; the engine has its own, lower bound.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderError {
    pub(crate) message: String,
    /// Its codes and types, numbers as text.
    pub(crate) codes: Vec<String>,
    pub(crate) retry_after: Option<Duration>,
}

impl ProviderError {
    /// Parses the body of an error status; a body of unknown shape is quoted unchanged.
    pub(crate) fn of_body(body: &str) -> Self {
        let parsed = serde_json::from_str::<Body>(body).ok().and_then(Body::into_error);
        parsed.unwrap_or_else(|| Self::in_words(body.to_owned()))
    }

    pub(crate) fn in_words(message: String) -> Self {
        Self { message, codes: Vec::new(), retry_after: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ErrorField {
    /// OpenAI, Anthropic and most others.
    Object {
        message: Option<String>,
        /// `invalid_request_error`.
        #[serde(rename = "type")]
        kind: Option<String>,
        /// `context_length_exceeded`, or the HTTP status.
        code: Option<Code>,
        /// `RESOURCE_EXHAUSTED`, in the Google format.
        status: Option<Code>,
        /// Anything, in the Google format.
        details: Option<Value>,
    },
    /// Some local servers.
    Text(String),
}

/// A code, which some servers write as a number.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Code {
    /// `rate_limit_exceeded`.
    Text(String),
    /// 429.
    Number(i64),
}

impl ErrorField {
    pub(crate) fn of(code: Option<Code>, message: Option<String>) -> Self {
        Self::Object { message, kind: None, code, status: None, details: None }
    }
}

impl From<ErrorField> for ProviderError {
    fn from(field: ErrorField) -> Self {
        match field {
            ErrorField::Text(message) => Self::in_words(message),
            ErrorField::Object { message, kind, code, status, details } => {
                let codes = [code, status].into_iter().flatten().map(|code| match code {
                    Code::Text(text) => text,
                    Code::Number(number) => number.to_string(),
                });
                Self {
                    message: message.unwrap_or_default(),
                    codes: codes.chain(kind).collect(),
                    retry_after: details.as_ref().and_then(retry_delay),
                }
            }
        }
    }
}

/// The wait in Google's details: `{"retryDelay": "34s"}`.
fn retry_delay(details: &Value) -> Option<Duration> {
    let delay = details.as_array()?.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    let wait = Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()?;
    Some(wait.min(RETRY_AFTER_MAX))
}

/// The body of an error status: `error` for nearly every server, `message` at the top level (vLLM, Bedrock), `detail`
/// (`FastAPI`).
#[derive(Debug, Deserialize)]
struct Body {
    error: Option<ErrorField>,
    #[serde(alias = "Message")]
    message: Option<String>,
    detail: Option<String>,
    /// The type of an AWS error.
    #[serde(rename = "__type")]
    kind: Option<String>,
}

impl Body {
    fn into_error(self) -> Option<ProviderError> {
        let codes = self.kind.into_iter().collect();
        let plain = self
            .message
            .or(self.detail)
            .map(|message| ProviderError { codes, ..ProviderError::in_words(message) });
        self.error.map(ProviderError::from).or(plain)
    }
}
