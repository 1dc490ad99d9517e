//! The events of a run as they come: recorded ones from the journal's file, each once and in order, with their number as
//! the id; pieces of replies between them, as far as the watcher keeps up. Nothing of a run is held for a watcher beyond
//! the piece that is being sent.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::json;
use spelunk_journal::is_locked;
use spelunk_types::RunId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

use super::super::Shared;
use super::super::extract::{Params, Part};
use super::super::problem::{Answer, Problem};
use super::find::{Found, find, word};
use super::lines::{Line, Lines};
use super::service::{Live, Phase};
use crate::cli::Failure;
use crate::mcp::blocking;

/// A line that says nothing, so that nobody in between thinks that nothing will come.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How often the journal of another process is looked at.
const POLL: Duration = Duration::from_millis(200);

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
    let lines = Lines::open(&server.app.workspace_root(), &run);
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepts.contains("application/x-ndjson") {
        return Ok(recorded(lines, after));
    }
    let live = server.runs.find(&run);
    let pieces = live.as_ref().map(|live| live.pieces.subscribe());
    let phase = live.as_ref().map(|live| live.phase.subscribe());
    let watching = Watching::count(&server);
    let watcher = Watcher {
        server,
        run,
        _live: live,
        phase,
        pieces,
        lines: Some(lines),
        sent: after,
        ready: VecDeque::new(),
        is_over: false,
        _watching: watching,
    };
    let body = Body::from_stream(stream::unfold(watcher, Watcher::next));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, body).into_response())
}

/// Where to begin: behind the event that the client saw last.
fn after(headers: &HeaderMap, params: &mut Params) -> Result<u64, Problem> {
    let named = params.whole("after", 0, u64::MAX)?;
    let Some(last) = headers.get("last-event-id") else { return Ok(named.unwrap_or(0)) };
    let last = last.to_str().ok().map(str::trim);
    match last {
        Some("") => Ok(named.unwrap_or(0)),
        Some(last) => {
            last.parse().map_err(|_| Problem::bad_parameter("Last-Event-ID", "is not the number of an event"))
        }
        None => Err(Problem::bad_parameter("Last-Event-ID", "is not the number of an event")),
    }
}

/// The recorded lines and no waiting.
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

/// Counts a watcher for as long as it watches.
struct Watching(Shared);

impl Watching {
    fn count(server: &Shared) -> Self {
        server.metrics.watchers.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(server))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.metrics.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Somebody who watches a run.
struct Watcher {
    server: Shared,
    run: RunId,
    /// Keeps the two below open.
    _live: Option<Arc<Live>>,
    phase: Option<watch::Receiver<Phase>>,
    pieces: Option<broadcast::Receiver<Arc<str>>>,
    /// Away while it is being read from, on another thread.
    lines: Option<Lines>,
    /// The last event that was sent.
    sent: u64,
    ready: VecDeque<Bytes>,
    is_over: bool,
    _watching: Watching,
}

/// What happened while a watcher waited.
enum Woken {
    /// There may be more in the journal.
    Look,
    Piece(Arc<str>),
    KeepAlive,
    Closing,
}

impl Watcher {
    /// The next bytes for the client, or the end.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some((Ok(bytes), self));
            }
            if self.is_over {
                return None;
            }
            // Seen before the journal is read: what is written later wakes us again.
            let phase = self.phase.as_mut().map(|phase| *phase.borrow_and_update());
            match self.read().await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(failure) => {
                    self.end(&json!({ "state": "damaged", "code": failure.0.code() }).to_string());
                    continue;
                }
            }
            if self.has_ended(phase).await {
                continue;
            }
            match self.wait().await {
                Woken::Look => {}
                Woken::Piece(text) => self.piece(&text).await,
                Woken::KeepAlive => self.ready.push_back(Bytes::from_static(b": still here\n\n")),
                Woken::Closing => self.is_over = true,
            }
        }
    }

    /// Takes the next lines out of the journal; false if there are none.
    async fn read(&mut self) -> Result<bool, Failure> {
        let Some(mut lines) = self.lines.take() else { return Ok(false) };
        let sent = self.sent;
        let (lines, read) = blocking(move || {
            let read = lines.next(sent)?;
            Ok((lines, read))
        })
        .await?;
        self.lines = Some(lines);
        self.server.metrics.events_sent.fetch_add(read.len() as u64, Ordering::Relaxed);
        for line in &read {
            self.sent = line.seq;
            self.ready.push_back(Bytes::from(event_text(line)));
        }
        Ok(!read.is_empty())
    }

    /// Whether nothing more will come. The journal was read to its end after `phase` was seen.
    async fn has_ended(&mut self, phase: Option<Phase>) -> bool {
        match phase {
            Some(Phase::Running { .. } | Phase::Waiting) => return false,
            Some(Phase::Over) => {}
            None => {
                let (server, run) = (Arc::clone(&self.server), self.run.clone());
                let is_at_work = blocking(move || {
                    let workspace = server.app.existing_workspace()?;
                    Ok(workspace.is_some_and(|workspace| is_locked(&workspace, &run)))
                });
                if is_at_work.await.unwrap_or(false) {
                    return false;
                }
                // It may have written its last words between our look at the journal and the one at the lock.
                if self.read().await.unwrap_or(false) {
                    return true;
                }
            }
        }
        let (server, run) = (Arc::clone(&self.server), self.run.clone());
        let state = blocking(move || word(&server, &run)).await.unwrap_or_else(|_| "damaged".to_owned());
        self.end(&json!({ "state": state }).to_string());
        true
    }

    fn end(&mut self, data: &str) {
        self.ready.push_back(Bytes::from(format!("event: end\ndata: {data}\n\n")));
        self.is_over = true;
    }

    async fn wait(&mut self) -> Woken {
        let (Some(phase), Some(pieces)) = (&mut self.phase, &mut self.pieces) else {
            return match timeout(POLL, self.server.closing()).await {
                Ok(()) => Woken::Closing,
                Err(_) => Woken::Look,
            };
        };
        tokio::select! {
            changed = phase.changed() => { drop(changed); Woken::Look }
            piece = pieces.recv() => match piece {
                Ok(text) => Woken::Piece(text),
                Err(RecvError::Lagged(_) | RecvError::Closed) => Woken::Look,
            },
            () = tokio::time::sleep(KEEP_ALIVE) => Woken::KeepAlive,
            () = self.server.closing() => Woken::Closing,
        }
    }

    /// A piece belongs behind what was recorded before it.
    async fn piece(&mut self, text: &str) {
        while self.read().await.unwrap_or(false) {}
        let line = Line { seq: 0, text: text.to_owned() };
        self.ready.push_back(Bytes::from(format!("event: {}\ndata: {text}\n\n", line.kind())));
    }
}

/// JSON on one line has no line ends of its own.
fn event_text(line: &Line) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", line.seq, line.kind(), line.text)
}
