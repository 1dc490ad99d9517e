//! The HTTP server: runs, contexts and models. Handlers convert requests, call the same functions as the command line,
//! and convert the results; they make no decisions about a run. `app` builds the router, independent of any socket.

mod about;
mod auth;
mod compat;
mod contexts;
mod extract;
mod guard;
mod health;
mod listen;
mod mcp_endpoint;
mod openapi;
mod page;
mod problem;
mod route;
mod runs;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use tokio::sync::watch;

pub use auth::{NewToken, Tokens};
pub(crate) use extract::Params;
pub(crate) use guard::name_of;
pub use listen::listen;
#[cfg(test)]
pub(crate) use openapi::document;
pub(crate) use problem::Problem;
pub use runs::fleet;
pub(crate) use runs::receive_form;

use spelunk_app::app::App;

use crate::{lock, mcp};
use auth::{Client, Scope};
use extract::{Fields, JsonBody, PathOnly, PathPart, PathQuery, fields, malformed, read_body, read_json};
use guard::RouteScope;
use health::{Counted, Counts, Metrics};
use mcp_endpoint::McpEndpoint;
use page::sent;
use problem::{Answer, bounded, work};
use route::{Route, delete, document_path, get, list_of, object_of, post, whole_schema};
use runs::fleet::FleetRuns;
use runs::{Corpora, NamedBlobs, Rows, RunService, Tickets};
use spelunk_app::failure::Failure;
use spelunk_app::trust;

/// State shared by all requests.
pub struct Server {
    pub(crate) app: Arc<App>,
    /// Contexts, roots and sandbox, shared with agents that use `/mcp`.
    pub(crate) mcp: Arc<mcp::State>,
    pub(crate) tokens: Tokens,
    /// The runs of this server.
    pub runs: RunService,
    pub(crate) rows: Rows,
    pub(crate) named_blobs: NamedBlobs,
    pub(crate) corpora: Corpora,
    pub(crate) metrics: Metrics,
    agents: McpEndpoint,
    log: Log,
    /// Set when the server stops: streams end and nothing new starts.
    closed: watch::Sender<bool>,
}

/// Whether requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// One JSON object per request, for programs.
    Json,
    /// One line per request, for people.
    Lines,
    /// No logging.
    Nothing,
}

pub(crate) type Shared = Arc<Server>;

impl Server {
    /// A server on the app's workspace.
    pub fn new(app: Arc<App>, mcp: Arc<mcp::State>, tokens: Tokens, log: Log) -> Result<Shared, Failure> {
        let settings = &app.settings.server;
        let agents = McpEndpoint::new(&mcp, settings);
        drop(app.workspace()?);
        let tickets = Tickets::new(app.own_workspace_dir()?, app.key(trust::TICKETS)?);
        app.live_runs.limit(usize::try_from(settings.runs_parallel_max).unwrap_or(usize::MAX));
        let fleet = app.fleet(Duration::ZERO)?.map(FleetRuns::new);
        let runs = RunService::new(tickets, Arc::clone(&app.live_runs), settings.queue_max, fleet);
        let server = Arc::new(Self {
            app,
            mcp,
            tokens,
            runs,
            rows: Rows::default(),
            named_blobs: NamedBlobs::default(),
            corpora: Corpora::default(),
            metrics: Metrics::default(),
            agents,
            log,
            closed: watch::Sender::new(false),
        });
        if let Some(fleet) = &server.runs.fleet {
            fleet.belong_to(&server);
        }
        let weak = Arc::downgrade(&server);
        // When a run started over MCP frees its slot, a run that waits here may start.
        server.app.live_runs.on_free(move || {
            if let Some(server) = weak.upgrade() {
                server.runs.pump(&server);
            }
        });
        Ok(server)
    }

    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
        self.agents.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Resolves when the server stops.
    pub(crate) async fn closing(&self) {
        // The sender lives as long as the server.
        drop(self.closed.subscribe().wait_for(|closed| *closed).await);
    }
}

/// Every route, in the order of the API document. The order does not affect matching: the router prefers static routes.
fn routes() -> Vec<Route> {
    let mut routes = health::routes();
    routes.extend(page::routes());
    routes.extend(openapi::routes());
    routes.extend(about::routes());
    routes.extend(runs::routes());
    routes.extend(mcp_endpoint::routes());
    routes.extend(contexts::routes());
    routes.extend(compat::routes());
    routes
}

/// The router.
pub fn app(server: &Shared) -> Router {
    let mut router = Router::new();
    for route in routes() {
        let needs = RouteScope { server: Arc::clone(server), scope: route.scope };
        let guarded = route.handler.route_layer(from_fn_with_state(needs, guard::admit));
        router = router.route(route.path, compat::shaped(route.path, guarded));
    }
    router
        // Each reader limits its body; the limit depends on the kind of body.
        .layer(DefaultBodyLimit::disable())
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(server), guard::observe))
        .with_state(Arc::clone(server))
}

async fn unknown(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    Problem::not_found(format!("there is no `{path}`"))
}

async fn wrong_method(method: Method) -> Problem {
    let detail = format!("{method} is not allowed for this path");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed.", detail)
        .hint("see `/openapi.json` for the methods of each path")
}

#[cfg(test)]
mod tests;
