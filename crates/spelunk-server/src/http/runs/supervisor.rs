//! Supervises a run: starts or continues it, follows it to its end, and writes its files. If the
//! server stops first, the run stays as it is, and its ticket records that.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::http::StatusCode;
use serde_json::Value;
use spelunk_app::arguments::Arguments;
use spelunk_app::asking::{self, begun as begun_before, same_models};
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;
use spelunk_app::live_runs::Slot;
use spelunk_app::otel;
use spelunk_app::provider::{self, ChosenModels};
use spelunk_app::render::progress::run_status;
use spelunk_app::runs::{files_incomplete, read_view};
use spelunk_app::sources::bucket;
use spelunk_context::SourceInput;
use spelunk_engine::{ModelCapacity, Projector, ResumeRequest, RunHandle, RunView, snapshot_input};
use spelunk_journal::{JournalError, Record};
use spelunk_types::{
    Durability, ErrorCode, Event, EventKind, Explain, FrameId, Limits, RunId, RunOutcome, Strategy,
};
use tokio::sync::watch;

use super::super::{Problem, Server, Shared};
use super::{
    CRASHES_MAX, FleetRuns, FollowUp, Job, JobKind, Live, Phase, Progress, Refusal, SaidPiece,
    SnapshotSource, StreamedPiece, Ticket, read_query,
};
use crate::mcp::{read_limits, stopped};

#[derive(Debug, thiserror::Error)]
#[error("no model is configured on the server")]
pub(crate) struct NoModel;

impl Explain for NoModel {
    fn code(&self) -> ErrorCode {
        ErrorCode::ModelNotConfigured
    }

    fn hint(&self) -> Option<String> {
        Some("set ANTHROPIC_API_KEY or OPENAI_API_KEY for the server, or start it with `--model`".into())
    }
}

pub(crate) async fn model(server: &Server) -> Result<ChosenModels, Failure> {
    let chosen = provider::choose(&server.app.settings, &server.app.environment).await?;
    Ok(chosen.ok_or(NoModel)?)
}

pub(super) async fn keep(server: Shared, job: Job, mut slot: Slot) {
    let Job { mut ticket, kind, live, .. } = job;
    let mut stop = server.runs.stop.subscribe();
    let is_question = kind == JobKind::More;
    let begun = match may_try(&server, &live.run).await {
        Ok(()) => tokio::select! {
            begun = begin(&server, &ticket, kind) => begun.map_err(Unbegun::from),
            () = stopped(&mut stop) => return server.runs.tickets.forget_tries(&live.run),
        },
        Err(unbegun) => Err(unbegun),
    };
    let settled = match begun {
        Ok(handle) => match follow(&server, &live, handle, (&mut ticket, &mut slot), &mut stop).await {
            Some(view) => {
                ended(&server, &view);
                otel::export(&server.app, &live.run).await;
                ticket.progress = Progress::Ended;
                None
            }
            // The server is stopping; the ticket stays unchanged.
            None => return server.runs.tickets.forget_tries(&live.run),
        },
        Err(Unbegun { problem, is_outage: true }) => {
            let run = live.run.short();
            server.app.say(&format!("warning: run {run} is returned to the queue: {}", problem.detail));
            return server.runs.leave(&live, None);
        }
        Err(Unbegun { problem, is_outage: false }) => {
            server.app.say(&format!("warning: run {} could not start: {}", live.run.short(), problem.detail));
            let refusal =
                Refusal { is_of_question: is_question, ..Refusal::of(&problem.for_client(&server.mcp)) };
            ticket.progress = Progress::Refused { refusal: Box::new(refusal) };
            Some(ticket.clone())
        }
    };
    if let Err(failure) = put_away(&server, ticket, is_question).await {
        server.app.say(&format!("warning: the ticket of run {} was kept: {}", live.run.short(), failure.0));
    }
    server.runs.leave(&live, settled);
    drop(slot);
}

struct Unbegun {
    problem: Problem,
    /// The fleet did not answer: another attempt may succeed.
    is_outage: bool,
}

impl From<Failure> for Unbegun {
    fn from(failure: Failure) -> Self {
        Self { is_outage: FleetRuns::is_outage(&failure), problem: failure.into() }
    }
}

/// Records an attempt at this run. A run that has repeatedly crashed the server is not attempted
/// again: it would crash the server and every other run with it.
async fn may_try(server: &Shared, run: &RunId) -> Result<(), Unbegun> {
    let (shared, name) = (Arc::clone(server), run.clone());
    let noted = blocking(move || {
        let n_events = match shared.app.existing_workspace()? {
            Some(workspace) if workspace.has(&name) => n_events(&workspace.read_journal(&name)?),
            Some(_) | None => 0,
        };
        Ok(match &shared.runs.fleet {
            Some(fleet) => fleet.note_try(&name, n_events)?,
            None => shared.runs.tickets.note_try(&name, n_events)?,
        })
    });
    match noted.await? {
        n_crashes if n_crashes < CRASHES_MAX => Ok(()),
        n_crashes => {
            let detail =
                format!("the server crashed {n_crashes} times on run `{}` without progress", run.short());
            let title = "The run is not retried.";
            let hint = "check the server's log and the files of the run; resume it to try again";
            let problem = Problem::new(StatusCode::CONFLICT, "run-fatal", title, detail).hint(hint);
            Err(Unbegun { problem, is_outage: false })
        }
    }
}

/// The number of events, not counting resumes, which are not progress.
fn n_events(journal: &[Record]) -> u64 {
    let is_deed = |record: &&Record| !matches!(record, Record::Known(event) if matches!(event.kind, EventKind::RunResumed { .. }));
    journal.iter().filter(is_deed).count() as u64
}

/// Removes the ticket of an ended run, unless it is still needed.
async fn put_away(server: &Shared, ticket: Ticket, is_question: bool) -> Result<(), Failure> {
    let server = Arc::clone(server);
    blocking(move || {
        let tickets = &server.runs.tickets;
        tickets.forget_tries(&ticket.run);
        let has_ended = ticket.progress == Progress::Ended;
        if !has_ended && !is_question {
            // The request is kept, so that it can be retried.
            let whole = tickets.read(&ticket.run)?;
            tickets.write(&Ticket { progress: ticket.progress, ..whole })?;
        } else if !has_ended || ticket.key.is_none() {
            // A follow-up question that could not be asked is not retried: the run stays as it was.
            tickets.remove(&ticket.run);
        } else {
            tickets.write(&Ticket { request: Value::Null, ..ticket })?;
        }
        Ok(())
    })
    .await
}

async fn begin(server: &Shared, ticket: &Ticket, kind: JobKind) -> Result<RunHandle, Failure> {
    match kind {
        JobKind::Begin => start(server, ticket).await,
        JobKind::More | JobKind::GoOn => go_on(server, &ticket.run, kind).await,
    }
}

async fn start(server: &Shared, ticket: &Ticket) -> Result<RunHandle, Failure> {
    let chosen = model(server).await?;
    let (server, ticket) = (Arc::clone(server), ticket.clone());
    let runtime = tokio::runtime::Handle::current();
    blocking(move || {
        // Only its summary is in memory.
        let ticket = server.runs.tickets.read(&ticket.run)?;
        let uploads = uploads(&server, &ticket)?;
        let query = read_query(&server, &ticket.request, uploads)?;
        let settings = server.app.run_settings_within(query.limits.clone());
        let ready = query.ready(&server.mcp, chosen.into(), settings)?;
        // The server's runtime drives the run.
        let _entered = runtime.enter();
        ready.start_as(ticket.run)
    })
    .await
}

fn uploads(server: &Server, ticket: &Ticket) -> Result<Vec<SourceInput>, Failure> {
    let mut inputs = Vec::new();
    for SnapshotSource { manifest, file, name } in &ticket.snapshots {
        let workspace = server.app.workspace()?;
        inputs.push(snapshot_input(&workspace, manifest, file.as_deref(), name.as_deref())?);
    }
    // Whoever can queue a job names buckets, but no file or database of this machine.
    inputs.extend(ticket.buckets.iter().map(|url| bucket(&server.app, url)));
    let numbered = ticket.uploads.iter().enumerate();
    let of = |(idx, name): (usize, &String)| -> Result<SourceInput, JournalError> {
        let bytes = server.runs.tickets.upload(&ticket.run, idx)?;
        Ok(SourceInput::Text { name: name.clone(), bytes })
    };
    for upload in numbered {
        inputs.push(of(upload)?);
    }
    Ok(inputs)
}

async fn go_on(server: &Shared, run: &RunId, kind: JobKind) -> Result<RunHandle, Failure> {
    let (server, run) = (Arc::clone(server), run.clone());
    let runtime = tokio::runtime::Handle::current();
    blocking(move || {
        let app = &server.app;
        let view = read_view(&app.workspace()?, &run)?;
        let ticket = server.runs.tickets.read(&run)?;
        let mut arguments = Arguments::new(ticket.request.as_object().cloned());
        let (limits, question) = if kind == JobKind::More {
            let FollowUp { question, limits } = FollowUp::read(&server, arguments)?;
            (Some(limits), Some(question))
        } else if matches!(ticket.progress, Progress::Again { .. }) {
            (Some(read_limits(&server.mcp, &mut arguments)?), None)
        } else {
            (None, None)
        };
        let request = resume_request(&server, &run, &view, limits)?;
        let _entered = runtime.enter();
        let sandbox = server.mcp.sandbox.clone();
        let tools = app.run_tools().with_consent(server.runs.consents.asking());
        asking::go_on(app, sandbox, tools, (&run, question.as_deref()), request, &mut |_| {})
    })
    .await
}

/// The request to continue a run with its own models, and with its own limits unless others are given.
pub(super) fn resume_request(
    server: &Server,
    run: &RunId,
    view: &RunView,
    limits: Option<Limits>,
) -> Result<ResumeRequest, Failure> {
    begun_before(run, view)?;
    server.mcp.require_roots(view)?;
    let limits = limits.or_else(|| view.limits.clone());
    let limits = limits.unwrap_or_else(|| server.app.settings.limits.clone());
    let request = same_models(&server.app, run, view)?.request(server.app.run_settings_within(limits));
    request.check_prices()?;
    Ok(request)
}

/// Forwards events to watchers until the run ends; `None` if the server stops first.
async fn follow(
    server: &Shared,
    live: &Arc<Live>,
    mut handle: RunHandle,
    (ticket, slot): (&mut Ticket, &mut Slot),
    stop: &mut watch::Receiver<bool>,
) -> Option<RunView> {
    begun(server, ticket).await;
    slot.hold(&handle.run, &handle.cancel);
    if live.is_cancelled.load(Ordering::SeqCst) {
        handle.cancel.cancel();
    }
    let workspace = server.app.existing_workspace().ok().flatten();
    let projector = workspace.and_then(|workspace| Projector::start(&workspace, &handle.run));
    let mut view = RunView::default();
    let began = Instant::now();
    loop {
        let record = tokio::select! {
            record = handle.events.next() => record,
            () = stopped(stop) => {
                handle.abandon().await;
                drop(projector);
                return None;
            }
        };
        match record {
            None => break,
            Some(Ok(Record::Known(event))) => {
                if let Some(said) = said_piece(&event, &view) {
                    // For most runs, nobody waits for the text.
                    drop(live.said.send(said));
                }
                if event.kind.durability() == Durability::Ephemeral {
                    // Without watchers, nothing is sent.
                    let text = serde_json::to_string(&event).unwrap_or_default().into();
                    drop(live.pieces.send(StreamedPiece { seq: event.seq, text }));
                    continue;
                }
                view.apply(&event);
                if live.status.receiver_count() > 0 {
                    live.status.send_replace(run_status(&view, 0, began.elapsed()));
                }
                live.phase.send_replace(Phase::Running { seq: event.seq });
            }
            // Watchers read records that cannot be parsed here from the journal.
            Some(Ok(Record::Unknown { .. }) | Err(_)) => {}
        }
    }
    handle.join().await;
    let finished = blocking(move || Ok(projector.map_or(Ok(()), Projector::finish)?)).await;
    if let Err(failure) = finished {
        server.app.say(&format!("warning: {}", files_incomplete(&live.run, failure.0.as_ref())));
    }
    Some(view)
}

/// What an event adds to the answer, if the reply to a call is the answer: in a conversation with the
/// caller's tools, and with `direct`, unless the model is so small that its answer may be replaced.
fn said_piece(event: &Event, view: &RunView) -> Option<SaidPiece> {
    let is_whole = view.strategy == Some(Strategy::Direct)
        && view
            .model
            .as_ref()
            .zip(view.limits.as_ref())
            .is_some_and(|(model, limits)| !ModelCapacity::of(model, limits).is_small());
    if event.frame != FrameId::root() || !(is_whole || view.is_turn) {
        return None;
    }
    if let EventKind::CallStreamed { call, text } = &event.kind {
        return Some(SaidPiece::More { ordinal: call.ordinal, text: text.clone() });
    }
    matches!(event.kind, EventKind::CallRetried { .. }).then_some(SaidPiece::Anew)
}

/// Updates the ticket: from now on the journal contains everything the run needs.
async fn begun(server: &Shared, ticket: &mut Ticket) {
    if matches!(ticket.progress, Progress::Again { .. }) {
        // The limits are only in the ticket.
        return;
    }
    ticket.progress = Progress::Begun;
    let (server, ticket) = (Arc::clone(server), ticket.clone());
    let app = Arc::clone(&server.app);
    let written = blocking(move || {
        // A power failure must leave the request in one of the two.
        server.app.workspace()?.sync_of(&ticket.run).sync()?;
        server.runs.tickets.write(&Ticket { request: Value::Null, uploads: Vec::new(), ..ticket.clone() })?;
        server.runs.tickets.remove_uploads(&ticket.run);
        Ok(())
    })
    .await;
    if let Err(failure) = written {
        // The older ticket works too: a run with a journal is continued.
        app.say(&format!("warning: a ticket was not written: {}", failure.0));
    }
}

fn ended(server: &Server, view: &RunView) {
    let how = match &view.outcome {
        Some(RunOutcome::Answered) => "answered",
        Some(RunOutcome::Partial { .. }) => "partial",
        Some(RunOutcome::Failed { .. }) => "failed",
        Some(RunOutcome::Cancelled) => "cancelled",
        None => "broken",
    };
    server.metrics.run_ended(how, &view.spent);
}
