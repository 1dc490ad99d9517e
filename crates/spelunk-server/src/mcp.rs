//! The MCP server: contexts and runs as tools, resources and prompts of the Model Context Protocol. One
//! handler serves every transport and both eras of the protocol: 2025-11-25 and earlier, and 2026-07-28,
//! which has neither a handshake nor server-initiated requests. It makes no decisions about a run.

mod agent_tasks;
mod answer;
mod catalogue;
mod cells;
mod consent;
mod contexts;
mod lines;
mod material;
mod models;
mod notes;
mod prompts;
mod query;
mod questions;
mod reading;
mod resources;
mod run_tools;
mod runs;
mod sampling;
mod service;
mod session_log;
mod state;
mod tasks;
mod tool_wait;

use std::sync::Arc;

use agent_tasks::AgentTasks;
use answer::{ToolAnswer, bound, client_error, cut};
use models::{ModelChoice, Models};
use questions::{ClientChannel, Questions};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServiceExt as _};
use runs::{HostAnswers, Live, model_name};
use sampling::ClientModelName;
use spelunk_app::failure::{Failure, Usage};
use tool_wait::{CallResult, CallStart, Work};

use crate::lock;

pub(crate) use answer::plain_head;
pub use catalogue::ToolSet;
pub(crate) use catalogue::or_null;
pub(crate) use contexts::find;
pub(crate) use lines::{Line, fault, next_line};
pub(crate) use material::Material;
pub use query::LIMITS;
pub(crate) use query::{Manner, Query, make_plan, read_limits, strategy};
pub(crate) use runs::{Ended, stopped};
pub(crate) use service::Service;
pub use state::{ServerOptions, State};

type CallContext = RequestContext<RoleServer>;

/// The maximum number of runs in progress if no HTTP server sets it.
const RUNS_MAX: usize = 16;

/// Serves one client until it closes standard input. Runs in progress then stop; they can be
/// resumed from their journals.
pub async fn serve_stdio(state: Arc<State>) -> Result<(), Failure> {
    state.app.live_runs.limit(RUNS_MAX);
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let (transport, reading, writing) = lines::checked(input, output);
    let serving = async {
        match Service::new(Arc::clone(&state)).serve(transport).await {
            Ok(service) => service.waiting().await.map(drop).map_err(|error| error.to_string()),
            // A client that disconnects before its first message is not an error.
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
        Usage::new(message, "start it from an MCP client; `docs/mcp.md` shows the configuration").into()
    })
}
