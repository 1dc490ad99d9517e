//! `/mcp`: the agent tools over the streamable HTTP transport, for clients of both eras of the protocol. It uses the
//! same handler and state as stdio; tokens, hosts and origins are checked before it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use spelunk_app::config::ServerSettings;

use super::{Answer, Problem, Route, Scope, Shared, delete, get, post, read_body};
use crate::mcp;

const SESSIONS_MAX: usize = 1_000;
const SESSION_IDLE: Duration = Duration::from_mins(30);

pub(crate) struct McpEndpoint {
    service: StreamableHttpService<mcp::Service, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
}

impl McpEndpoint {
    pub(super) fn new(state: &Arc<mcp::State>, settings: &ServerSettings) -> Self {
        let bytes_max = usize::try_from(settings.body_bytes_max).unwrap_or(usize::MAX);
        // The guard checks hosts and origins, because it knows the settings.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(bytes_max);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let sessions = Arc::new(sessions);
        let state = Arc::clone(state);
        let make = move || Ok(mcp::Service::new(Arc::clone(&state)));
        Self { service: StreamableHttpService::new(make, Arc::clone(&sessions), config), sessions }
    }

    pub(super) fn close(&self) {
        self.service.config.cancellation_token.cancel();
    }
}

pub(super) fn routes() -> Vec<Route> {
    let message = json!({ "type": "object", "description": "A message of the Model Context Protocol" });
    let event_stream = json!({ "type": "string" });
    let routes = [
        post("/mcp", "A message from the client", serve)
            .takes(message.clone())
            .answers(200, "The response, immediately", message)
            .answers_as(200, "The response, or a stream of events", "text/event-stream", event_stream.clone())
            .answers_nothing(202, "The message was accepted")
            .answers_nothing(404, "There is no such session")
            .answers_nothing(406, "The client accepts neither response format")
            .problems(&[503]),
        get("/mcp", "Messages from the server to a client, for protocol versions with sessions", serve)
            .answers_as(200, "A stream of events", "text/event-stream", event_stream)
            .answers_nothing(404, "There is no such session")
            .answers_nothing(405, "This protocol version has no sessions")
            .answers_nothing(406, "The client does not accept event streams"),
        delete("/mcp", "End a session", serve)
            .answers_nothing(204, "The session has ended")
            .answers_nothing(404, "There is no such session")
            .answers_nothing(405, "This protocol version has no sessions"),
    ];
    routes.into_iter().map(|route| route.scope(Some(Scope::Run))).collect()
}

async fn serve(State(server): State<Shared>, request: Request) -> Answer {
    let agents = &server.agents;
    if request.method() == Method::POST && agents.sessions.sessions.read().await.len() >= SESSIONS_MAX {
        let (status, detail) = (StatusCode::SERVICE_UNAVAILABLE, "too many clients have a session");
        return Err(Problem::new(status, "sessions-full", "The server is busy.", detail));
    }
    let is_end = request.method() == Method::DELETE;
    let (parts, body) = request.into_parts();
    // The transport itself would wait forever for a body that does not arrive.
    let body = read_body(body, &server).await?;
    let request = Request::from_parts(parts, Body::from(body));
    let mut response = agents.service.handle(request).await.map(Body::new).into_response();
    // The library answers 202, but the session has already ended: 204 is the right status.
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(CONTENT_TYPE);
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    Ok(response)
}
