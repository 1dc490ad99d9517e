//! The API document, generated from the same table as the router. It is checked in as
//! `docs/reference/openapi.json`.

use std::sync::LazyLock;

use axum::http::{Method, header};
use axum::response::IntoResponse;
use serde_json::{Map, Value, json};

use super::{Route, document_path, get, list_of, object_of};

pub(super) fn routes() -> Vec<Route> {
    vec![get("/openapi.json", "This document", show).scope(None).answers(
        200,
        "OpenAPI 3.1",
        json!({ "type": "object" }),
    )]
}

/// Generating the document takes milliseconds.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());

async fn show() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}

const TAGS: [(&str, &str); 6] = [
    ("runs", "Questions and their results"),
    ("contexts", "Registered contexts"),
    ("openai", "Endpoints for clients of OpenAI's APIs"),
    ("anthropic", "The endpoint for clients of Anthropic's API"),
    ("mcp", "Tools for agents"),
    ("server", "The server itself"),
];

/// Method, path, group, name.
const OPERATIONS: [(&str, &str, &str, &str); 51] = [
    ("POST", "/v1/runs", "runs", "create_run"),
    ("GET", "/v1/runs", "runs", "list_runs"),
    ("GET", "/v1/runs/{run}", "runs", "get_run"),
    ("DELETE", "/v1/runs/{run}", "runs", "delete_run"),
    ("POST", "/v1/runs/{run}/cancel", "runs", "cancel_run"),
    ("POST", "/v1/runs/{run}/resume", "runs", "resume_run"),
    ("POST", "/v1/runs/{run}/tools/{call}", "runs", "decide_call"),
    ("POST", "/v1/runs/{run}/questions", "runs", "ask_follow_up"),
    ("GET", "/v1/runs/{run}/events", "runs", "stream_events"),
    ("GET", "/v1/runs/{run}/result", "runs", "get_result"),
    ("GET", "/v1/runs/{run}/evidence", "runs", "get_evidence"),
    ("GET", "/v1/runs/{run}/report", "runs", "get_report"),
    ("GET", "/v1/runs/{run}/plan", "runs", "get_run_plan"),
    ("GET", "/v1/runs/{run}/files", "runs", "list_files"),
    ("GET", "/v1/runs/{run}/files/{*path}", "runs", "get_file"),
    ("GET", "/v1/runs/{run}/blobs/{digest}", "runs", "get_blob"),
    ("GET", "/v1/runs/{run}/source", "runs", "get_source"),
    ("POST", "/v1/plan", "runs", "plan_run"),
    ("GET", "/api/context/", "contexts", "list_contexts"),
    ("GET", "/api/context/stats", "contexts", "get_context_stats"),
    ("GET", "/api/context/stats/log", "contexts", "get_context_log"),
    ("POST", "/api/context/stats/evict", "contexts", "evict_contexts"),
    ("GET", "/api/context/search/all", "contexts", "search_contexts"),
    ("POST", "/api/context/register", "contexts", "register_context"),
    ("POST", "/api/context/register/personal", "contexts", "register_personal_contexts"),
    ("GET", "/api/context/search/combined", "contexts", "combine_contexts"),
    ("GET", "/api/context/{id}", "contexts", "get_context"),
    ("DELETE", "/api/context/{id}", "contexts", "delete_context"),
    ("GET", "/api/context/{id}/peek", "contexts", "peek_context"),
    ("GET", "/api/context/{id}/grep", "contexts", "grep_context"),
    ("GET", "/api/context/{id}/chunk/{i}", "contexts", "get_context_page"),
    ("GET", "/api/context/{id}/search", "contexts", "search_context"),
    ("POST", "/v1/chat/completions", "openai", "create_chat_completion"),
    ("POST", "/v1/responses", "openai", "create_response"),
    ("POST", "/v1/embeddings", "openai", "create_embedding"),
    ("GET", "/v1/models", "openai", "list_models"),
    ("GET", "/v1/models/{model}", "openai", "get_model"),
    ("POST", "/v1/messages", "anthropic", "create_message"),
    ("POST", "/v1/messages/count_tokens", "anthropic", "count_message_tokens"),
    ("POST", "/mcp", "mcp", "send_mcp_message"),
    ("GET", "/mcp", "mcp", "stream_mcp_messages"),
    ("DELETE", "/mcp", "mcp", "end_mcp_session"),
    ("GET", "/v1/server", "server", "get_server"),
    ("GET", "/v1/fleet", "server", "get_fleet"),
    ("GET", "/v1/paths", "server", "complete_path"),
    ("GET", "/healthz", "server", "get_health"),
    ("GET", "/readyz", "server", "get_readiness"),
    ("GET", "/metrics", "server", "get_metrics"),
    ("GET", "/openapi.json", "server", "get_openapi"),
    ("GET", "/", "server", "get_page"),
    ("GET", "/assets/{file}", "server", "get_asset"),
];

/// The group of an operation, and its name, from which generated clients derive function names.
pub(super) fn group_and_name(method: &Method, path: &str) -> (&'static str, &'static str) {
    let operation = OPERATIONS.iter().find(|(of, at, ..)| *of == method.as_str() && *at == path);
    let (_, _, group, name) = operation.expect("every route has a name: a test looks at all of them");
    (group, name)
}

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
        "tags": TAGS.map(|(name, about)| json!({ "name": name, "description": about })),
        "paths": paths,
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token from the server's token file; scopes are read, run and admin. Not \
                    needed if the server was started without tokens.",
            } },
            "responses": { "Problem": {
                "description": "The error (RFC 9457)",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            } },
            "schemas": schemas(),
        },
    })
}

fn schema_of(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn schemas() -> Value {
    let mut schemas = part_schemas();
    for more in [message_schemas(), run_schemas()] {
        if let (Some(all), Value::Object(more)) = (schemas.as_object_mut(), more) {
            all.extend(more);
        }
    }
    schemas
}

fn or_null(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn run_schemas() -> Value {
    let (text, whole, flag) =
        (json!({ "type": "string" }), json!({ "type": "integer" }), json!({ "type": "boolean" }));
    let text_or_null = json!({ "type": ["string", "null"] });
    let counts = json!({ "type": "object", "additionalProperties": whole });
    let citations = json!({ "type": ["array", "null"], "items": schema_of("Citation") });
    let run = ["run", "status", "outcome", "question", "answer", "events", "usage", "pending"];
    let result = [
        "run",
        "outcome",
        "answer",
        "success",
        "citations",
        "evidence",
        "metrics",
        "errors",
        "grounding",
        "usage",
    ];
    json!({
        "Run": object_of(&run, &json!({
            "status": { "type": "string", "description": "The state in one word, as `spelunk run list` shows it, or `queued`" },
            "pending": list_of(&schema_of("PendingCall")), "run": run_id(), "question": text_or_null, "answer": text_or_null,
            "citations": citations, "outcome": or_null(&schema_of("Outcome")), "model": or_null(&schema_of("Model")),
            "documents": whole, "documents_read": whole, "corpus_bytes": whole, "bytes_read": whole,
            "skipped": counts, "redacted": counts, "usage": schema_of("Usage"), "active_ms": whole,
            "events": whole, "resumed": whole, "frames": list_of(&text), "calls": list_of(&schema_of("Call")),
            "cells": list_of(&schema_of("Cell")),
        })),
        "Result": object_of(&result, &json!({
            "run": run_id(), "outcome": schema_of("Outcome"), "answer": text_or_null, "citations": citations,
            "grounding": { "type": ["string", "null"], "description": "cited, computed, uncited or partial" },
            "confidence": { "type": ["number", "null"], "description": "Confidence in the answer, from 0 to 1" },
            "evidence": {
                "type": "array", "items": object_of(&["is"], &json!({ "is": text })),
                "description": "Checked citations, and facts that an agent recorded; at most 1000",
            },
            "metrics": { "type": "object", "description": "Usage" },
            "errors": {
                "type": "array", "items": object_of(&["code", "message"], &json!({ "code": text, "message": text })),
                "description": "Recovered errors; at most 1000",
            },
            "error": { "type": ["object", "null"], "description": "Why there is no answer: code, message, hint" },
            "success": flag, "degraded": flag, "model": text_or_null,
            "documents": whole, "documents_read": whole, "corpus_bytes": whole, "bytes_read": whole, "calls": whole,
            "calls_cached": whole, "skipped": counts, "redacted": counts, "usage": schema_of("Usage"),
            "active_ms": whole, "warnings": list_of(&text),
        })),
    })
}

fn run_id() -> Value {
    json!({ "type": "string", "description": "The id of the run" })
}

fn message_schemas() -> Value {
    let (text, whole) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let row = ["run", "lifecycle", "state", "status", "question", "calls", "cost_microusd", "queued"];
    json!({
        "Message": super::compat::message_schema(),
        "Problem": object_of(&["type", "title", "status", "detail", "code"], &json!({
            "type": text, "title": text, "status": whole, "detail": text,
            "code": { "type": "string", "description": "The stable error code; see docs/errors.md and docs/server.md" },
            "hint": { "type": "string", "description": "A suggested next step" },
        })),
        "Promise": object_of(&["run", "state", "links"], &json!({
            "run": run_id(), "state": text, "links": { "type": "object", "additionalProperties": text },
            "id": { "type": "string", "deprecated": true, "description": "The same as `run`" },
        })),
        "Row": object_of(&row, &json!({
            "run": run_id(), "lifecycle": text, "state": text, "question": text,
            "status": { "type": "string", "description": "The state, as `spelunk run list` shows it, or `queued`" },
            "strategy": { "type": ["string", "null"] }, "model": { "type": ["string", "null"] },
            "calls": whole, "cost_microusd": whole, "queued": { "type": "boolean" },
            "active_ms": { "type": ["integer", "null"], "minimum": 0 },
            "problem": { "type": "object", "description": "Why it could not start or continue" },
        })),
    })
}

fn part_schemas() -> Value {
    let (text, whole) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let outcome = json!({ "is": text, "kind": text, "traceback": text, "message": text });
    let mut pending = object_of(
        &["call", "tool", "arguments", "effect", "asked_at_ms"],
        &json!({
            "call": text, "tool": text, "arguments": { "type": "object", "description": "With secrets redacted" },
            "effect": { "type": "string", "enum": ["repeatable", "once"] }, "asked_at_ms": whole,
        }),
    );
    pending["description"] = json!("A call of a tool that waits for a decision");
    json!({
        "PendingCall": pending,
        "Outcome": object_of(&["is"], &json!({
            "is": { "type": "string", "enum": ["answered", "partial", "failed", "cancelled"] },
            "stopped_by": text, "code": text, "message": text,
        })),
        "Model": object_of(&["provider", "name", "base_url"], &json!({ "provider": text, "name": text, "base_url": text })),
        "Citation": object_of(&["document", "line", "quote"], &json!({ "document": text, "line": whole, "quote": text })),
        "Usage": object_of(&["input_tokens", "output_tokens"], &json!({
            "input_tokens": whole, "cached_tokens": whole, "cache_written_tokens": whole, "output_tokens": whole,
            "cost_microusd": { "type": "integer", "description": "In millionths of a dollar" },
        })),
        "Call": object_of(&["call", "state", "retries"], &json!({
            "call": text, "state": { "type": "string", "enum": ["open", "replied", "failed"] },
            "retries": { "type": "array", "items": text, "description": "The error code of each retried attempt" },
            "usage": or_null(&schema_of("Usage")),
        })),
        "Cell": object_of(&["frame", "cell", "outcome", "took_ms"], &json!({
            "frame": text, "cell": whole, "took_ms": whole, "outcome": object_of(&["is"], &outcome),
        })),
    })
}
