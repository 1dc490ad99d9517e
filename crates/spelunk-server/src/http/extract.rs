//! Extracts the parts of a request and reports everything wrong with them as a problem: bodies that
//! are not JSON, too long or too slow, unknown parameters, invalid path segments.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::Value;
use spelunk_app::arguments::Arguments;
use spelunk_app::config::nearest;

use super::{Problem, Shared};
use crate::mcp::plain_head;

const PARAMETERS_MAX: usize = 50;
const PARAMETER_BYTES_MAX: usize = 4_096;
const NAME_CHARS_SHOWN: usize = 60;

pub(crate) struct JsonBody(pub(crate) Value);

/// A body that is a JSON object, whose fields are taken by name.
pub(crate) struct Fields(pub(crate) Arguments);

impl FromRequest<Shared> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, server: &Shared) -> Result<Self, Problem> {
        read_json(request, server, server.app.settings.server.body_bytes_max).await.map(Self)
    }
}

pub(crate) async fn read_json(request: Request, server: &Shared, bytes_max: u64) -> Result<Value, Problem> {
    if !is_json(request.headers()) {
        let detail = "the content type is not `application/json`";
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media-type-wrong",
            "Unsupported content type.",
            detail,
        )
        .hint("send `Content-Type: application/json`"));
    }
    let bytes = read_at_most(request.into_body(), server, bytes_max).await?;
    serde_json::from_slice(&bytes).map_err(|error| malformed(&error.to_string()))
}

impl FromRequest<Shared> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, server: &Shared) -> Result<Self, Problem> {
        let JsonBody(value) = JsonBody::from_request(request, server).await?;
        fields(value).map(Self)
    }
}

pub(crate) fn fields(value: Value) -> Result<Arguments, Problem> {
    match value {
        Value::Object(members) => Ok(Arguments::new(Some(members))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(malformed("the body is not an object").with_status(StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

pub(crate) fn malformed(what: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "json-malformed", "The body is not valid.", what)
        .hint("see `/openapi.json` for the format of the body")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The whole body, within the size and time limits.
pub(super) async fn read_body(body: Body, server: &Shared) -> Result<Bytes, Problem> {
    read_at_most(body, server, server.app.settings.server.body_bytes_max).await
}

async fn read_at_most(body: Body, server: &Shared, bytes_max: u64) -> Result<Bytes, Problem> {
    let patience = Duration::from_millis(server.app.settings.server.request_ms_max);
    let read = async {
        let mut bytes = Vec::new();
        let mut pieces = body.into_data_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|_| malformed("the body is incomplete"))?;
            if (bytes.len() + piece.len()) as u64 > bytes_max {
                return Err(Problem::too_large(bytes_max));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(Bytes::from(bytes))
    };
    tokio::time::timeout(patience, read).await.unwrap_or_else(|_| Err(Problem::too_slow()))
}

/// The query parameters. Each is taken by name; leftovers are rejected.
pub(crate) struct Params {
    given: BTreeMap<String, String>,
    taken: Vec<&'static str>,
}

impl FromRequestParts<Shared> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        Self::of(&parts.uri)
    }
}

impl Params {
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let bad = |detail: &str| {
            Problem::new(StatusCode::BAD_REQUEST, "parameter-wrong", "The parameters are invalid.", detail)
        };
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| bad("the query string cannot be parsed"))?;
        if pairs.len() > PARAMETERS_MAX || pairs.iter().any(|(_, value)| value.len() > PARAMETER_BYTES_MAX) {
            return Err(bad("there are too many parameters, or one is too long"));
        }
        let mut given = BTreeMap::new();
        for (name, value) in pairs {
            if given.insert(name.clone(), value).is_some() {
                return Err(Problem::bad_parameter(&plain_head(&name, NAME_CHARS_SHOWN), "is given twice"));
            }
        }
        Ok(Self { given, taken: Vec::new() })
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.taken.push(name);
        self.given.remove(name)
    }

    pub(crate) fn needed(&mut self, name: &'static str) -> Result<String, Problem> {
        self.text(name).ok_or_else(|| Problem::bad_parameter(name, "is missing"))
    }

    pub(crate) fn whole(&mut self, name: &'static str, min: u64, max: u64) -> Result<Option<u64>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse::<u64>().ok().filter(|number| (min..=max).contains(number));
        let wrong = || Problem::bad_parameter(name, &format!("must be an integer from {min} to {max}"));
        number.ok_or_else(wrong).map(Some)
    }

    pub(crate) fn finish(self) -> Result<(), Problem> {
        let Some(name) = self.given.keys().next() else { return Ok(()) };
        let problem =
            Problem::bad_parameter(&plain_head(name, NAME_CHARS_SHOWN), "is not a parameter of this path");
        Err(match nearest(name, self.taken.iter().copied()) {
            Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
            None if self.taken.is_empty() => problem.hint("it takes no parameters"),
            None => problem.hint(format!("the parameters are {}", self.taken.join(", "))),
        })
    }
}

/// The server, the path segments and the parameters of a request.
pub(crate) struct PathQuery<T>(pub(crate) Shared, pub(crate) T, pub(crate) Params);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for PathQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Shared) -> Result<Self, Problem> {
        let PathPart(part) = PathPart::from_request_parts(parts, server).await?;
        Ok(Self(Arc::clone(server), part, Params::of(&parts.uri)?))
    }
}

/// The same for a request that takes no parameters.
pub(crate) struct PathOnly<T>(pub(crate) Shared, pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for PathOnly<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Shared) -> Result<Self, Problem> {
        let PathQuery(server, part, params) = PathQuery::from_request_parts(parts, server).await?;
        params.finish()?;
        Ok(Self(server, part))
    }
}

/// Path segments, by their names in the route.
pub(crate) struct PathPart<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for PathPart<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Shared) -> Result<Self, Problem> {
        match Path::<T>::from_request_parts(parts, server).await {
            Ok(Path(part)) => Ok(Self(part)),
            Err(_) => Err(Problem::not_found("the path is not valid UTF-8")),
        }
    }
}
