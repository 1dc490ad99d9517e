//! Liveness, readiness and metrics, for operators.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use spelunk_app::blocking::blocking;
use spelunk_journal::{Disk as _, FileDisk};

use super::Shared;
use super::problem::{Answer, Problem};
use super::route::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    let state = json!({ "type": "object", "properties": { "status": { "type": "string" } } });
    vec![
        get("/healthz", "Whether the server is alive", alive).scope(None).answers(
            200,
            "It is",
            state.clone(),
        ),
        get("/readyz", "Whether it can take work: runs can be written, and the queue has room", ready)
            .scope(None)
            .answers(200, "It can", state)
            .problems(&[503]),
        get("/metrics", "Counts, for Prometheus", metrics).answers_as(
            200,
            "The text format of Prometheus",
            "text/plain",
            json!({ "type": "string" }),
        ),
    ]
}

async fn alive() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

async fn ready(State(server): State<Shared>) -> Answer<Json<Value>> {
    let not_ready = |detail: String| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "The server takes no work now.", detail)
    };
    if server.is_closed() {
        return Err(not_ready("the server is stopping".into()));
    }
    if !server.runs.has_room() {
        return Err(not_ready("the queue is full".into()));
    }
    let disk = FileDisk::of(server.runs.workspace().clone());
    let written = blocking(move || Ok(disk.create("server/ready", b"1\n"))).await?;
    written.map_err(|error| not_ready(format!("the workspace cannot be written: {error}")))?;
    Ok(Json(json!({ "status": "ready" })))
}

async fn metrics(State(server): State<Shared>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, server.metrics.text(&server.runs.counts())).into_response()
}
