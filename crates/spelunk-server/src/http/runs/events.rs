//! The events of a run over HTTP: as a live stream, or only those recorded so far.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::json;
use spelunk_app::blocking::blocking;

use super::super::Shared;
use super::super::extract::{Params, Part};
use super::super::problem::{Answer, Problem};
use super::super::route::{Route, get, whole_schema};
use super::find::{Found, find};
use super::lines::Lines;
use super::watcher::Watcher;

/// Integers up to this are exact in every JSON implementation.
pub(super) const SEQ_MAX: u64 = (1 << 53) - 1;

pub(super) fn routes() -> Vec<Route> {
    let seq = whole_schema(0, SEQ_MAX);
    vec![
        get("/v1/runs/{id}/events", "The events of a run as they come", events)
            .query("after", seq.clone(), "Begin behind this event")
            .header("Last-Event-ID", seq, "Begin behind this event")
            .answers_as(
                200,
                "Server-sent events, with the number of the event as id",
                "text/event-stream",
                json!({ "description": "Events of the journal, and pieces of replies between them" }),
            )
            .answers_as(
                200,
                "Or, for `Accept: application/x-ndjson`, what is recorded, a line each",
                "application/x-ndjson",
                json!({ "type": "string" }),
            )
            .problems(&[404, 409]),
    ]
}

/// `GET /v1/runs/{id}/events`.
pub(super) async fn events(
    State(server): State<Shared>,
    Part(id): Part<String>,
    headers: HeaderMap,
    mut params: Params,
) -> Answer {
    let after = after(&headers, &mut params)?;
    params.finish()?;
    let looking = Arc::clone(&server);
    let Found { run, .. } = blocking(move || find(&looking, &id)).await?;
    let lines = Lines::open(server.runs.workspace(), &run);
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepts.contains("application/x-ndjson") {
        return Ok(recorded(lines, after));
    }
    let live = server.runs.find(&run);
    let watcher = Watcher::new(server, run, live, lines, after);
    Ok(event_stream(stream::unfold(watcher, Watcher::next)))
}

/// Server-sent events, which no proxy may hold back.
pub(crate) fn event_stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

/// Where to start: after the last event the client saw.
fn after(headers: &HeaderMap, params: &mut Params) -> Result<u64, Problem> {
    let named = params.whole("after", 0, SEQ_MAX)?;
    let Some(last) = headers.get("last-event-id") else { return Ok(named.unwrap_or(0)) };
    let last = last.to_str().unwrap_or("-").trim();
    if last.is_empty() {
        return Ok(named.unwrap_or(0));
    }
    let number = last.parse().ok().filter(|number| *number <= SEQ_MAX);
    number.ok_or_else(|| Problem::bad_parameter("Last-Event-ID", "is not the number of an event"))
}

/// The recorded lines, without waiting for more.
fn recorded(lines: Lines, after: u64) -> Response {
    let pieces = stream::unfold(lines, move |mut lines| async move {
        let read = blocking(move || {
            let read = lines.next(after)?;
            Ok((lines, read))
        });
        let (lines, read) = read.await.ok().filter(|(_, read)| !read.is_empty())?;
        let text: String = read.into_iter().map(|line| line.text + "\n").collect();
        Some((Ok::<_, Infallible>(Bytes::from(text)), lines))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(pieces)).into_response()
}
