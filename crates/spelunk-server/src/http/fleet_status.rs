//! The fleet that this server belongs to: its nodes, its queue, and which node works on which run.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;

use super::Shared;
use super::extract::Params;
use super::problem::{Answer, Problem};
use super::route::{Route, get, whole_schema};
use super::runs::fleet::FleetRuns;

pub(super) fn routes() -> Vec<Route> {
    let whole = || whole_schema(0, 1 << 53);
    vec![
        get("/v1/fleet", "The nodes and the queue of the fleet that this server belongs to", show)
            .answers(
                200,
                "The state of the fleet, as `spelunk fleet status --json` prints it",
                json!({
                    "type": "object",
                    "required": ["nodes", "queued", "in_progress", "leases", "runs", "journal_bytes", "replicas"],
                    "properties": {
                        "nodes": { "type": "object", "additionalProperties": { "type": "object" } },
                        "queued": whole(),
                        "in_progress": whole(),
                        "leases": { "type": "object", "additionalProperties": { "type": "string" } },
                        "runs": whole(),
                        "journal_bytes": whole(),
                        "replicas": whole(),
                    },
                }),
            )
            .problems(&[404, 503]),
    ]
}

async fn status(server: &Shared) -> Result<Option<Value>, Failure> {
    let server = Arc::clone(server);
    blocking(move || server.runs.fleet.as_ref().map(FleetRuns::status).transpose()).await
}

async fn show(State(server): State<Shared>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let status = status(&server).await?;
    let status = status.ok_or_else(|| Problem::not_found("this server does not belong to a fleet"))?;
    Ok(Json(status))
}

/// Fails if the fleet does not answer; succeeds without a fleet.
pub(super) async fn answers(server: &Shared) -> Result<(), Failure> {
    status(server).await.map(drop)
}

/// Gauges for Prometheus; empty if there is no fleet or it does not answer.
pub(super) async fn gauges(server: &Shared) -> String {
    let Ok(Some(status)) = status(server).await else { return String::new() };
    let gauges = [
        ("fleet_nodes", "Nodes of the fleet.", &json!(status["nodes"].as_object().map_or(0, Map::len))),
        ("fleet_queued", "Runs of the fleet that no node has taken.", &status["queued"]),
        ("fleet_in_progress", "Runs of the fleet in progress.", &status["in_progress"]),
        ("fleet_journal_bytes", "Size of the journals of the fleet.", &status["journal_bytes"]),
    ];
    let gauge = |(name, about, value): (&str, &str, &Value)| {
        format!("# HELP spelunk_{name} {about}\n# TYPE spelunk_{name} gauge\nspelunk_{name} {value}\n")
    };
    gauges.map(gauge).concat()
}
