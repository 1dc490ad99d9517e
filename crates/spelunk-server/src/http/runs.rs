//! Runs over HTTP: create, list, read, cancel, resume, delete.

mod consent;
mod events;
#[cfg(feature = "fleet")]
pub mod fleet;
mod follow_up;
mod lines;
mod list;
mod live;
mod queue;
mod request;
mod results;
mod run_to_completion;
mod service;
mod source;
mod supervisor;
mod tickets;
#[cfg(not(feature = "fleet"))]
pub mod without_fleet;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use list::{FoundRun, find, word};
use live::{Live, Phase, StreamedPiece};
use request::{ReceivedRequest, UploadedFile, read_query, receive, request_without_secrets};
use serde_json::{Value, json};
use service::{Job, JobKind, Promised, at_work};
use spelunk_app::arguments::wrong;
use spelunk_app::asking::RoleModels;
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;
use spelunk_app::runs::read_view;
use spelunk_context::{ScanOptions, SourceInput};
use spelunk_engine::{Engine, EngineError};
use spelunk_journal::{JournalError, digest, remove_run};
use spelunk_types::{Limits, RunId};
use tickets::{CRASHES_MAX, Key, Progress, Refusal, SnapshotSource, Ticket};
#[cfg(not(feature = "fleet"))]
pub use without_fleet as fleet;

use super::{Answer, Client, PathPart, Problem, Route, Shared, delete, fields, post, work};
use crate::mcp::{or_null, read_limits};
use events::SEQ_MAX;
use fleet::FleetRuns;
use follow_up::FollowUp;
use lines::{Line, Lines};
use results::with_journal;

pub(crate) use events::event_stream;
pub(crate) use list::Rows;
pub(crate) use live::SaidPiece;
pub(crate) use request::{TURN, receive_form};
pub(crate) use results::NamedBlobs;
pub(crate) use run_to_completion::{AwaitedRun, EndedRun, WaitOutcome};
pub(crate) use service::RunService;
pub(crate) use source::Corpora;
pub(crate) use supervisor::model;
pub(crate) use tickets::Tickets;

const KEY_CHARS_MAX: usize = 255;

pub(super) fn routes() -> Vec<Route> {
    let promise = json!({ "$ref": "#/components/schemas/Promise" });
    let mut routes = vec![
        post(
            "/v1/runs",
            "Ask a question: the run is queued and continues even if no client watches it",
            create,
        )
        .header(
            "Idempotency-Key",
            json!({ "type": "string", "minLength": 1, "maxLength": KEY_CHARS_MAX }),
            "Requests with the same key and body within a day refer to the same run",
        )
        .takes(request::schema())
        .takes_as(
            "multipart/form-data",
            json!({
                "type": "object",
                "required": ["request"],
                "properties": {
                    "request": request::schema(),
                    "file": { "type": "array", "items": { "type": "string", "format": "binary" } },
                    "attachment": { "type": "array", "items": { "type": "string", "format": "binary" } },
                },
            }),
        )
        .answers(202, "The run is stored, and survives a crash of the server", promise.clone())
        .problems(&[404, 409, 502, 503]),
    ];
    routes.extend(list::routes());
    routes.extend([
        post("/v1/runs/{run}/cancel", "Stop a run; it can be resumed", cancel)
            .answers(202, "The run will stop", promise.clone())
            .problems(&[404, 409]),
        post(
            "/v1/runs/{run}/resume",
            "Continue a run that was stopped, interrupted or reached a limit",
            resume,
        )
        .takes_optionally(json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { "limits": or_null(request::limits_schema()) },
        }))
        .answers(202, "The run is queued", promise)
        .problems(&[404, 409, 503]),
        delete("/v1/runs/{run}", "Delete a run that is not in progress", remove)
            .answers_nothing(204, "The run was deleted")
            .problems(&[404, 409]),
    ]);
    routes.extend(consent::routes());
    routes.extend(follow_up::routes());
    routes.extend(events::routes());
    routes.extend(results::routes());
    routes.extend(source::routes());
    routes
}

async fn create(
    State(server): State<Shared>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    request: Request,
) -> Answer {
    let key = idempotency_key(&headers)?;
    let sent = receive(request, &server).await?;
    if sent.request.get(TURN).is_some() {
        return Err(Problem::from(wrong(
            TURN,
            "is not accepted here: send the conversation to `/v1/chat/completions`",
        )));
    }
    // A missing model is reported now rather than when the run starts.
    let models: RoleModels = model(&server).await?.into();
    let promising = Arc::clone(&server);
    let promised = work(move || promise(&promising, client, key, sent, &models)).await?;
    let run = match promised {
        Promised::New(live) => live.run.clone(),
        Promised::Before(run) => run,
    };
    server.runs.pump(&server);
    promised_answer(&server, &run).await
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_CHARS_MAX);
    let wrong = || Problem::bad_parameter("Idempotency-Key", "is empty, too long or not plain text");
    key.ok_or_else(wrong).map(|key| Some(key.to_owned()))
}

/// Validates everything that can be validated without reading the sources, then writes the ticket. Blocking.
fn promise(
    server: &Shared,
    client: Client,
    key: Option<String>,
    sent: ReceivedRequest,
    models: &RoleModels,
) -> Result<Promised, Problem> {
    let ReceivedRequest { request, files } = sent.without_secrets();
    // Only checks that the request is an object.
    drop(fields(request.clone())?);
    let uploads = files.iter().map(|file| SourceInput::Text { name: file.name.clone(), bytes: Vec::new() });
    let query = read_query(server, &request, uploads.collect())?;
    query.material.inputs(&server.mcp)?;
    server.app.run_settings_within(query.limits).check_prices(models.all())?;
    let key = key.map(|key| Key { key, digest: request_digest(&request, &files) });
    if let Some(key) = &key
        && let Some(run) = server.runs.promised(&client.name, key)?
    {
        return Ok(Promised::Before(run));
    }
    let run = new_id(server)?;
    if let Some(key) = &key
        && let Some(run) = server.runs.promised_in_fleet(&client.name, key, &run)?
    {
        return Ok(Promised::Before(run));
    }
    for (idx, file) in files.iter().enumerate() {
        server.runs.tickets.keep_upload(&run, idx, &file.bytes)?;
    }
    let bytes =
        files.iter().map(|file| file.bytes.len() as u64).sum::<u64>() + request.to_string().len() as u64;
    let uploads = files.into_iter().map(|file| file.name).collect();
    let ticket = Ticket { key, uploads, ..Ticket::new(&run, client, Progress::Waiting, request) };
    let promised = server.runs.promise(&ticket, JobKind::Begin, bytes);
    if !matches!(promised, Ok(Promised::New(_))) {
        server.runs.tickets.remove_uploads(&run);
    }
    promised
}

fn new_id(server: &Shared) -> Result<RunId, Failure> {
    let engine: Engine = server.app.engine(ScanOptions::default())?;
    Ok(engine.new_id())
}

/// The same for the same fields in any order: `Value` sorts them.
fn request_digest(request: &Value, files: &[UploadedFile]) -> String {
    let mut text = request.to_string();
    for file in files {
        text += &format!("\n{} {}", digest(&file.bytes), file.name);
    }
    digest(text.as_bytes()).to_string()
}

/// A response 202 with the location and state of the run.
async fn promised_answer(server: &Shared, run: &RunId) -> Answer {
    let (looking, name) = (Arc::clone(server), run.clone());
    let state = blocking(move || word(&looking, &name)).await?;
    let at = format!("/v1/runs/{run}");
    let body = json!({
        "run": run,
        "id": run,
        "state": state,
        "links": {
            "self": at,
            "events": format!("{at}/events"),
            "result": format!("{at}/result"),
            "report": format!("{at}/report"),
            "cancel": format!("{at}/cancel"),
        },
    });
    let mut response = (StatusCode::ACCEPTED, Json(body)).into_response();
    if let Ok(at) = HeaderValue::from_str(&at) {
        response.headers_mut().insert(header::LOCATION, at);
    }
    Ok(response)
}

async fn cancel(State(server): State<Shared>, PathPart(id): PathPart<String>) -> Answer {
    let cancelling = Arc::clone(&server);
    let (run, was_live) = blocking(move || {
        let FoundRun { run, .. } = find(&cancelling, &id)?;
        let was_live = cancelling.runs.cancel(&run)?;
        Ok((run, was_live))
    })
    .await?;
    if !was_live {
        return Err(not_at_work(&run));
    }
    promised_answer(&server, &run).await
}

fn not_at_work(run: &RunId) -> Problem {
    let detail = format!("run `{}` is not in progress on this server", run.short());
    Problem::new(StatusCode::CONFLICT, "run-not-at-work", "The run is not in progress.", detail)
        .hint("see its state with a GET request")
}

async fn resume(
    State(server): State<Shared>,
    Extension(client): Extension<Client>,
    PathPart(id): PathPart<String>,
    request: Request,
) -> Answer {
    let sent = if has_body(request.headers()) { receive(request, &server).await?.request } else { json!({}) };
    let mut arguments = fields(sent.clone())?;
    let limits = read_limits(&server.mcp, &mut arguments)?;
    arguments.finish()?;
    let promising = Arc::clone(&server);
    let run = work(move || {
        let found = find(&promising, &id)?;
        go_on(&promising, client, found, &limits, sent)
    })
    .await?;
    server.runs.pump(&server);
    promised_answer(&server, &run).await
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.is_some_and(|length| length != "0") || headers.contains_key(header::TRANSFER_ENCODING)
}

fn go_on(
    server: &Shared,
    client: Client,
    found: FoundRun,
    limits: &Limits,
    request: Value,
) -> Result<RunId, Problem> {
    let FoundRun { run, workspace, settled } = found;
    if server.runs.find(&run).is_some() {
        return Err(at_work(&run));
    }
    let Some(workspace) = workspace else {
        // It never started: the request is in its ticket.
        drop(settled.ok_or_else(|| Problem::not_found("the run has no journal"))?);
        let ticket = Ticket { progress: Progress::Waiting, ..server.runs.tickets.read(&run)? };
        server.runs.promise(&Ticket { key: None, ..ticket }, JobKind::Begin, 0)?;
        return Ok(run);
    };
    let view = read_view(&workspace, &run)?;
    view.check_resumable(&run, limits).map_err(|error| not_resumable(server, error))?;
    supervisor::resume_request(server, &run, &view, Some(limits.clone()))?;
    let ticket = Ticket::new(&run, client, Progress::Again { after_seq: view.seq_last }, request);
    server.runs.promise(&ticket, JobKind::GoOn, 0)?;
    Ok(run)
}

/// The request is valid, but the run has nothing left to do.
fn not_resumable(server: &Shared, error: EngineError) -> Problem {
    let mut hint = None;
    if let EngineError::LimitNotRaised { limit, value, .. } = &error {
        let most = server.app.settings.limits.get(limit).unwrap_or(u64::MAX);
        hint = Some(if most > *value {
            let higher = value.saturating_mul(2).clamp(1, most);
            format!("send `{}`", json!({ "limits": { limit.as_str(): higher } }))
        } else {
            format!("raise `limits.{limit}` in the settings of the server: a request can only lower it")
        });
    }
    let problem = Problem::from(error).with_status(StatusCode::CONFLICT);
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

async fn remove(State(server): State<Shared>, PathPart(id): PathPart<String>) -> Answer<Response> {
    work(move || {
        let FoundRun { run, workspace, .. } = find(&server, &id)?;
        if run.as_str() != id && run.short() != id {
            return Err(JournalError::NotFound { name: id }.into());
        }
        if server.runs.find(&run).is_some() {
            return Err(at_work(&run));
        }
        if let Some(workspace) = workspace {
            remove_run(&workspace, &run)?;
        }
        server.runs.forget(&run);
        server.named_blobs.forget(&run);
        Ok(())
    })
    .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
