//! Contexts over HTTP: the same bounded operations as for agents and the command line, on the same
//! store. Reads run on blocking threads. Ids may contain slashes, written literally or as `%2F`.

mod fold;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use spelunk_app::arguments::{self, Arguments};
use spelunk_app::blocking::blocking;
use spelunk_app::context_search::ContextQuery;
use spelunk_app::failure::Failure;
use spelunk_app::personal;
use spelunk_app::render::contexts as render;
use spelunk_app::render::found::found_json;
use spelunk_app::units::head;
use spelunk_context::{ContextId, ContextKind, GrepQuery, Navigator, NewContext, NewSource, StoreError};
use spelunk_index::Mode;
use spelunk_types::{ErrorCode, Explain as _};

use super::{
    Answer, Fields, Params, PathOnly, PathQuery, Problem, Route, Shared, delete, get, list_of, object_of,
    post, whole_schema,
};
use crate::mcp;

pub(crate) use fold::fold;

const ID_CHARS_MAX: usize = 1_000;
const NAME_CHARS_MAX: usize = 1_000;
const PATH_CHARS_MAX: usize = 4_096;
const TEXT_CHARS_MAX: usize = 10_000_000;
const PASSAGES_MAX: u64 = 50;
const CONTEXT_LINES: u64 = 2;

pub(super) fn routes() -> Vec<Route> {
    let handles = json!({ "type": "object", "properties": { "contexts": list_of(&handle()) } });
    let flag = json!({ "type": "boolean" });
    let modes = json!({ "type": "string", "enum": ["words", "meaning", "hybrid"] });
    let all_modes = json!({ "type": "string", "enum": ["pattern", "words", "meaning", "hybrid"] });
    vec![
        get("/api/context/", "List contexts, without their text", list)
            .query("type", kind_schema(), "Only contexts of this type")
            .answers(200, "The contexts", handles),
        get("/api/context/stats", "Statistics of the context store", stats)
            .answers(200, "Counts", json!({ "type": "object" })),
        get("/api/context/stats/log", "The access log: recent requests for contexts, across all interfaces", log)
            .answers(200, "The requests, oldest first", json!({ "type": "object" })),
        post("/api/context/stats/evict", "Free the memory of loaded texts, and remove expired ones", evict)
            .takes(json!({ "type": "object", "additionalProperties": false, "properties": {
                "target_bytes": { "type": ["integer", "null"], "minimum": 0, "description": "Bytes that may stay in memory; default 0" },
            } }))
            .answers(200, "The number of evicted and expired contexts, and the memory in use", json!({ "type": "object" }))
            .problems(&[422]),
        get("/api/context/search/all", "Search every context", search_all)
            .query_needed("q", pattern_schema(), "A regular expression or, in other modes, words or a question")
            .query("mode", all_modes, "`pattern` finds matching lines; `words`, `meaning` and `hybrid` find passages; default pattern")
            .query("top_k", whole_schema(1, PASSAGES_MAX), "Maximum number of passages; default 10")
            .answers(200, "The results", results_schema())
            .problems(&[422]),
        post("/api/context/register", "Register a file below a root of the server, or a text", register)
            .takes(register_schema())
            .answers(201, "The new context", json!({ "type": "object", "properties": { "registered": handle() } }))
            .problems(&[409]),
        post("/api/context/register/personal", "Register the personal contexts of a directory", register_personal)
            .takes(json!({
                "type": "object", "required": ["source_path"], "additionalProperties": false,
                "properties": { "source_path": { "type": "string", "minLength": 1, "description": "A directory below a root of the server, with `foundation/`, `projects/`, `temporal/` or `memory/graph.json`" } },
            }))
            .answers(201, "The new contexts", json!({ "type": "object" }))
            .problems(&[422]),
        get("/api/context/search/combined", "Combine the user, a project and contexts in use into one object", combined)
            .query("project", json!({ "type": "string" }), "The name of the project")
            .query("working", json!({ "type": "string" }), "The id of a context in use")
            .answers(200, "`user`, `project` and `working`", json!({ "type": "object" }))
            .problems(&[404]),
        get("/api/context/{id}", "Load a whole context", load)
            .answers(200, "The text", json!({ "type": "object" }))
            .problems(&[404, 413, 422]),
        delete("/api/context/{id}", "Remove a context from the registry; its file is kept", remove)
            .answers(200, "The context that was removed", json!({ "type": "object" }))
            .problems(&[404]),
        get("/api/context/{id}/peek", "The first lines of a context", peek)
            .query("lines", whole_schema(1, 50), "Number of lines; default 10")
            .answers(200, "The first lines, and suggested next steps", json!({ "type": "object" }))
            .problems(&[404, 422]),
        get("/api/context/{id}/grep", "Search a context for matching lines", grep)
            .query_needed("pattern", pattern_schema(), "A regular expression")
            .query("context_lines", whole_schema(0, 10), "Context lines around each match; default 2")
            .query("case_sensitive", flag.clone(), "Match case-sensitively")
            .query("literal", flag, "Treat the pattern as a literal string")
            .answers(200, "The first matches", json!({ "type": "object" }))
            .problems(&[404, 422]),
        get("/api/context/{id}/chunk/{i}", "One page of a context", chunk)
            .part("i", json!({ "type": "integer", "minimum": 0 }))
            .query("chunk_size", whole_schema(1, 200), "Lines per page; default 50")
            .answers(200, "The page, with the previous and next page numbers", json!({ "type": "object" }))
            .problems(&[404, 422]),
        get("/api/context/{id}/search", "Find the passages of a context that match a question best", search)
            .query_needed("q", pattern_schema(), "Words or a question")
            .query("mode", modes, "Search by words, by meaning or by both; default meaning")
            .query("top_k", whole_schema(1, PASSAGES_MAX), "Maximum number of passages; default 5")
            .answers(200, "The passages, best first", results_schema())
            .problems(&[404, 422]),
    ]
}

fn pattern_schema() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

/// The built-in kinds. A program may declare others, but the server does not.
fn kind_schema() -> Value {
    json!({ "enum": ContextKind::BUILT_IN.map(|kind| kind.name().to_owned()) })
}

fn handle() -> Value {
    let text = json!({ "type": "string" });
    json!({ "type": "object", "properties": {
        "id": text, "name": text, "type": text, "source": text,
        "size_bytes": { "type": ["integer", "null"] }, "last_modified_ms": { "type": ["integer", "null"] },
    } })
}

fn results_schema() -> Value {
    object_of(&["results"], &json!({ "results": list_of(&json!({ "type": "object" })) }))
}

fn register_schema() -> Value {
    let id = json!({
        "type": "string", "minLength": 1, "maxLength": ContextId::BYTES_MAX,
        "description": "One line without leading or trailing spaces",
    });
    json!({
        "type": "object",
        "required": ["id"],
        "oneOf": [{ "required": ["source_path"] }, { "required": ["text"] }],
        "additionalProperties": false,
        "properties": {
            "id": id,
            "name": { "type": "string", "minLength": 1 },
            "type": { "enum": kind_schema()["enum"], "default": "document" },
            "source_path": { "type": "string", "minLength": 1, "description": "A file below a root of the server" },
            "text": { "type": "string", "description": "The text itself, instead of a path" },
            "metadata": { "type": "object" },
            "replace": { "type": "boolean", "description": "Replace a context with the same id" },
        },
    })
}

/// Runs blocking work within the concurrency limit.
pub(super) async fn work<T: Send + 'static>(
    server: &Shared,
    act: impl FnOnce(&mcp::State) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    // The semaphore is never closed, so acquiring cannot fail.
    let _place = server.mcp.reads.acquire().await.ok();
    let state = Arc::clone(&server.mcp);
    blocking(move || Ok(act(&state))).await?
}

/// One operation. An unknown id is looked up twice, because another process may just have registered it.
async fn look(
    server: &Shared,
    act: impl Fn(&Navigator) -> Result<Value, StoreError> + Send + 'static,
) -> Answer<Json<Value>> {
    work(server, move |state| {
        let looked = match act(&state.navigator) {
            Err(error) if error.code() == ErrorCode::ContextNotFound => {
                drop(state.store().reload()?);
                act(&state.navigator)
            }
            looked => looked,
        };
        looked.map(Json).map_err(problem)
    })
    .await
}

fn problem(error: StoreError) -> Problem {
    failed(error.into())
}

fn failed(failure: Failure) -> Problem {
    let error: &(dyn Error + 'static) = failure.0.as_ref();
    let error = error.downcast_ref::<StoreError>();
    let exists = matches!(error, Some(StoreError::Duplicate { .. }));
    let status = error.and_then(status);
    let mut problem = Problem::from(failure);
    if exists {
        problem = problem.hint("use another id, or send `\"replace\": true` to replace the context");
    }
    match status {
        Some(status) => problem.with_status(status),
        None => problem,
    }
}

/// A status that is more specific than the one of the error code.
fn status(error: &StoreError) -> Option<StatusCode> {
    if matches!(error, StoreError::UnknownKind { .. } | StoreError::BadKindName { .. }) {
        Some(StatusCode::BAD_REQUEST)
    } else if matches!(error, StoreError::OutsideRoots { .. }) {
        Some(StatusCode::FORBIDDEN)
    } else if matches!(error, StoreError::TooLarge { .. }) {
        Some(StatusCode::PAYLOAD_TOO_LARGE)
    } else if matches!(error, StoreError::Full { .. } | StoreError::RegistryLocked { .. }) {
        Some(StatusCode::SERVICE_UNAVAILABLE)
    } else {
        None
    }
}

/// An integer; the store decides whether it is too large.
fn whole(params: &mut Params, name: &'static str, default: u64) -> Answer<u64> {
    params.text(name).map_or(Ok(default), |typed| number(name, &typed))
}

fn number(name: &str, typed: &str) -> Answer<u64> {
    let wrong = |_| wrong(name, "must be a non-negative integer");
    typed.parse().map_err(wrong)
}

fn wrong(name: &str, what: &str) -> Problem {
    Problem::bad_parameter(name, what).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

fn flag(params: &mut Params, name: &'static str) -> Answer<bool> {
    match params.text(name).as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(wrong(name, "must be true or false")),
    }
}

fn needed(params: &mut Params, name: &'static str) -> Answer<String> {
    let text = params.text(name).filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| wrong(name, "is missing"))
}

async fn list(State(server): State<Shared>, mut params: Params) -> Answer<Json<Value>> {
    let kind = params.text("type");
    params.finish()?;
    work(&server, move |state| {
        // Other processes register contexts too.
        drop(state.store().reload()?);
        let contexts = match &kind {
            Some(kind) => state.navigator.list_of_kind(kind).map_err(problem)?,
            None => state.navigator.list(),
        };
        Ok(Json(json!({ "contexts": render::list_json(&contexts) })))
    })
    .await
}

async fn stats(State(server): State<Shared>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    work(&server, |state| {
        drop(state.store().reload()?);
        let stats = state.store().stats();
        let mut shown = render::stats_json(&stats, &state.store().list());
        shown["store"]["loaded_in_memory"] = json!(stats.memory.n_loaded);
        shown["store"]["cache_bytes"] = json!(stats.memory.cache_bytes);
        let since_start = state.store().access_summary();
        let by_action = since_start.by_action.iter().map(|(action, n)| (action.name(), *n));
        shown["access_patterns"]["since_start"] = json!({
            "total_accesses": since_start.n_accesses,
            "by_action": by_action.collect::<BTreeMap<_, _>>(),
            "load_to_peek_ratio": since_start.load_to_peek_ratio,
        });
        Ok(Json(shown))
    })
    .await
}

async fn log(State(server): State<Shared>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    work(&server, |state| Ok(Json(render::log_json(&state.store().access_log())))).await
}

async fn evict(State(server): State<Shared>, Fields(mut fields): Fields) -> Answer<Json<Value>> {
    let bytes_target = fields.whole("target_bytes", u64::MAX)?.unwrap_or(0);
    fields.finish()?;
    look(&server, move |navigator| render::evict_json(navigator.store(), bytes_target)).await
}

async fn peek(PathQuery(server, id, mut params): PathQuery<String>) -> Answer<Json<Value>> {
    let lines = whole(&mut params, "lines", server.mcp.store().limits().peek_lines)?;
    params.finish()?;
    look(&server, move |navigator| Ok(render::peek_json(&navigator.peek(&id, lines)?))).await
}

async fn grep(PathQuery(server, id, mut params): PathQuery<String>) -> Answer<Json<Value>> {
    let pattern = params.text("pattern").filter(|pattern| !pattern.is_empty());
    let pattern = pattern.ok_or_else(|| wrong("pattern", "is missing"))?;
    let query = GrepQuery {
        case_sensitive: flag(&mut params, "case_sensitive")?,
        literal: flag(&mut params, "literal")?,
        ..server.mcp.navigator.query(&pattern, whole(&mut params, "context_lines", CONTEXT_LINES)?)
    };
    params.finish()?;
    look(&server, move |navigator| Ok(render::grep_json(&navigator.grep(&id, &query)?))).await
}

async fn chunk(
    PathQuery(server, (id, page), mut params): PathQuery<(String, String)>,
) -> Answer<Json<Value>> {
    let page = number("i", &page)?;
    let lines = whole(&mut params, "chunk_size", server.mcp.store().limits().page_lines)?;
    params.finish()?;
    look(&server, move |navigator| Ok(render::page_json(&navigator.page(&id, page, lines)?))).await
}

async fn load(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    look(&server, move |navigator| Ok(render::load_json(&navigator.load(&id)?))).await
}

async fn remove(PathOnly(server, id): PathOnly<String>) -> Answer<Json<Value>> {
    look(&server, move |navigator| {
        let removed = navigator.store().remove(&id)?;
        Ok(json!({ "removed": render::context_json(&removed) }))
    })
    .await
}

async fn search_all(State(server): State<Shared>, mut params: Params) -> Answer<Json<Value>> {
    let query = needed(&mut params, "q")?;
    let mode = params.text("mode").unwrap_or_else(|| "pattern".to_owned());
    let hits_max = passages(&mut params, ContextQuery::ALL_MAX)?;
    params.finish()?;
    if mode == "pattern" {
        return look(&server, move |navigator| {
            let (hits, report) = navigator.search_all(&navigator.query(&query, 0))?;
            let mut found = render::search_json(&hits, &report);
            found["mode"] = json!("pattern");
            Ok(found)
        })
        .await;
    }
    let mode = Mode::from_name(&mode)
        .ok_or_else(|| wrong("mode", "must be `pattern`, `words`, `meaning` or `hybrid`"))?;
    let wanted = ContextQuery { hits_max, ..ContextQuery::in_all(query, mode) };
    find(&server, wanted).await
}

async fn search(PathQuery(server, id, mut params): PathQuery<String>) -> Answer<Json<Value>> {
    let query = needed(&mut params, "q")?;
    let mode = params.text("mode").unwrap_or_else(|| Mode::Meaning.name().to_owned());
    let hits_max = passages(&mut params, ContextQuery::ONE_MAX)?;
    params.finish()?;
    let mode =
        Mode::from_name(&mode).ok_or_else(|| wrong("mode", "must be `words`, `meaning` or `hybrid`"))?;
    let wanted =
        ContextQuery { hits_max, per_context_max: hits_max, ..ContextQuery::in_one(&id, query, mode) };
    find(&server, wanted).await
}

async fn find(server: &Shared, wanted: ContextQuery) -> Answer<Json<Value>> {
    work(server, move |state| {
        // Other processes register contexts too.
        drop(state.store().reload()?);
        Ok(Json(found_json(&mcp::find(state, &wanted).map_err(failed)?)))
    })
    .await
}

fn passages(params: &mut Params, default: usize) -> Answer<usize> {
    let n = whole(params, "top_k", default as u64)?;
    if !(1..=PASSAGES_MAX).contains(&n) {
        return Err(wrong("top_k", &format!("must be an integer from 1 to {PASSAGES_MAX}")));
    }
    Ok(usize::try_from(n).unwrap_or(default))
}

async fn register(
    State(server): State<Shared>,
    Fields(mut fields): Fields,
) -> Answer<(StatusCode, Json<Value>)> {
    work(&server, move |state| {
        let id = fields.needed("id", ID_CHARS_MAX)?;
        let name = fields.text("name", NAME_CHARS_MAX)?;
        let kind = fields.text("type", ID_CHARS_MAX)?;
        let path = fields.text("source_path", PATH_CHARS_MAX)?;
        let text = fields.text("text", TEXT_CHARS_MAX)?;
        let metadata = metadata(&mut fields)?;
        let replace = fields.flag("replace")?;
        fields.finish()?;
        let (source, own_name) = match (path, text) {
            (Some(path), None) => {
                let path = state.admit(&path).map_err(failed)?;
                let own_name = path.file_name().map(|name| head(&name.to_string_lossy(), 200));
                (NewSource::File(path), own_name)
            }
            (None, Some(text)) => (NewSource::Inline(text), None),
            (Some(_), Some(_)) | (None, None) => {
                return Err(arguments::wrong("source_path", "or `text` is required, but not both").into());
            }
        };
        // Create the workspace's own files first: they keep the directory private and out of git.
        drop(state.app.workspace()?);
        drop(state.store().reload()?);
        let kind = known_kind(state, kind.as_deref().unwrap_or("document"))?;
        let mut new = NewContext::new(ContextId::new(&id)?, kind, source);
        new.name = name.or(own_name).unwrap_or(id);
        new.metadata = metadata;
        let put = if replace { state.store().replace(new) } else { state.store().register(new) };
        let context = put.map_err(problem)?;
        Ok((StatusCode::CREATED, Json(json!({ "registered": render::context_json(&context) }))))
    })
    .await
}

async fn register_personal(
    State(server): State<Shared>,
    Fields(mut fields): Fields,
) -> Answer<(StatusCode, Json<Value>)> {
    work(&server, move |state| {
        let path = fields.needed("source_path", PATH_CHARS_MAX)?;
        fields.finish()?;
        let path = state.admit(&path).map_err(failed)?;
        drop(state.app.workspace()?);
        drop(state.store().reload()?);
        let report = personal::register(state.store(), &path).map_err(failed)?;
        let added = render::added_json(&report.registered, &report.already, &report.skipped);
        Ok((StatusCode::CREATED, Json(added)))
    })
    .await
}

async fn combined(State(server): State<Shared>, mut params: Params) -> Answer<Json<Value>> {
    let (project, working) = (params.text("project"), params.text("working"));
    params.finish()?;
    work(&server, move |state| {
        drop(state.store().reload()?);
        let combined = personal::combined(state.store(), project.as_deref(), working.as_slice());
        Ok(Json(combined.map_err(failed)?))
    })
    .await
}

/// A built-in or declared kind: a typo does not create a new one.
fn known_kind(state: &mcp::State, name: &str) -> Answer<ContextKind> {
    drop(state.store().list_of_kind(name).map_err(problem)?);
    let bad = || StoreError::BadKindName { name: head(name, 100) };
    ContextKind::from_name(name).ok_or_else(|| problem(bad()))
}

fn metadata(fields: &mut Arguments) -> Answer<BTreeMap<String, String>> {
    let given = fields.object("metadata")?.unwrap_or_default();
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    Ok(given.into_iter().map(|(name, value)| (name, text(value))).collect())
}
