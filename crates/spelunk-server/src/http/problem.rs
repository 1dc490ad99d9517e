//! Problems: errors as RFC 9457 problem details. Every engine error becomes one, and so does everything wrong with a
//! request itself.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use spelunk_app::arguments::SCHEMA_HINT;
use spelunk_app::blocking::blocking;
use spelunk_app::error_text::error_json;
use spelunk_app::failure::{Failure, Usage};
use spelunk_context::StoreError;
use spelunk_engine::EngineError;
use spelunk_journal::JournalError;
use spelunk_types::{Blame, ErrorCode, Explain};

use crate::mcp;

const DETAIL_CHARS_MAX: usize = 2_000;

const OPENAPI_HINT: &str = "see `/openapi.json` for the format of requests";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// The stable code: that of an [`ErrorCode`], or one of the server's own.
    pub(crate) code: String,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) hint: Option<String>,
}

pub(crate) type Answer<T = Response> = Result<T, Problem>;

impl Problem {
    /// A problem with a code of the server's own.
    pub(crate) fn new(status: StatusCode, code: &str, title: &str, detail: impl Into<String>) -> Self {
        Self { status, code: code.to_owned(), title: title.to_owned(), detail: detail.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not found.", what)
            .hint("see `/openapi.json` for all paths")
    }

    pub(crate) fn bad_parameter(name: &str, what: &str) -> Self {
        let detail = format!("the parameter `{name}` {what}");
        Self::new(StatusCode::BAD_REQUEST, "parameter-wrong", "A parameter is invalid.", detail)
            .hint("see `/openapi.json` for the parameters")
    }

    pub(crate) fn too_large(bytes_max: u64) -> Self {
        let detail = format!("the body has more than {bytes_max} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "The body is too large.", detail)
            .hint("send less, upload files as multipart/form-data, or use paths on the server")
    }

    pub(crate) fn too_slow() -> Self {
        let detail = "the body did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "body-too-slow", "The request took too long.", detail)
            .hint("send it faster, or raise `server.request_ms_max`")
    }

    /// With paths as the client knows them, and without a hint that it cannot follow.
    pub(crate) fn for_client(&self, state: &mcp::State) -> Self {
        let hint = self.hint.as_ref().and_then(|hint| state.hint_for_client(hint));
        Self { detail: state.without_roots(&self.detail), hint, ..self.clone() }
    }

    pub(crate) fn json(&self) -> Value {
        let mut members = json!({
            "type": format!("urn:spelunk:problem:{}", self.code),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": bounded(&self.detail),
            "code": self.code,
        });
        if let Some(hint) = &self.hint {
            members["hint"] = json!(bounded(hint));
        }
        members
    }
}

pub(super) fn bounded(text: &str) -> String {
    text.chars().take(DETAIL_CHARS_MAX).collect()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let kind = HeaderValue::from_static("application/problem+json");
        let mut response = (self.status, [(header::CONTENT_TYPE, kind)], Json(self.json())).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"spelunk\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        // The log reads its code, and the compatible endpoints convert it to their own format.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::of(failure.0.as_ref())
    }
}

macro_rules! from_errors {
    ($($error:ty),+) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::of(&error)
            }
        })+
    };
}

from_errors!(EngineError, JournalError, StoreError, Usage);

impl Problem {
    pub(crate) fn of(error: &dyn Explain) -> Self {
        let code = error.code();
        let mut detail = error.to_string();
        for cause in error_json(error)["causes"].as_array().into_iter().flatten() {
            detail += &format!(": {}", cause.as_str().unwrap_or_default());
        }
        let hint = error.hint().or_else(|| code.hint().map(str::to_owned));
        let is_usage = code == ErrorCode::UsageWrong;
        let title = if is_usage { "The request is invalid." } else { code.meaning() };
        Self {
            status: status(code),
            code: code.name().to_owned(),
            title: title.to_owned(),
            detail,
            hint: hint.map(|hint| if hint == SCHEMA_HINT { OPENAPI_HINT.to_owned() } else { hint }),
        }
    }
}

pub(crate) async fn work<T: Send + 'static>(work: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    blocking(move || Ok(work())).await?
}

/// Who has to act determines the status class; more specific statuses are listed.
fn status(code: ErrorCode) -> StatusCode {
    let conflicts = [
        ErrorCode::ContextExists,
        ErrorCode::RunAmbiguous,
        ErrorCode::RunLocked,
        ErrorCode::IndexLocked,
        ErrorCode::RunFinished,
        ErrorCode::SettingsChanged,
        ErrorCode::CorpusChanged,
        ErrorCode::Cancelled,
    ];
    if [ErrorCode::ContextNotFound, ErrorCode::RunNotFound].contains(&code) {
        return StatusCode::NOT_FOUND;
    }
    if conflicts.contains(&code) {
        return StatusCode::CONFLICT;
    }
    if [ErrorCode::FleetUnavailable, ErrorCode::ModelNotConfigured].contains(&code) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    match code.blame() {
        Blame::User | Blame::Settings | Blame::Limit => StatusCode::UNPROCESSABLE_ENTITY,
        Blame::Upstream => StatusCode::BAD_GATEWAY,
        Blame::Damage | Blame::Bug => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests;
