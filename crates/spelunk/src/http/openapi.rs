//! The OpenAPI document, made from the table that makes the router. It is checked in as `docs/reference/openapi.json`.

use axum::Json;
use serde_json::{Map, Value, json};

use super::route::{Route, document_path, get};

pub(super) fn routes() -> Vec<Route> {
    vec![get("/openapi.json", "This document", show).scope(None).answers(
        200,
        "OpenAPI 3.1",
        json!({ "type": "object" }),
    )]
}

async fn show() -> Json<Value> {
    Json(document())
}

/// The document.
pub(crate) fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in super::routes() {
        let path = paths.entry(document_path(route.path)).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = route.operation();
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Spelunk",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Ask questions of text too large for any model.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of the server's file; scopes are read, run and admin. Not needed where the server \
                    was started without tokens.",
            } },
            "responses": { "Problem": {
                "description": "What went wrong (RFC 9457)",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            } },
            "schemas": { "Problem": {
                "type": "object",
                "required": ["type", "title", "status", "detail", "code"],
                "properties": {
                    "type": { "type": "string" },
                    "title": { "type": "string" },
                    "status": { "type": "integer" },
                    "detail": { "type": "string" },
                    "code": { "type": "string", "description": "The stable name; see docs/errors.md and docs/server.md" },
                    "hint": { "type": "string", "description": "One next step" },
                },
            } },
        },
    })
}
