//! A build without the feature `fleet`.
#![expect(clippy::unused_async, reason = "the same signatures as in a build with the feature")]

use std::sync::Arc;
use std::time::Duration;

use spelunk_app::app::fleet::FleetWorkspace;
use spelunk_app::asking::Sources;
use spelunk_server::http::Server;
use spelunk_types::RunId;

use super::{App, CliResult, OutputFlags};

pub(super) const PATIENCE: Duration = Duration::ZERO;

#[expect(dead_code, reason = "nobody can ask a fleet that this build does not have")]
pub(super) struct FleetQuestion {
    pub(super) question: String,
    pub(super) sources: Sources,
    pub(super) strategy: Option<String>,
    pub(super) focus: Option<String>,
    pub(super) schema: Option<String>,
}

pub(super) async fn ask(
    _app: &App,
    shared: &Arc<FleetWorkspace>,
    _question: FleetQuestion,
    _output: OutputFlags,
) -> CliResult {
    match **shared {}
}

pub(super) async fn resume(
    _app: &App,
    shared: &Arc<FleetWorkspace>,
    _run: &RunId,
    _after_seq: u64,
    _output: OutputFlags,
) -> CliResult {
    match **shared {}
}

pub(super) async fn work(
    shared: &FleetWorkspace,
    _server: &Arc<Server>,
    _role: &'static str,
    _until: impl Future<Output = ()>,
) {
    match *shared {}
}
