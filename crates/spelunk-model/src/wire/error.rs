//! Error bodies. Servers that call themselves compatible differ most here, so several shapes are read.

use serde::Deserialize;

/// What a provider said about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderError {
    /// In words.
    pub(crate) message: String,
    /// Its codes and types, numbers as text.
    pub(crate) codes: Vec<String>,
}

impl ProviderError {
    /// Reads the body of an error status; a body in no known shape is quoted as it is.
    pub(crate) fn of_body(body: &str) -> Self {
        let parsed = serde_json::from_str::<Body>(body).ok().and_then(Body::into_error);
        parsed.unwrap_or_else(|| Self { message: body.to_owned(), codes: Vec::new() })
    }
}

/// The value of an `error` field.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ErrorField {
    /// OpenAI, Anthropic and most others.
    Object {
        /// In words.
        #[serde(default)]
        message: Option<String>,
        /// `invalid_request_error`.
        #[serde(default, rename = "type")]
        kind: Option<String>,
        /// `context_length_exceeded`, or the HTTP status.
        #[serde(default)]
        code: Option<Code>,
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

impl From<ErrorField> for ProviderError {
    fn from(field: ErrorField) -> Self {
        match field {
            ErrorField::Text(message) => Self { message, codes: Vec::new() },
            ErrorField::Object { message, kind, code } => {
                let code = code.map(|code| match code {
                    Code::Text(text) => text,
                    Code::Number(number) => number.to_string(),
                });
                Self { message: message.unwrap_or_default(), codes: code.into_iter().chain(kind).collect() }
            }
        }
    }
}

/// The body of an error status: `error` as nearly everyone writes it, `message` at the top (vLLM), `detail` (`FastAPI`).
#[derive(Debug, Deserialize)]
struct Body {
    #[serde(default)]
    error: Option<ErrorField>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    detail: Option<String>,
}

impl Body {
    fn into_error(self) -> Option<ProviderError> {
        let plain = |message| ProviderError { message, codes: Vec::new() };
        self.error.map(ProviderError::from).or(self.message.map(plain)).or(self.detail.map(plain))
    }
}
