//! The API document, generated from the same table as the router. It is checked in as
//! `docs/reference/openapi.json`.

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

/// The API document.
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
            "schemas": schemas(),
        },
    })
}

fn schemas() -> Value {
    let text = json!({ "type": "string" });
    let whole = json!({ "type": "integer" });
    json!({
            "Message": super::compat::message_schema(),
            "Problem": {
                "type": "object",
                "required": ["type", "title", "status", "detail", "code"],
                "properties": {
                    "type": text,
                    "title": text,
                    "status": whole,
                    "detail": text,
                    "code": { "type": "string", "description": "The stable name; see docs/errors.md and docs/server.md" },
                    "hint": { "type": "string", "description": "One next step" },
                },
            },
            "Promise": {
                "type": "object",
                "required": ["id", "state", "links"],
                "properties": { "id": text, "state": text, "links": { "type": "object" } },
            },
            "Row": {
                "type": "object",
                "required": ["run", "lifecycle", "state", "question", "calls", "cost_microusd", "queued"],
                "properties": {
                    "run": text, "lifecycle": text, "state": text, "question": text,
                    "calls": whole, "cost_microusd": whole, "queued": { "type": "boolean" },
                    "active_ms": { "type": ["integer", "null"], "minimum": 0 },
                    "problem": { "type": "object", "description": "Why it could not begin, or not go on" },
                },
            },
            "Run": {
                "type": "object",
                "required": ["run", "outcome", "question", "answer", "events", "usage"],
                "properties": {
                    "run": text, "outcome": {}, "question": {}, "answer": {}, "citations": {}, "model": {},
                    "documents": whole, "documents_read": whole, "corpus_bytes": whole, "bytes_read": whole, "skipped": { "type": "object" },
                    "redacted": { "type": "object" }, "usage": { "type": "object" }, "active_ms": whole,
                    "events": whole, "resumed": whole, "frames": { "type": "array" }, "calls": { "type": "array" },
                    "cells": { "type": "array" },
                },
            },
            "Result": {
                "type": "object",
                "required": ["run", "outcome", "answer", "success", "citations", "evidence", "metrics", "errors", "grounding", "usage"],
                "properties": {
                    "run": text, "outcome": { "type": "object" }, "answer": {}, "citations": {}, "grounding": {},
                    "evidence": {
                        "type": "array", "items": { "type": "object", "required": ["is"] },
                        "description": "Citations that were looked up, and facts that an agent kept; the first thousand",
                    },
                    "metrics": { "type": "object", "description": "What was counted" },
                    "errors": {
                        "type": "array", "items": { "type": "object", "required": ["code", "message"] },
                        "description": "What went wrong on the way; the first thousand things",
                    },
                    "success": { "type": "boolean" }, "degraded": { "type": "boolean" }, "error": {}, "model": {}, "documents": whole,
                    "documents_read": whole, "corpus_bytes": whole, "bytes_read": whole, "calls": whole, "calls_cached": whole,
                    "usage": { "type": "object" }, "active_ms": whole, "warnings": { "type": "array" },
                },
            },
    })
}
