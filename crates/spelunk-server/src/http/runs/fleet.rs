//! Runs of a fleet: a run that this server accepts goes into the fleet's queue, and any node may
//! take it. Runs on other nodes are followed from here, so that clients notice no difference. This
//! node also makes calls for other nodes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;
use spelunk_app::live_runs::Slot;
use spelunk_app::provider;
use spelunk_app::render::progress::run_status;
use spelunk_app::runs::read_view;
use spelunk_engine::RunView;
use spelunk_fleet::{Fleet, FleetError, FleetWorkspace, NodeReport, QueuedJob};
use spelunk_journal::{JournalError, JournalTail, Lease, Record, SharedRuns as _, digest};
use spelunk_types::{BlobId, EventKind, RunId};

use super::super::{Client, Scope, Server, Shared};
use super::service::{Remaining, left};
use super::{Job, JobKind, Live, Phase, Progress, SnapshotSource, Ticket, supervisor};
use crate::mcp::stopped;

/// Jobs in a newer format are left to newer nodes.
const JOB_FORMAT: u64 = 1;
/// A request up to this size is stored in the queue itself; a longer one is a blob.
const INLINE_BYTES_MAX: usize = 256 << 10;
/// How long one request to the queue waits for a job.
const WAIT: Duration = Duration::from_secs(1);
/// How often a node reports that it is alive.
const BEAT: Duration = Duration::from_secs(10);
/// How often the journal of a run on another node is read.
const POLL: Duration = Duration::from_millis(100);
/// The delay before a job that could not be done is delivered again.
const AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct FleetRuns {
    shared: Arc<FleetWorkspace>,
    server: OnceLock<Weak<Server>>,
}

impl FleetRuns {
    pub(crate) fn new(shared: Arc<FleetWorkspace>) -> Self {
        Self { shared, server: OnceLock::new() }
    }

    pub(crate) fn belong_to(&self, server: &Shared) {
        drop(self.server.set(Arc::downgrade(server)));
    }

    fn fleet(&self) -> &Fleet {
        self.shared.fleet()
    }

    /// The state of the fleet, as `spelunk fleet status --json` prints it. Blocking.
    pub(crate) fn status(&self) -> Result<Value, Failure> {
        Ok(self.fleet().status()?.json())
    }

    pub(super) fn is_outage(failure: &Failure) -> bool {
        FleetError::is_outage(failure.0.as_ref())
    }

    /// Puts a run into the queue; durable when this returns. Blocking.
    pub(super) fn submit(&self, ticket: &Ticket, uploads: &[Vec<u8>]) -> Result<(), Failure> {
        Ok(submit(self.fleet(), ticket, uploads)?)
    }

    /// Counts an attempt at a run. Blocking.
    pub(super) fn note_try(&self, run: &RunId, n_events: u64) -> Result<u64, Failure> {
        Ok(self.fleet().note_try(run, n_events)?)
    }

    /// The value that any node has stored under this key before; if there is none, stores this one. Blocking.
    pub(super) fn remember_key(&self, key: &str, value: Vec<u8>) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.fleet().remember_key(key, value)?)
    }

    pub(super) fn is_leased(&self, run: &RunId) -> bool {
        self.shared.is_leased(run).unwrap_or(false)
    }

    /// Cancels a run on whichever node has it. Blocking.
    pub(super) fn cancel(&self, run: &RunId) -> Result<(), Failure> {
        Ok(self.fleet().cancel(run)?)
    }

    /// Follows a run that is queued or in progress on another node. Needs a runtime.
    pub(super) fn follow(&self, live: &Arc<Live>, ticket: &Ticket) {
        let Some(server) = self.server.get().and_then(Weak::upgrade) else { return };
        let after_seq = match ticket.progress {
            Progress::More { after_seq } | Progress::Again { after_seq } => after_seq,
            Progress::Waiting
            | Progress::Begun
            | Progress::Ended
            | Progress::Refused { .. }
            | Progress::Withdrawn => 0,
        };
        server.runs.keep(follow(Arc::clone(&server), Arc::clone(live), after_seq));
    }

    /// What the fleet recorded about a run without a journal. Blocking.
    pub(super) fn noted(&self, run: &RunId) -> Option<Ticket> {
        let noted = self.fleet().noted_run(run).ok().flatten()?;
        Ticket::of(serde_json::from_slice(&noted).ok()?).filter(|ticket| ticket.run == *run)
    }
}

fn submit(fleet: &Fleet, ticket: &Ticket, uploads: &[Vec<u8>]) -> Result<(), FleetError> {
    let keep = |bytes: &[u8]| -> Result<BlobId, FleetError> {
        let blob = digest(bytes);
        fleet.put_blob(&blob, bytes)?;
        Ok(blob)
    };
    let uploads = uploads.iter().map(|bytes| keep(bytes)).collect::<Result<Vec<_>, _>>()?;
    let mut job = json!({ "format": JOB_FORMAT, "run": ticket.run, "uploads": uploads });
    let whole = ticket.json().to_string();
    if whole.len() <= INLINE_BYTES_MAX {
        job["ticket"] = ticket.json();
    } else {
        job["blob"] = json!(keep(whole.as_bytes())?);
    }
    // The note comes first, so that every node knows each queued run.
    fleet.note_run(&ticket.run, ticket.lean().json().to_string().into_bytes())?;
    // Everybody who asks from a machine of their own has the same name, and all processes of one machine are one tenant.
    let tenant = match ticket.client.as_str() {
        "local" => format!("local {}", fleet.node().trim_end_matches(&format!("-{}", std::process::id()))),
        named => named.to_owned(),
    };
    let attempt = ticket.at_ms;
    fleet.enqueue(&tenant, &format!("{}/{attempt}", ticket.run), job.to_string().into_bytes())
}

enum JobBody {
    Readable {
        ticket: Box<Ticket>,
        uploads: Vec<BlobId>,
    },
    /// A newer version wrote it.
    Newer,
    Garbage,
}

fn read_job(fleet: &Fleet, body: &[u8]) -> Result<JobBody, FleetError> {
    let mut job: Value = serde_json::from_slice(body).unwrap_or_default();
    match job["format"].as_u64() {
        Some(JOB_FORMAT) => {}
        Some(format) if format > JOB_FORMAT => return Ok(JobBody::Newer),
        Some(_) | None => return Ok(JobBody::Garbage),
    }
    let mut ticket = job["ticket"].take();
    if let Some(blob) = job["blob"].as_str().and_then(|blob| blob.parse().ok()) {
        let bytes = fleet.get_blob(&blob)?.unwrap_or_default();
        ticket = serde_json::from_slice(&bytes).unwrap_or_default();
    }
    let uploads = job["uploads"].as_array().cloned().unwrap_or_default();
    let uploads: Option<Vec<BlobId>> = uploads.iter().map(|blob| blob.as_str()?.parse().ok()).collect();
    Ok(match (Ticket::of(ticket), uploads) {
        (Some(ticket), Some(uploads)) => JobBody::Readable { ticket: Box::new(ticket), uploads },
        (None, _) | (_, None) => JobBody::Garbage,
    })
}

/// Takes jobs from the queue and works on them until the server stops.
pub async fn take_jobs(server: Shared, role: &'static str) {
    let Some(runs) = &server.runs.fleet else { return };
    let fleet = runs.fleet().clone();
    server.runs.keep(make_calls(Arc::clone(&server), fleet.clone()));
    let mut cancelled = fleet.cancellations();
    let mut reported: Option<(Instant, NodeReport)> = None;
    let mut is_away = false;
    while !server.runs.is_stopping() {
        while let Ok(run) = cancelled.try_recv() {
            server.runs.cancel_here(&run);
        }
        let report = report(&server, &fleet, role);
        let is_new = |(at, said): &(Instant, NodeReport)| {
            at.elapsed() >= BEAT || (at.elapsed() >= WAIT && *said != report)
        };
        if reported.as_ref().is_none_or(is_new) {
            // If this report fails, the next one comes soon.
            drop(fleet.report(&report).await);
            reported = Some((Instant::now(), report));
        }
        let Some(slot) = server.runs.take_slot() else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        match fleet.next_job(WAIT).await {
            Ok(Some(job)) => {
                is_away = false;
                server.runs.keep(work(Arc::clone(&server), fleet.clone(), job, slot));
            }
            Ok(None) => is_away = false,
            Err(error) => {
                drop(slot);
                if !std::mem::replace(&mut is_away, true) {
                    server.app.say(&format!("warning: {error}; trying again"));
                }
                tokio::time::sleep(WAIT).await;
            }
        }
    }
    fleet.leave().await;
}

async fn make_calls(server: Shared, fleet: Fleet) {
    let mut stop = server.runs.stop.subscribe();
    let models = tokio::select! {
        models = provider::usable(&server.app.settings, &server.app.environment) => models,
        () = stopped(&mut stop) => return,
    };
    for model in models {
        if Fleet::travels(model.as_ref()) {
            let (fleet, mut stop) = (fleet.clone(), stop.clone());
            server.runs.keep(async move { fleet.make_calls(model, stopped(&mut stop)).await });
        }
    }
}

fn report(server: &Server, fleet: &Fleet, role: &'static str) -> NodeReport {
    NodeReport {
        role,
        version: env!("CARGO_PKG_VERSION"),
        slots: server.app.settings.server.runs_parallel_max,
        running: server.runs.counts().running,
        calls_max: fleet.calls_max(),
        calls: fleet.calls(),
    }
}

/// Works on one job. The job leaves the queue when the journal contains the end of its run.
async fn work(server: Shared, fleet: Fleet, job: QueuedJob, slot: Slot) {
    let job = Arc::new(job);
    let beats = async {
        loop {
            tokio::time::sleep(fleet.beat()).await;
            job.is_in_progress().await;
        }
    };
    let carried_out = tokio::select! {
        carried_out = carry_out(&server, &fleet, &job, slot) => carried_out,
        () = beats => return,
    };
    match carried_out {
        Ok(Outcome::Done) => job.done().await,
        Ok(Outcome::Return(after)) => job.give_back(after).await,
        // The journal now belongs to another node, and so does the job.
        Ok(Outcome::Lost(run)) => {
            let run = run.short();
            server.app.say(&format!("warning: another node has taken over run {run}; this one stopped it"));
        }
        Err(failure) => {
            server.app.say(&format!("warning: a job was returned to the queue: {}", failure.0));
            job.give_back(AGAIN).await;
        }
    }
}

enum Outcome {
    Done,
    /// Another node may take it after this delay.
    Return(Duration),
    /// Another node has already taken it.
    Lost(RunId),
}

async fn carry_out(
    server: &Shared,
    fleet: &Fleet,
    job: &Arc<QueuedJob>,
    slot: Slot,
) -> Result<Outcome, Failure> {
    let (taking, reading, queued) = (Arc::clone(server), fleet.clone(), Arc::clone(job));
    let taken = blocking(move || take(&taking, &reading, queued.body())).await?;
    let (lease, ticket, kind, is_cancelled) = match taken {
        Taken::Over(outcome) => return Ok(outcome),
        Taken::Work { lease, ticket, kind, is_cancelled } => (lease, *ticket, kind, is_cancelled),
    };
    let run = ticket.run.clone();
    let live = server.runs.take_in(&ticket);
    live.is_cancelled.store(is_cancelled, Ordering::SeqCst);
    supervisor::keep(Arc::clone(server), Job::new(&ticket, kind, live), slot).await;
    let (looking, knowing) = (Arc::clone(server), fleet.clone());
    blocking(move || {
        let is_here = lease;
        let ended = ended(&looking, &knowing, &run);
        drop(is_here);
        ended
    })
    .await
}

enum Taken {
    Work { lease: Lease, ticket: Box<Ticket>, kind: JobKind, is_cancelled: bool },
    Over(Outcome),
}

/// Takes the lease of a job's run and determines what is left to do. Blocking.
fn take(server: &Shared, fleet: &Fleet, body: &[u8]) -> Result<Taken, Failure> {
    let (ticket, uploads) = match read_job(fleet, body)? {
        JobBody::Readable { ticket, uploads } => (ticket, uploads),
        JobBody::Newer => return Ok(Taken::Over(Outcome::Return(BEAT))),
        JobBody::Garbage => {
            server.app.say("warning: an entry in the queue of the fleet is not a job and was removed");
            return Ok(Taken::Over(Outcome::Done));
        }
    };
    let Some(runs) = &server.runs.fleet else { return Ok(Taken::Over(Outcome::Return(AGAIN))) };
    let lease = match runs.shared.lease(&ticket.run) {
        Err(JournalError::Leased { .. }) => return Ok(Taken::Over(Outcome::Return(AGAIN))),
        lease => lease?,
    };
    let workspace = server.app.workspace()?;
    let has_journal = workspace.has(&ticket.run);
    let is_cancelled = fleet.is_cancelled(&ticket.run)?;
    if !has_journal && is_cancelled {
        let withdrawn = Ticket { progress: Progress::Withdrawn, ..ticket.lean() };
        fleet.note_run(&ticket.run, withdrawn.json().to_string().into_bytes())?;
        return Ok(Taken::Over(Outcome::Done));
    }
    match left(&workspace, &ticket, has_journal) {
        Remaining::Job(kind) => {
            for (idx, blob) in uploads.iter().enumerate() {
                let bytes = workspace.blobs().get(blob)?;
                server.runs.tickets.keep_upload(&ticket.run, idx, &bytes)?;
            }
            server.runs.tickets.write(&ticket)?;
            Ok(Taken::Work { lease, ticket, kind, is_cancelled })
        }
        Remaining::Gone | Remaining::Ended | Remaining::Settled => {
            fleet.forget_run(&ticket.run)?;
            Ok(Taken::Over(Outcome::Done))
        }
    }
}

/// What happens to the job of a run that this node has released. Blocking.
fn ended(server: &Shared, fleet: &Fleet, run: &RunId) -> Result<Outcome, Failure> {
    if let Some(refused) = server.runs.settled_as(run) {
        fleet.note_run(run, refused.json().to_string().into_bytes())?;
        // Resuming the run starts a new count.
        fleet.forget_tries(run)?;
        return Ok(Outcome::Done);
    }
    let workspace = server.app.workspace()?;
    let is_taken_over = server.runs.fleet.as_ref().is_some_and(|runs| runs.shared.is_taken_over(run));
    if is_taken_over {
        // Nothing crashed.
        fleet.forget_tries(run)?;
        return Ok(Outcome::Lost(run.clone()));
    }
    if workspace.has(run) && read_view(&workspace, run)?.outcome.is_some() {
        fleet.forget_run(run)?;
        return Ok(Outcome::Done);
    }
    // The run was interrupted: the server is stopping, or the fleet could not be written to.
    fleet.forget_tries(run)?;
    let after = if server.runs.is_stopping() { Duration::ZERO } else { AGAIN };
    Ok(Outcome::Return(after))
}

/// Follows a run until it ends, or until this node works on it.
async fn follow(server: Shared, live: Arc<Live>, after_seq: u64) {
    let mut seen = Seen {
        run: live.run.clone(),
        after_seq,
        tail: None,
        view: RunView::default(),
        begun: Instant::now(),
    };
    while !server.runs.is_stopping() && !live.is_here.load(Ordering::SeqCst) {
        let looking = Arc::clone(&server);
        let looked = blocking(move || Ok((seen.look(&looking), seen)));
        let Ok((standing, back)) = looked.await else { return };
        seen = back;
        if live.is_here.load(Ordering::SeqCst) {
            return;
        }
        match standing {
            Standing::Queued => {}
            Standing::Running { seq } => {
                live.status.send_replace(run_status(&seen.view, 0, seen.begun.elapsed()));
                live.phase.send_if_modified(|phase| {
                    let next = Phase::Running { seq };
                    std::mem::replace(phase, next) != next
                });
            }
            Standing::Over => return server.runs.leave(&live, None),
            Standing::Settled(ticket) => return server.runs.leave(&live, Some(*ticket)),
        }
        tokio::time::sleep(POLL).await;
    }
}

struct Seen {
    run: RunId,
    /// Earlier events belong to an earlier end of the run.
    after_seq: u64,
    tail: Option<JournalTail>,
    view: RunView,
    begun: Instant,
}

enum Standing {
    Queued,
    Running { seq: u64 },
    Over,
    Settled(Box<Ticket>),
}

impl Seen {
    fn look(&mut self, server: &Server) -> Standing {
        let so_far = |view: &RunView| Standing::Running { seq: view.seq_last };
        let noted = || server.runs.fleet.as_ref().and_then(|runs| runs.noted(&self.run));
        if let Some(ticket) =
            noted().filter(|ticket| matches!(ticket.progress, Progress::Refused { .. } | Progress::Withdrawn))
        {
            return Standing::Settled(Box::new(ticket));
        }
        let Ok(workspace) = server.app.workspace() else { return so_far(&self.view) };
        if self.tail.is_none() {
            if !workspace.has(&self.run) {
                return Standing::Queued;
            }
            self.tail = JournalTail::open(&workspace, &self.run).ok();
        }
        let Some(Ok(new)) = self.tail.as_mut().map(JournalTail::read_new) else { return so_far(&self.view) };
        let mut is_over = false;
        for record in new {
            if let Record::Known(event) = record {
                is_over = matches!(event.kind, EventKind::RunFinished { .. }) && event.seq > self.after_seq;
                self.view.apply(&event);
            }
        }
        let is_over = is_over || (self.view.outcome.is_some() && self.view.seq_last > self.after_seq);
        match () {
            () if is_over => Standing::Over,
            () if self.view.seq_last <= self.after_seq => Standing::Queued,
            () => so_far(&self.view),
        }
    }
}

fn local() -> Client {
    Client { name: "local".into(), scope: Scope::Run }
}

/// A source that was uploaded as a snapshot.
pub type UploadedSource = SnapshotSource;

/// Submits a question from a program that is no server, with what was uploaded and the URLs of buckets. Blocking.
pub fn submit_question(
    fleet: &Fleet,
    run: &RunId,
    request: Value,
    (snapshots, buckets): (Vec<UploadedSource>, Vec<String>),
) -> Result<(), Failure> {
    let ticket = Ticket::new(run, local(), Progress::Waiting, request);
    Ok(submit(fleet, &Ticket { snapshots, buckets, ..ticket }, &[])?)
}

/// Submits the continuation of a run after the last event of its journal; the request may set limits. Blocking.
pub fn submit_resume(fleet: &Fleet, run: &RunId, after_seq: u64, request: Value) -> Result<(), Failure> {
    let ticket = Ticket::new(run, local(), Progress::Again { after_seq }, request);
    Ok(submit(fleet, &ticket, &[])?)
}

/// Why a node could not start or continue a run, if it reported that: a message and a hint. Blocking.
pub fn refusal(fleet: &Fleet, run: &RunId) -> Result<Option<(String, Option<String>)>, Failure> {
    let noted = fleet.noted_run(run)?.unwrap_or_default();
    let ticket = Ticket::of(serde_json::from_slice(&noted).unwrap_or_default());
    Ok(match ticket.map(|ticket| ticket.progress) {
        Some(Progress::Refused { refusal }) => Some((refusal.message, refusal.hint)),
        Some(Progress::Withdrawn) => Some(("the run was cancelled before it started".into(), None)),
        Some(_) | None => None,
    })
}
