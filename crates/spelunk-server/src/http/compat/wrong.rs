//! Errors in the format of other APIs: `{"error": {…}}`. All problems, including those of the
//! guard, are converted when the response is sent.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::{Problem, bounded};
use super::Dialect;
use crate::mcp::plain_head;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) problem: Box<Problem>,
    pub(super) param: Option<String>,
    /// Whether a run was already paid for: a client that retries automatically would pay again.
    pub(super) is_final: bool,
}

pub(super) type ApiResult<T> = Result<T, ApiError>;

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        Self { problem: Box::new(problem), param: None, is_final: false }
    }
}

impl ApiError {
    fn of(status: StatusCode, code: &str, param: &str, detail: String) -> Self {
        let problem = Problem::new(status, code, "The request is invalid.", detail);
        Self { param: Some(param.to_owned()), ..Self::from(problem) }
    }

    /// A field that is missing or has the wrong type.
    pub(super) fn member(param: &str, what: &str) -> Self {
        Self::of(StatusCode::BAD_REQUEST, "invalid_value", param, format!("`{param}` {what}"))
    }

    /// A field of the API that this server does not support.
    pub(super) fn unsupported(param: &str, what: &str) -> Self {
        let detail = format!("`{param}` is not supported: {what}");
        Self::of(StatusCode::BAD_REQUEST, "unsupported_parameter", param, detail)
    }

    pub(super) fn no_model(model: &str, known: &[String]) -> Self {
        let shown = plain_head(model, 60);
        let detail = format!("there is no model `{shown}`; the models are {}", known.join(", "));
        Self::of(StatusCode::NOT_FOUND, "model_not_found", "model", detail)
    }

    pub(super) fn json(&self, dialect: Dialect) -> Value {
        error(dialect, &self.problem, self.param.as_deref())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { problem, param, is_final } = self;
        let mut response = problem.into_response();
        if let Some(param) = param {
            response.extensions_mut().insert(Param(param));
        }
        if is_final {
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }
}

#[derive(Clone)]
struct Param(String);

/// Those APIs do not use status 422.
fn shaped_status(status: StatusCode) -> StatusCode {
    if status == StatusCode::UNPROCESSABLE_ENTITY { StatusCode::BAD_REQUEST } else { status }
}

fn error(dialect: Dialect, problem: &Problem, param: Option<&str>) -> Value {
    let status = shaped_status(problem.status);
    let message = match &problem.hint {
        Some(hint) => format!("{} ({})", bounded(&problem.detail), bounded(hint)),
        None => bounded(&problem.detail),
    };
    let is_anthropic = dialect == Dialect::Messages;
    let kind = match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 if is_anthropic => "not_found_error",
        413 if is_anthropic => "request_too_large",
        429 => "rate_limit_error",
        503 if is_anthropic => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ if is_anthropic => "api_error",
        _ => "server_error",
    };
    if is_anthropic {
        return json!({ "type": "error", "error": { "type": kind, "message": message } });
    }
    let code = if status == StatusCode::UNAUTHORIZED { "invalid_api_key" } else { problem.code.as_str() };
    json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
}

pub(super) async fn reshape(dialect: Dialect, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let Some(problem) = response.extensions().get::<Problem>() else { return response };
    let param = response.extensions().get::<Param>().map(|param| param.0.as_str());
    let body = error(dialect, problem, param);
    let (mut parts, _) = response.into_parts();
    parts.status = shaped_status(parts.status);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(body.to_string()))
}
