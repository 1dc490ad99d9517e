//! The runs this server works on: which are queued, which are in progress, and who requested them. A task
//! follows each run to its end, whether or not anybody watches. The journals are the source of truth about
//! runs, and the tickets about remaining work; the state here can be lost at any time.

mod in_fleet;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use spelunk_app::failure::Failure;
use spelunk_app::live_runs::LiveRuns;
use spelunk_app::runs::read_view;
use spelunk_app::units::count;
use spelunk_engine::{Clock as _, SystemClock};
use spelunk_fs::PrivateDir;
use spelunk_journal::{Record, Workspace};
use spelunk_types::{EventKind, RunId};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::super::{Counts, Problem, Shared, lock};
use super::consent::Consents;
use super::queue::FairQueue;
use super::tickets::Tickets;
use super::{FleetRuns, Key, Live, Phase, Progress, Ticket, supervisor};

const UPLOADS_MAX: usize = 4;
const KEYS_MAX: usize = 10_000;
/// The maximum number of settled runs: those that never started or could not continue, kept with the reason.
const SETTLED_MAX: usize = 1_000;
/// The maximum disk space of all queued requests with their uploads.
const WAITING_BYTES_MAX: u64 = 4 << 30;
const KEY_MS_MAX: u64 = 24 * 3_600_000;

/// All runs of this server that have not ended.
pub struct RunService {
    table: Mutex<Table>,
    keepers: Mutex<JoinSet<()>>,
    pub(super) tickets: Tickets,
    pub(super) consents: Arc<Consents>,
    pub(super) uploads: Semaphore,
    pub(super) stop: watch::Sender<bool>,
    live_runs: Arc<LiveRuns>,
    queue_max: usize,
    /// The fleet whose queue replaces our own.
    pub(crate) fleet: Option<FleetRuns>,
}

#[derive(Default)]
struct Table {
    queue: FairQueue<Job>,
    live: HashMap<RunId, Arc<Live>>,
    keys: HashMap<(String, String), RememberedKey>,
    /// Runs that will never have a journal, and runs that could not continue; sorted by time.
    settled: BTreeMap<RunId, Ticket>,
    is_closed: bool,
}

struct RememberedKey {
    digest: String,
    run: RunId,
    at_ms: u64,
}

pub(super) struct Job {
    /// Without the full request, which is on disk.
    pub(super) ticket: Ticket,
    pub(super) kind: JobKind,
    /// Its size on disk while it is queued.
    bytes: u64,
    pub(super) live: Arc<Live>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
    /// Start; it has no journal yet.
    Begin,
    /// Ask the follow-up question in its ticket.
    More,
    /// Continue under the limits in its ticket, or its old ones.
    GoOn,
}

pub(super) enum Promised {
    New(Arc<Live>),
    /// An earlier request had the same key and content.
    Before(RunId),
}

impl RunService {
    pub(crate) fn new(
        tickets: Tickets,
        live_runs: Arc<LiveRuns>,
        queue_max: u64,
        fleet: Option<FleetRuns>,
    ) -> Self {
        Self {
            table: Mutex::default(),
            keepers: Mutex::default(),
            tickets,
            consents: Arc::default(),
            uploads: Semaphore::new(UPLOADS_MAX),
            stop: watch::Sender::new(false),
            live_runs,
            queue_max: usize::try_from(queue_max).unwrap_or(usize::MAX),
            fleet,
        }
    }

    pub(crate) fn workspace(&self) -> &PrivateDir {
        self.tickets.workspace()
    }

    pub(crate) fn has_room(&self) -> bool {
        let table = lock(&self.table);
        !table.is_closed && table.queue.len() < self.queue_max
    }

    pub(crate) fn counts(&self) -> Counts {
        let table = lock(&self.table);
        Counts { running: self.live_runs.slots_taken() as u64, queued: table.queue.len() as u64 }
    }

    pub(super) fn find(&self, run: &RunId) -> Option<Arc<Live>> {
        lock(&self.table).live.get(run).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        lock(&self.table).live.values().cloned().collect()
    }

    pub(super) fn settled(&self) -> Vec<Ticket> {
        lock(&self.table).settled.values().cloned().collect()
    }

    pub(super) fn settled_as(&self, run: &RunId) -> Option<Ticket> {
        lock(&self.table).settled.get(run).cloned()
    }

    /// Every run that is queued, in progress, never started or could not continue.
    pub(super) fn names(&self) -> Vec<RunId> {
        let table = lock(&self.table);
        table.live.keys().chain(table.settled.keys()).cloned().collect()
    }

    /// A consistent snapshot of what this server knows about a run.
    pub(super) fn standing(&self, run: &RunId) -> (Option<Arc<Live>>, Option<Ticket>) {
        let table = lock(&self.table);
        (table.live.get(run).cloned(), table.settled.get(run).cloned())
    }

    /// The run that was accepted under this key, if the request is the same.
    pub(super) fn promised(&self, client: &str, key: &Key) -> Result<Option<RunId>, Problem> {
        promised(&lock(&self.table), client, key)
    }

    /// Accepts a run with this much disk space: the ticket is written before the client gets a response. Blocking.
    pub(super) fn promise(&self, ticket: &Ticket, kind: JobKind, bytes: u64) -> Result<Promised, Problem> {
        let lean = ticket.lean();
        let live = Live::new(&lean);
        let forgotten = {
            let mut table = lock(&self.table);
            if let Some(key) = &ticket.key
                && let Some(run) = promised(&table, &ticket.client, key)?
            {
                return Ok(Promised::Before(run));
            }
            if let Some(detail) = self.full(&table, bytes) {
                let title = "The server accepts no runs now.";
                let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "queue-full", title, detail);
                return Err(problem.hint("try again later"));
            }
            if table.live.contains_key(&ticket.run) {
                return Err(at_work(&ticket.run));
            }
            // Reserved before the disk is written, so that a second request with the same key need not wait.
            let forgotten = forget_old(&mut table.keys, ticket.at_ms);
            note_key(&mut table.keys, ticket);
            table.settled.remove(&ticket.run);
            table.live.insert(ticket.run.clone(), Arc::clone(&live));
            forgotten.into_iter().filter(|run| !table.live.contains_key(run)).collect::<Vec<_>>()
        };
        for run in forgotten {
            self.tickets.remove(&run);
        }
        let stored: Result<(), Problem> = match &self.fleet {
            None => self.tickets.write(ticket).map_err(Problem::from),
            Some(fleet) => self.promise_to_fleet(fleet, ticket),
        };
        if let Err(error) = stored {
            let mut table = lock(&self.table);
            table.live.remove(&ticket.run);
            table.keys.retain(|_, remembered| remembered.run != ticket.run);
            return Err(error);
        }
        if let Some(fleet) = &self.fleet {
            fleet.follow(&live, ticket);
            return Ok(Promised::New(live));
        }
        let job = Job { ticket: lean, kind, live: Arc::clone(&live), bytes };
        lock(&self.table).queue.push(&ticket.client, job);
        Ok(Promised::New(live))
    }

    fn full(&self, table: &Table, bytes: u64) -> Option<&'static str> {
        let waiting: u64 = table.queue.iter().map(|job| job.bytes).sum();
        match () {
            () if table.is_closed => Some("the server is shutting down"),
            () if table.queue.len() >= self.queue_max => Some("too many runs are queued"),
            () if waiting.saturating_add(bytes) > WAITING_BYTES_MAX => {
                Some("the queued runs take up too much space")
            }
            () => None,
        }
    }

    pub(crate) fn pump(&self, server: &Shared) {
        loop {
            // The slot is taken while the table is locked, so that a job queued meanwhile sees it as free or in use.
            let (job, slot) = {
                let mut table = lock(&self.table);
                if table.is_closed || table.queue.len() == 0 {
                    return;
                }
                let Some(slot) = self.live_runs.take_slot() else { return };
                (table.queue.pop(), slot)
            };
            let Some(job) = job else { return };
            job.live.phase.send_replace(Phase::Running { seq: 0 });
            self.keep(supervisor::keep(Arc::clone(server), job, slot));
        }
    }

    /// Releases a run that has ended or could not start; `settled` says why it is not in progress.
    pub(super) fn leave(&self, live: &Live, settled: Option<Ticket>) {
        // Settled first, so that a run without a journal is known at every moment.
        if let Some(ticket) = settled {
            self.settle(ticket);
        }
        lock(&self.table).live.remove(&live.run);
        live.phase.send_replace(Phase::Over);
    }

    /// Drops the oldest ticket if there are too many.
    fn settle(&self, ticket: Ticket) {
        let dropped = {
            let mut table = lock(&self.table);
            table.settled.insert(ticket.run.clone(), ticket);
            if table.settled.len() > SETTLED_MAX { table.settled.pop_first() } else { None }
        };
        if let Some((run, _)) = dropped {
            self.tickets.remove(&run);
        }
    }

    /// Cancels a run: a queued one never starts, one in progress stops. Returns false if it is neither.
    pub(super) fn cancel(&self, run: &RunId) -> Result<bool, Failure> {
        let (job, live) = {
            let mut table = lock(&self.table);
            (table.queue.remove(|job| job.live.run == *run), table.live.get(run).cloned())
        };
        if let Some(job) = job {
            self.withdraw(job)?;
            return Ok(true);
        }
        let is_elsewhere = live.as_ref().is_none_or(|live| !live.is_here.load(Ordering::SeqCst));
        if let Some(fleet) = self.fleet.as_ref().filter(|_| is_elsewhere) {
            let is_at_work = live.is_some() || fleet.is_leased(run);
            if is_at_work {
                fleet.cancel(run)?;
            }
            return Ok(is_at_work);
        }
        // A run that is about to start checks this flag right after it has started.
        if let Some(live) = &live {
            live.is_cancelled.store(true, Ordering::SeqCst);
        }
        Ok(self.live_runs.cancel(run) || live.is_some())
    }

    /// Removes a queued run. Its request is kept, so that it can be resumed.
    fn withdraw(&self, job: Job) -> Result<(), Failure> {
        let Job { mut ticket, kind, live, .. } = job;
        ticket.progress = Progress::Withdrawn;
        // A run that was to be continued already has a journal.
        if kind == JobKind::Begin {
            let whole = self.tickets.read(&ticket.run)?;
            self.tickets.write(&Ticket { progress: Progress::Withdrawn, ..whole })?;
        } else {
            self.tickets.remove(&ticket.run);
        }
        self.leave(&live, (kind == JobKind::Begin).then_some(ticket));
        Ok(())
    }

    /// Forgets a run that never had a journal.
    pub(super) fn forget(&self, run: &RunId) {
        lock(&self.table).settled.remove(run);
        self.tickets.remove(run);
    }

    /// Restores the work that was accepted before the server stopped or crashed. Blocking.
    pub fn recover(&self, server: &Shared) -> Result<u64, Failure> {
        let Some(workspace) = server.app.existing_workspace()? else { return Ok(0) };
        if self.fleet.is_some() {
            // They are in the fleet's queue.
            return Ok(0);
        }
        let now_ms = SystemClock.now_ms();
        let with_journal: HashSet<RunId> = workspace.runs()?.into_iter().collect();
        let mut n_recovered = 0;
        let (tickets, n_foreign) = self.tickets.read_all()?;
        if n_foreign > 0 {
            let files = count(n_foreign as u64, "file");
            server.app.say(&format!(
                "warning: ignoring {files} in `server/tickets` of the workspace: this version did not write them for you"
            ));
        }
        for mut ticket in tickets {
            match left(&workspace, &ticket, with_journal.contains(&ticket.run)) {
                Remaining::Job(kind) => {
                    self.requeue(&ticket, kind);
                    n_recovered += 1;
                    continue;
                }
                Remaining::Gone => {
                    self.tickets.remove(&ticket.run);
                    continue;
                }
                Remaining::Ended => ticket.progress = Progress::Ended,
                Remaining::Settled => {}
            }
            self.remember(&ticket, now_ms)?;
        }
        self.pump(server);
        Ok(n_recovered)
    }

    fn requeue(&self, ticket: &Ticket, kind: JobKind) {
        let lean = ticket.lean();
        let live = Live::new(&lean);
        let mut table = lock(&self.table);
        note_key(&mut table.keys, ticket);
        table.live.insert(ticket.run.clone(), Arc::clone(&live));
        // Accepted work is always kept, however much it is.
        table.queue.push(&ticket.client, Job { ticket: lean, kind, live, bytes: 0 });
    }

    /// Keeps what is still needed from the ticket of an ended run.
    fn remember(&self, ticket: &Ticket, now_ms: u64) -> Result<(), Failure> {
        let is_old = now_ms.saturating_sub(ticket.at_ms) > KEY_MS_MAX;
        match &ticket.progress {
            Progress::Ended if ticket.key.is_none() || is_old => self.tickets.remove(&ticket.run),
            Progress::Ended => {
                self.tickets.write(ticket)?;
                note_key(&mut lock(&self.table).keys, ticket);
            }
            Progress::Refused { .. } | Progress::Withdrawn => {
                note_key(&mut lock(&self.table).keys, ticket);
                self.settle(ticket.lean());
            }
            Progress::Waiting | Progress::Begun | Progress::More { .. } | Progress::Again { .. } => {}
        }
        Ok(())
    }

    /// Stops every run. When this returns, the journals are complete and the tickets record the
    /// remaining work.
    pub async fn stop(&self) {
        lock(&self.table).is_closed = true;
        self.stop.send_replace(true);
        let mut keepers = std::mem::take(&mut *lock(&self.keepers));
        while keepers.join_next().await.is_some() {}
    }
}

pub(super) enum Remaining {
    Job(JobKind),
    /// The run was to continue but was deleted meanwhile.
    Gone,
    Ended,
    Settled,
}

pub(super) fn left(workspace: &Workspace, ticket: &Ticket, has_journal: bool) -> Remaining {
    match &ticket.progress {
        Progress::Ended | Progress::Refused { .. } | Progress::Withdrawn => Remaining::Settled,
        Progress::Waiting if !has_journal => Remaining::Job(JobKind::Begin),
        Progress::Begun | Progress::More { .. } | Progress::Again { .. } if !has_journal => Remaining::Gone,
        Progress::More { after_seq } if !was_asked(workspace, ticket, *after_seq) => {
            Remaining::Job(JobKind::More)
        }
        Progress::Waiting | Progress::Begun | Progress::More { .. } | Progress::Again { .. } => {
            // A person has to look at an unreadable journal: continuing it reports why.
            let view = read_view(workspace, &ticket.run).unwrap_or_default();
            let is_untouched =
                matches!(ticket.progress, Progress::Again { after_seq } if view.seq_last <= after_seq);
            if view.outcome.is_some() && !is_untouched {
                Remaining::Ended
            } else {
                Remaining::Job(JobKind::GoOn)
            }
        }
    }
}

/// Whether the journal already contains the ticket's question: the server may have crashed between the two writes.
fn was_asked(workspace: &Workspace, ticket: &Ticket, after_seq: u64) -> bool {
    let blobs = workspace.blobs();
    let is_it = |record: &Record| {
        let Record::Known(event) = record else { return false };
        let EventKind::QuestionAdded { question } = &event.kind else { return false };
        event.seq > after_seq && blobs.text(question).is_ok_and(|question| question == ticket.question())
    };
    workspace.read_journal(&ticket.run).is_ok_and(|records| records.iter().any(is_it))
}

fn promised(table: &Table, client: &str, key: &Key) -> Result<Option<RunId>, Problem> {
    let Some(before) = table.keys.get(&(client.to_owned(), key.key.clone())) else { return Ok(None) };
    if before.digest == key.digest {
        return Ok(Some(before.run.clone()));
    }
    Err(key_reused(&before.run))
}

fn key_reused(run: &RunId) -> Problem {
    let detail = format!("run `{}` was started with this key and a different request", run.short());
    Problem::new(StatusCode::CONFLICT, "key-reused", "The key was used for another request.", detail)
        .hint("use a new key for a new request")
}

pub(super) fn at_work(run: &RunId) -> Problem {
    let detail = format!("run `{}` is queued or in progress", run.short());
    Problem::new(StatusCode::CONFLICT, "run-at-work", "The run has not ended.", detail)
        .hint("cancel it first, or wait until it ends")
}

fn note_key(keys: &mut HashMap<(String, String), RememberedKey>, ticket: &Ticket) {
    let Some(Key { key, digest }) = ticket.key.clone() else { return };
    let remembered = RememberedKey { digest, run: ticket.run.clone(), at_ms: ticket.at_ms };
    keys.insert((ticket.client.clone(), key), remembered);
}

/// Returns the runs whose keys were dropped.
fn forget_old(keys: &mut HashMap<(String, String), RememberedKey>, now_ms: u64) -> Vec<RunId> {
    let mut forgotten = Vec::new();
    if keys.len() < KEYS_MAX {
        return forgotten;
    }
    keys.retain(|_, remembered| {
        let is_old = now_ms.saturating_sub(remembered.at_ms) > KEY_MS_MAX;
        forgotten.extend(is_old.then(|| remembered.run.clone()));
        !is_old
    });
    while keys.len() >= KEYS_MAX {
        let oldest = keys.iter().min_by_key(|(_, remembered)| remembered.at_ms).map(|(key, _)| key.clone());
        forgotten.extend(oldest.and_then(|oldest| keys.remove(&oldest)).map(|remembered| remembered.run));
    }
    forgotten
}
