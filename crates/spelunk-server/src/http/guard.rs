//! The guard: checks that a request is meant for this server, comes from an allowed origin, and carries a token with
//! the necessary scope. It also sets the headers of every response and writes the request log.

use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use spelunk_engine::{Clock as _, SystemClock};

use super::listen::Peer;
use super::{Client, Log, Problem, Scope, Shared};
use crate::mcp::plain_head;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Nothing from other origins, nothing inline, no frames.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const ALLOWED_HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id, mcp-protocol-version, \
    mcp-session-id, mcp-method, mcp-name, x-api-key";

/// The outermost layer: counts and logs requests, rejects those not meant for this server, and sets response headers.
pub(super) async fn observe(State(server): State<Shared>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("-", MatchedPath::as_str).to_owned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let allowed = origin.as_ref().filter(|origin| is_allowed_origin(&server, origin)).cloned();
    let mut response = match check(&server, &request) {
        Err(problem) => problem.into_response(),
        Ok(()) if is_preflight(&request) => preflight(allowed.is_some()),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Some(origin) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        let exposed = HeaderValue::from_static("location, mcp-session-id");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    server.metrics.request(&method, &route, response.status(), took_ms);
    log(&server, &method, &route, &response, took_ms);
    response
}

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// One line per request; never a body, a token or a URL with parameters.
fn log(server: &Shared, method: &Method, route: &str, response: &Response, took_ms: u64) {
    let code = response.extensions().get::<Problem>().map(|problem| problem.code.as_str());
    let (at_ms, status) = (SystemClock.now_ms(), response.status().as_u16());
    match server.log {
        Log::Nothing => {}
        Log::Lines => server.app.say(&for_people(at_ms, method, route, status, took_ms, code)),
        Log::Json => {
            let mut line = json!({
                "at_ms": at_ms, "method": method.as_str(), "route": route, "status": status, "ms": took_ms,
            });
            if let Some(code) = code {
                line["code"] = json!(code);
            }
            server.app.say(&line.to_string());
        }
    }
}

/// The time is UTC, as in the names of runs.
fn for_people(
    at_ms: u64,
    method: &Method,
    route: &str,
    status: u16,
    took_ms: u64,
    code: Option<&str>,
) -> String {
    let second = at_ms / 1000 % 86_400;
    let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
    let code = code.map(|code| format!("  {code}")).unwrap_or_default();
    format!("{hours:02}:{minutes:02}:{seconds:02}  {status}  {method:<6} {route}  {took_ms} ms{code}")
}

/// A page of another site can make a browser send requests here, and can point its own host name at
/// our address. Either way, the host or the origin is not one of ours.
fn check(server: &Shared, request: &Request) -> Result<(), Problem> {
    let host = host_of(request);
    if !is_own_host(server, host) {
        let detail = format!("`{}` is not a host name of this server", plain_head(host, 100));
        let problem =
            Problem::new(StatusCode::MISDIRECTED_REQUEST, "host-refused", "The host is not allowed.", detail);
        return Err(problem.hint("use a loopback name, or add the name to `server.hosts`"));
    }
    let Some(origin) = request.headers().get(header::ORIGIN) else { return Ok(()) };
    if is_allowed_origin(server, origin) || is_same_origin(origin, host) {
        return Ok(());
    }
    let detail = "pages of other origins may not call this server";
    let problem = Problem::new(StatusCode::FORBIDDEN, "origin-refused", "The origin is not allowed.", detail);
    Err(problem.hint("if you trust the origin, add it to `server.cors_origins`"))
}

fn host_of(request: &Request) -> &str {
    let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    header.or_else(|| request.uri().authority().map(Authority::as_str)).unwrap_or_default()
}

fn is_own_host(server: &Shared, host: &str) -> bool {
    let Some(name) = name_of(host) else { return false };
    let hosts = &server.app.settings.server.hosts;
    let is_named = |known: &str| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host);
    if LOOPBACK.into_iter().any(is_named) || hosts.iter().any(|known| is_named(known)) {
        return true;
    }
    // With tokens, no host check is needed: a page of another site does not have a token.
    hosts.is_empty() && server.tokens.are_asked_for()
}

/// The name or address in a `Host` header; `None` if it is malformed.
pub(crate) fn name_of(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, port) = host.split_at_checked(end)?;
    let is_address = |inner: &str| inner.parse::<std::net::Ipv6Addr>().is_ok();
    let is_name = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => is_address(inner),
        None => !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)),
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (is_name && is_port).then_some(name)
}

fn is_allowed_origin(server: &Shared, origin: &HeaderValue) -> bool {
    server.app.settings.server.cors_origins.iter().any(|known| known.as_bytes() == origin.as_bytes())
}

fn is_same_origin(origin: &HeaderValue, host: &str) -> bool {
    let origin = origin.to_str().unwrap_or_default();
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(is_allowed: bool) -> Response {
    let mut response = (StatusCode::NO_CONTENT, Body::empty()).into_response();
    if is_allowed {
        let headers = response.headers_mut();
        let methods = HeaderValue::from_static("GET, POST, DELETE");
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
    response
}

#[derive(Clone)]
pub(super) struct RouteScope {
    pub(super) server: Shared,
    pub(super) scope: Option<Scope>,
}

pub(super) async fn admit(State(needs): State<RouteScope>, mut request: Request, next: Next) -> Response {
    match client(&needs, &request) {
        Err(problem) => problem.into_response(),
        Ok(client) => {
            request.extensions_mut().insert(client);
            let response = next.run(request).await;
            let problem = response.extensions().get::<Problem>();
            let shown = problem.map(|problem| problem.for_client(&needs.server.mcp));
            shown.filter(|shown| Some(shown) != problem).map_or(response, IntoResponse::into_response)
        }
    }
}

fn client(needs: &RouteScope, request: &Request) -> Result<Client, Problem> {
    let headers: &HeaderMap = request.headers();
    let peer =
        request.extensions().get::<Peer>().map_or_else(|| "local".to_owned(), |peer| peer.0.ip().to_string());
    let Some(scope) = needs.scope else { return Ok(Client { name: peer, scope: Scope::Read }) };
    let client = needs.server.tokens.client(headers, &peer, SystemClock.now_ms() / 1000)?;
    if client.scope >= scope {
        return Ok(client);
    }
    let detail =
        format!("the token allows {}, but this needs `{}`", client.scopes().join(", "), scope.name());
    let title = "The token does not allow this.";
    Err(Problem::new(StatusCode::FORBIDDEN, "scope-missing", title, detail)
        .hint("use a token with that scope"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_reads_well() {
        let line =
            |route: &str, status, code| for_people(1_794_771_947_775, &Method::GET, route, status, 3, code);
        assert_eq!(line("/v1/runs", 200, None), "19:45:47  200  GET /v1/runs  3 ms");
        assert_eq!(
            line("/v1/runs/{run}", 404, Some("run-not-found")),
            "19:45:47  404  GET /v1/runs/{run}  3 ms  run-not-found"
        );
    }

    #[test]
    fn a_host_is_told_from_its_port_and_from_junk() {
        let names = ["localhost:7766", "127.0.0.1", "[::1]:80", "[::1]", "a-b.c_d"].map(name_of);
        assert_eq!(names, ["localhost", "127.0.0.1", "[::1]", "[::1]", "a-b.c_d"].map(Some));
        for junk in [
            "",
            ":80",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "localhost:80@evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "localhost:80:80",
            "localhost/",
            "localhost evil",
            "localhost,evil.example",
            "[::1",
            "[::1]x",
            "[evil]",
            "::1",
            "löcalhost",
        ] {
            assert_eq!(name_of(junk), None, "{junk}");
        }
    }

    #[test]
    fn only_the_same_authority_is_the_same_origin() {
        let is_same =
            |origin: &str| is_same_origin(&HeaderValue::from_str(origin).unwrap(), "localhost:7766");
        assert!(is_same("http://localhost:7766") && is_same("https://LOCALHOST:7766"));
        for other in [
            "null",
            "http://localhost",
            "http://evil.example",
            "localhost:7766",
            "http://localhost:7766.evil",
        ] {
            assert!(!is_same(other), "{other}");
        }
    }
}
