//! The MCP server: contexts and runs as tools, resources and prompts of the Model Context Protocol. One handler serves
//! every transport and both eras of the protocol: 2025-11-25 and earlier, and 2026-07-28, which has neither a handshake
//! nor server-initiated requests. It makes no decisions about a run; it converts and calls.

mod agent_tasks;
mod answer;
mod catalogue;
mod cells;
mod contexts;
mod lines;
mod material;
mod models;
mod notes;
mod plan;
mod prompts;
mod query;
mod resources;
mod run_tools;
mod runs;
mod sampling;
mod schema;
mod service;
mod session_log;
mod state;
mod tasks;
mod tool_wait;
mod truncate;

use std::sync::Arc;

use rmcp::{ServerHandler, ServiceExt as _};
use spelunk_app::failure::{Failure, Usage};

pub(crate) use contexts::find;
pub(crate) use lines::{Line, fault, next_line};
pub(crate) use material::Material;
pub(crate) use plan::make as make_plan;
pub(crate) use query::{LIMITS, Manner, read_limits, strategy};
pub use state::{ServerOptions, State};

/// The handler, for any transport. All connections that share a state share its contexts, runs and notes.
pub(crate) fn handler(state: Arc<State>) -> impl ServerHandler {
    service::Service::new(state)
}

/// Serves one client until it closes standard input. Runs in progress then stop where they are; their journals keep
/// what they had, so that they can be resumed.
pub async fn serve_stdio(state: Arc<State>) -> Result<(), Failure> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let (transport, reading, writing) = lines::checked(input, output);
    let serving = async {
        match handler(Arc::clone(&state)).serve(transport).await {
            Ok(service) => service.waiting().await.map(drop).map_err(|error| error.to_string()),
            // A client that disconnects before it said anything is not an error.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    };
    // The end of the input ends the service; then the last responses are written.
    let served = async {
        tokio::select! {
            ended = serving => ended,
            never = async { drop(reading.await); std::future::pending().await } => never,
        }
    };
    let (ended, _) = tokio::join!(served, writing);
    state.shut_down().await;
    ended.map_err(|reason| {
        let message = format!("could not serve the client: {reason}");
        let hint = "start it from an MCP client; `docs/mcp.md` has the line for yours".to_owned();
        Usage { message, hint }.into()
    })
}
