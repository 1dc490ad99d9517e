//! The events of a run over HTTP: as a live stream, or only those recorded so far. Recorded events are read from the
//! journal file, each once and in order; streamed pieces of replies are interleaved at their positions as long as the
//! watcher keeps up. Only what is about to be sent is buffered.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::json;
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;
use spelunk_types::RunId;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

use super::super::{Answer, Counted, Params, PathPart, Problem, Route, Shared, get, whole_schema};
use super::{FoundRun, Line, Lines, Live, Phase, StreamedPiece, find, word};

/// Integers up to this value are exact in every JSON implementation.
pub(super) const SEQ_MAX: u64 = (1 << 53) - 1;

pub(super) fn routes() -> Vec<Route> {
    let seq = whole_schema(0, SEQ_MAX);
    vec![
        get("/v1/runs/{run}/events", "Stream the events of a run", events)
            .query("after", seq.clone(), "Start after this event")
            .header("Last-Event-ID", seq, "Start after this event")
            .answers_as(
                200,
                "Server-sent events; the id is the number of the event",
                "text/event-stream",
                json!({ "description": "Events of the journal, interleaved with pieces of replies" }),
            )
            .answers_as(
                200,
                "With `Accept: application/x-ndjson`: the recorded events, one per line",
                "application/x-ndjson",
                json!({ "type": "string" }),
            )
            .problems(&[404, 409]),
    ]
}

pub(super) async fn events(
    State(server): State<Shared>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    mut params: Params,
) -> Answer {
    let after = after(&headers, &mut params)?;
    params.finish()?;
    let looking = Arc::clone(&server);
    let (run, lines) = blocking(move || {
        let FoundRun { run, .. } = find(&looking, &id)?;
        let lines = Lines::open(looking.runs.workspace(), &run).of_shared(looking.app.workspace()?, &run);
        Ok((run, lines))
    })
    .await?;
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepts.contains("application/x-ndjson") {
        return Ok(recorded(lines, after));
    }
    let live = server.runs.find(&run);
    let watcher = Watcher::new(server, run, live, lines, after);
    Ok(event_stream(stream::unfold(watcher, Watcher::next)))
}

/// A stream of server-sent events that no proxy may buffer.
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
    number.ok_or_else(|| Problem::bad_parameter("Last-Event-ID", "is not an event number"))
}

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

/// A comment line at this interval keeps proxies from closing an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How often the journal of another process is polled.
const POLL: Duration = Duration::from_millis(200);
/// The maximum number of pieces that wait for the lines before them.
const PIECES_MAX: usize = 1_024;

pub(super) struct Watcher {
    server: Shared,
    run: RunId,
    /// Keeps the two channels below open.
    _live: Option<Arc<Live>>,
    phase: Option<watch::Receiver<Phase>>,
    pieces: Option<broadcast::Receiver<StreamedPiece>>,
    came: VecDeque<StreamedPiece>,
    /// `None` while another thread is reading from it.
    lines: Option<Lines>,
    read: VecDeque<Line>,
    seq_read: u64,
    ready: VecDeque<Bytes>,
    is_over: bool,
    _watching: Counted,
}

enum WakeReason {
    Look,
    Piece(StreamedPiece),
    KeepAlive,
    Closing,
}

impl Watcher {
    pub(super) fn new(server: Shared, run: RunId, live: Option<Arc<Live>>, lines: Lines, after: u64) -> Self {
        Self {
            phase: live.as_ref().map(|live| live.phase.subscribe()),
            pieces: live.as_ref().map(|live| live.pieces.subscribe()),
            _watching: Counted::new(&server.metrics.watchers),
            server,
            run,
            _live: live,
            came: VecDeque::new(),
            lines: Some(lines),
            read: VecDeque::new(),
            seq_read: after,
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    pub(super) async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some((bytes, self));
            }
            if self.is_over {
                return None;
            }
            // Read before anything else: a later change wakes us again.
            let phase = self.phase.as_mut().map(|phase| *phase.borrow_and_update());
            self.take_pieces();
            match self.look(phase).await {
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
                WakeReason::Look => {}
                WakeReason::Piece(piece) => self.came.push_back(piece),
                WakeReason::KeepAlive => self.ready.push_back(Bytes::from_static(b": still here\n\n")),
                WakeReason::Closing => self.is_over = true,
            }
        }
    }

    /// Takes the pieces that have arrived: all that were sent before the observed phase.
    fn take_pieces(&mut self) {
        let Some(pieces) = &mut self.pieces else { return };
        loop {
            match pieces.try_recv() {
                Ok(piece) => self.came.push_back(piece),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        let n_over = self.came.len().saturating_sub(PIECES_MAX);
        self.came.drain(..n_over);
    }

    /// Queues what can be sent, in order; returns false if there is nothing. While the run is in progress,
    /// lines are sent only up to the observed phase, because the pieces before them have arrived by then.
    async fn look(&mut self, phase: Option<Phase>) -> Result<bool, Failure> {
        let upto = match phase {
            Some(Phase::Running { seq }) => seq,
            Some(Phase::Waiting | Phase::Over) | None => u64::MAX,
        };
        if self.read.is_empty() {
            self.read_some().await?;
        }
        let is_last = self.read.front().is_none_or(|line| line.seq > upto);
        let woven = weave(&mut self.read, &mut self.came, upto, is_last);
        let n_events = woven.iter().filter(|bytes| bytes.starts_with(b"id: ")).count() as u64;
        self.server.metrics.events_sent.fetch_add(n_events, Ordering::Relaxed);
        self.ready.extend(woven);
        Ok(!self.ready.is_empty())
    }

    async fn read_some(&mut self) -> Result<(), Failure> {
        let Some(mut lines) = self.lines.take() else { return Ok(()) };
        let after = self.seq_read;
        let (lines, read) = blocking(move || {
            let read = lines.next(after)?;
            Ok((lines, read))
        })
        .await?;
        self.lines = Some(lines);
        self.seq_read = read.last().map_or(self.seq_read, |line| line.seq);
        self.read.extend(read);
        Ok(())
    }

    /// Whether nothing more will come. The journal was read to its end after `phase` was observed.
    async fn has_ended(&mut self, phase: Option<Phase>) -> bool {
        match phase {
            Some(Phase::Running { .. } | Phase::Waiting) => return false,
            Some(Phase::Over) => {}
            None => {
                let (server, run) = (Arc::clone(&self.server), self.run.clone());
                let is_at_work = blocking(move || {
                    let workspace = server.app.existing_workspace()?;
                    Ok(workspace.is_some_and(|workspace| workspace.is_locked(&run)))
                });
                if is_at_work.await.unwrap_or(false) {
                    return false;
                }
                // The last lines may have been written between our read of the journal and our check of the lock.
                if self.look(None).await.unwrap_or(false) {
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

    async fn wait(&mut self) -> WakeReason {
        let (Some(phase), Some(pieces)) = (&mut self.phase, &mut self.pieces) else {
            return match timeout(POLL, self.server.closing()).await {
                Ok(()) => WakeReason::Closing,
                Err(_) => WakeReason::Look,
            };
        };
        tokio::select! {
            changed = phase.changed() => { drop(changed); WakeReason::Look }
            piece = pieces.recv() => match piece {
                Ok(piece) => WakeReason::Piece(piece),
                Err(RecvError::Lagged(_) | RecvError::Closed) => WakeReason::Look,
            },
            () = tokio::time::sleep(KEEP_ALIVE) => WakeReason::KeepAlive,
            () = self.server.closing() => WakeReason::Closing,
        }
    }
}

/// Lines up to a number, each followed by the pieces that were streamed after it. Unless this is
/// the end, pieces that may belong after a later line are held back.
fn weave(
    lines: &mut VecDeque<Line>,
    pieces: &mut VecDeque<StreamedPiece>,
    upto: u64,
    is_last: bool,
) -> Vec<Bytes> {
    let mut woven = Vec::new();
    while let Some(line) = lines.pop_front_if(|line| line.seq <= upto) {
        while let Some(piece) = pieces.pop_front_if(|piece| piece.seq < line.seq) {
            woven.push(piece_text(&piece));
        }
        // JSON on a single line contains no newlines.
        let event = format!("id: {}\nevent: {}\ndata: {}\n\n", line.seq, line.kind(), line.text);
        woven.push(Bytes::from(event));
    }
    if is_last {
        let next = lines.front().map_or(u64::MAX, |line| line.seq);
        while let Some(piece) = pieces.pop_front_if(|piece| piece.seq < next) {
            woven.push(piece_text(&piece));
        }
    }
    woven
}

fn piece_text(piece: &StreamedPiece) -> Bytes {
    let line = Line { seq: piece.seq, text: piece.text.to_string() };
    Bytes::from(format!("event: {}\ndata: {}\n\n", line.kind(), line.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(woven: &[Bytes]) -> Vec<String> {
        let texts = woven.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        texts.map(|text| text.split("data: ").nth(1).unwrap_or_default().trim().to_owned()).collect()
    }

    #[test]
    fn pieces_stand_behind_the_line_that_was_recorded_before_them() {
        let line = |seq: u64| Line { seq, text: seq.to_string() };
        let piece = |seq: u64, text: &str| StreamedPiece { seq, text: text.into() };
        let mut lines: VecDeque<Line> = (3..=6).map(line).collect();
        let mut pieces: VecDeque<StreamedPiece> =
            [piece(1, "early"), piece(3, "a"), piece(3, "b"), piece(5, "c"), piece(9, "d")].into();
        // The run was observed at its fifth event.
        assert_eq!(shown(&weave(&mut lines, &mut pieces, 5, false)), ["early", "3", "a", "b", "4", "5"]);
        assert_eq!((lines.len(), pieces.len()), (1, 2));
        assert_eq!(shown(&weave(&mut lines, &mut pieces, 6, false)), ["c", "6"]);
        assert_eq!(shown(&weave(&mut lines, &mut pieces, 6, true)), ["d"]);
    }
}
