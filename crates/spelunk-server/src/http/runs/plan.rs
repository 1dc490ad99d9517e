//! The documents of a run and how far each was read, for the treemap.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use spelunk_app::render::viewer::plan;

use super::super::Shared;
use super::super::extract::{Params, Part};
use super::super::problem::{Answer, work};
use super::super::route::{Route, get};
use super::results::with_journal;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/v1/runs/{id}/plan", "The documents of a run, and how far it has come with each", show)
            .answers(
                200,
                "The documents",
                json!({
                    "type": "object",
                    "required": ["documents", "cut"],
                    "properties": {
                        "documents": { "type": "array", "items": {
                            "type": "object",
                            "properties": {
                                "path": { "type": "string" },
                                "bytes": { "type": "integer" },
                                "type": { "type": "string" },
                                "tasks": { "type": "integer", "description": "Tasks that were given out" },
                                "state": { "enum": ["none", "waiting", "open", "done", "recalled", "failed"] },
                            },
                        } },
                        "cut": { "type": "boolean", "description": "Whether there are more" },
                    },
                }),
            )
            .problems(&[404, 409]),
    ]
}

async fn show(State(server): State<Shared>, Part(id): Part<String>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let shown = work(move || {
        let found = with_journal(&server, &id)?;
        Ok(plan(&found.workspace, &found.run, &server.app.settings.detector())?)
    });
    Ok(Json(shown.await?))
}
