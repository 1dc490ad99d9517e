//! The runs that this server works on: which wait, which are under way, and who asked for them. A run is kept by a task
//! that follows it to its end, whether or not anybody watches. The truth about a run is its journal; what is to be done
//! is in the tickets; what is here can be lost at any time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use spelunk_engine::{Cancel, Clock as _, RunView, SystemClock};
use spelunk_journal::Workspace;
use spelunk_types::RunId;
use tokio::sync::{Semaphore, broadcast, watch};
use tokio::task::JoinSet;

use super::super::Shared;
use super::super::metrics::Counts;
use super::super::problem::Problem;
use super::keep;
use super::queue::FairQueue;
use super::tickets::{Key, Progress, Ticket, Tickets};
use crate::cli::{Failure, read_view};

/// Pieces of replies that a watcher may be behind; who is further behind misses them. Recorded events are never missed.
const PIECES_MAX: usize = 256;
/// Uploads that arrive at once.
const UPLOADS_MAX: usize = 4;
/// Keys that are remembered.
const KEYS_MAX: usize = 10_000;
/// How long a key is remembered.
const KEY_MS_MAX: u64 = 24 * 3_600_000;

/// All runs of this server that have not ended.
pub(crate) struct RunService {
    table: Mutex<Table>,
    keepers: Mutex<JoinSet<()>>,
    pub(super) tickets: Tickets,
    pub(super) uploads: Semaphore,
    pub(super) stop: watch::Sender<bool>,
    runs_max: usize,
    queue_max: usize,
}

#[derive(Default)]
struct Table {
    queue: FairQueue<Job>,
    /// Those that wait and those under way.
    live: HashMap<RunId, Arc<Live>>,
    n_running: usize,
    keys: HashMap<(String, String), Remembered>,
    /// Runs without a journal that will never have one, and runs that could not go on.
    settled: HashMap<RunId, Ticket>,
    is_closed: bool,
}

struct Remembered {
    digest: String,
    run: RunId,
    at_ms: u64,
}

/// A run that is to be begun or gone on with.
pub(super) struct Job {
    pub(super) ticket: Ticket,
    pub(super) kind: JobKind,
    pub(super) live: Arc<Live>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JobKind {
    /// It has no journal yet.
    Begin,
    /// It goes on under the limits it had.
    GoOn,
    /// It goes on under these.
    GoOnWithin(Box<spelunk_types::Limits>),
}

/// A run that waits or is under way.
pub(crate) struct Live {
    pub(super) run: RunId,
    pub(super) question: String,
    pub(super) phase: watch::Sender<Phase>,
    /// Events that are not recorded, as JSON.
    pub(super) pieces: broadcast::Sender<Arc<str>>,
    pub(super) wish: Mutex<Wish>,
    /// What it does, in a line.
    pub(super) status: watch::Sender<String>,
}

/// Whether a run is to be stopped, and how, once it is under way.
#[derive(Default)]
pub(super) struct Wish {
    pub(super) is_cancelled: bool,
    pub(super) cancel: Option<Cancel>,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    /// Under way, with so many events in its journal.
    Running {
        seq: u64,
    },
    /// This server has let go of it.
    Over,
}

impl Live {
    fn new(run: RunId, question: String) -> Arc<Self> {
        let (phase, pieces) = (watch::Sender::new(Phase::Waiting), broadcast::Sender::new(PIECES_MAX));
        let status = watch::Sender::new("waiting for its turn".to_owned());
        Arc::new(Self { run, question, phase, pieces, wish: Mutex::default(), status })
    }

    pub(super) fn is_waiting(&self) -> bool {
        *self.phase.borrow() == Phase::Waiting
    }
}

/// What came of an attempt to promise a run.
pub(super) enum Promised {
    New(Arc<Live>),
    /// The same request under the same key came before.
    Before(RunId),
}

impl RunService {
    pub(crate) fn new(workspace_root: std::path::PathBuf, runs_max: u64, queue_max: u64) -> Self {
        Self {
            table: Mutex::default(),
            keepers: Mutex::default(),
            tickets: Tickets::new(workspace_root),
            uploads: Semaphore::new(UPLOADS_MAX),
            stop: watch::Sender::new(false),
            runs_max: usize::try_from(runs_max).unwrap_or(usize::MAX),
            queue_max: usize::try_from(queue_max).unwrap_or(usize::MAX),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_room(&self) -> bool {
        let table = self.table();
        !table.is_closed && table.queue.len() < self.queue_max
    }

    pub(crate) fn counts(&self) -> Counts {
        let table = self.table();
        Counts { running: table.n_running as u64, queued: table.queue.len() as u64 }
    }

    pub(super) fn find(&self, run: &RunId) -> Option<Arc<Live>> {
        self.table().live.get(run).cloned()
    }

    /// Runs that wait.
    pub(super) fn waiting(&self) -> Vec<Arc<Live>> {
        self.table().live.values().filter(|live| live.is_waiting()).cloned().collect()
    }

    /// Runs that never began, or could not go on, with the reason.
    pub(super) fn settled(&self) -> Vec<Ticket> {
        self.table().settled.values().cloned().collect()
    }

    pub(super) fn settled_as(&self, run: &RunId) -> Option<Ticket> {
        self.table().settled.get(run).cloned()
    }

    /// The run that was promised under this key, if what is asked is the same.
    pub(super) fn promised(&self, client: &str, key: &Key) -> Result<Option<RunId>, Problem> {
        promised(&self.table(), client, key)
    }

    /// Promises a run: the ticket is on disk before anybody hears of it. Blocking.
    pub(super) fn promise(&self, ticket: Ticket, kind: JobKind) -> Result<Promised, Problem> {
        let live = Live::new(ticket.run.clone(), ticket.question());
        {
            let mut table = self.table();
            if let Some(key) = &ticket.key
                && let Some(run) = promised(&table, &ticket.client, key)?
            {
                return Ok(Promised::Before(run));
            }
            if table.is_closed || table.queue.len() >= self.queue_max {
                let detail =
                    if table.is_closed { "the server is stopping" } else { "too many runs wait already" };
                let title = "The server takes no run now.";
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "queue-full", title, detail)
                    .hint("try again later"));
            }
            if table.live.contains_key(&ticket.run) {
                return Err(at_work(&ticket.run));
            }
            // Taken before the disk is written, so that a second request of the same key waits for nobody.
            if let Some(Key { key, digest }) = ticket.key.clone() {
                let remembered = Remembered { digest, run: ticket.run.clone(), at_ms: ticket.at_ms };
                forget_old(&mut table.keys, ticket.at_ms);
                table.keys.insert((ticket.client.clone(), key), remembered);
            }
            table.settled.remove(&ticket.run);
            table.live.insert(ticket.run.clone(), Arc::clone(&live));
        }
        if let Err(error) = self.tickets.write(&ticket) {
            let mut table = self.table();
            table.live.remove(&ticket.run);
            table.keys.retain(|_, remembered| remembered.run != ticket.run);
            return Err(error.into());
        }
        let client = ticket.client.clone();
        self.table().queue.push(&client, Job { ticket, kind, live: Arc::clone(&live) });
        Ok(Promised::New(live))
    }

    /// Begins what may begin.
    pub(super) fn pump(&self, server: &Shared) {
        loop {
            let job = {
                let mut table = self.table();
                if table.is_closed || table.n_running >= self.runs_max {
                    return;
                }
                let Some(job) = table.queue.pop() else { return };
                table.n_running += 1;
                job
            };
            let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
            while keepers.try_join_next().is_some() {}
            keepers.spawn(keep::keep(Arc::clone(server), job));
        }
    }

    /// A run of this server has ended, or could not begin.
    pub(super) fn leave(&self, server: &Shared, live: &Live, settled: Option<Ticket>) {
        {
            let mut table = self.table();
            table.n_running = table.n_running.saturating_sub(1);
            table.live.remove(&live.run);
            if let Some(ticket) = settled {
                table.settled.insert(live.run.clone(), ticket);
            }
        }
        live.phase.send_replace(Phase::Over);
        self.pump(server);
    }

    /// Takes a run back: one that waits never begins, one under way stops. False if it is neither.
    pub(super) fn cancel(&self, run: &RunId) -> Result<bool, Failure> {
        let (job, live) = {
            let mut table = self.table();
            (table.queue.remove(|job| job.live.run == *run), table.live.get(run).cloned())
        };
        if let Some(mut job) = job {
            job.ticket.progress = Progress::Withdrawn;
            self.tickets.write(&job.ticket)?;
            self.tickets.remove_uploads(run);
            let mut table = self.table();
            table.live.remove(run);
            // A run that was to go on has its journal to speak for it.
            if job.kind == JobKind::Begin {
                table.settled.insert(run.clone(), job.ticket);
            }
            drop(table);
            job.live.phase.send_replace(Phase::Over);
            return Ok(true);
        }
        let Some(live) = live else { return Ok(false) };
        let mut wish = live.wish.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is just about to begin looks here when it has.
        wish.is_cancelled = true;
        if let Some(cancel) = &wish.cancel {
            cancel.cancel();
        }
        Ok(true)
    }

    /// Forgets a run that never had a journal. False if there is none of that name.
    pub(super) fn forget(&self, run: &RunId) -> bool {
        let was_there = self.table().settled.remove(run).is_some();
        self.tickets.remove(run);
        was_there
    }

    /// What was promised before the server stopped, in whatever way it stopped. Blocking.
    pub(crate) fn recover(&self, server: &Shared) -> Result<u64, Failure> {
        let Some(workspace) = server.app.existing_workspace()? else { return Ok(0) };
        let now_ms = SystemClock.now_ms();
        let mut n_recovered = 0;
        for mut ticket in self.tickets.read_all()? {
            let is_promise = matches!(ticket.progress, Progress::Waiting | Progress::Begun);
            let view = if is_promise { begun(&workspace, &ticket.run) } else { None };
            let has_ended = view.as_ref().is_some_and(|view| view.outcome.is_some());
            if is_promise && !has_ended {
                let kind = if view.is_some() { JobKind::GoOn } else { JobKind::Begin };
                if kind == JobKind::Begin && ticket.progress == Progress::Begun {
                    // It was resumed, and somebody removed it meanwhile.
                    self.tickets.remove(&ticket.run);
                    continue;
                }
                self.requeue(ticket, kind);
                n_recovered += 1;
                continue;
            }
            if has_ended {
                ticket.progress = Progress::Ended;
            }
            self.remember(ticket, now_ms)?;
        }
        self.pump(server);
        Ok(n_recovered)
    }

    fn requeue(&self, ticket: Ticket, kind: JobKind) {
        let live = Live::new(ticket.run.clone(), ticket.question());
        let mut table = self.table();
        note_key(&mut table.keys, &ticket);
        table.live.insert(ticket.run.clone(), Arc::clone(&live));
        let client = ticket.client.clone();
        table.queue.push(&client, Job { ticket, kind, live });
    }

    /// Keeps what a ticket of a run that ended is still good for.
    fn remember(&self, ticket: Ticket, now_ms: u64) -> Result<(), Failure> {
        let is_old = now_ms.saturating_sub(ticket.at_ms) > KEY_MS_MAX;
        match ticket.progress {
            Progress::Ended if ticket.key.is_none() || is_old => self.tickets.remove(&ticket.run),
            Progress::Ended => {
                self.tickets.write(&ticket)?;
                note_key(&mut self.table().keys, &ticket);
            }
            Progress::Refused(_) | Progress::Withdrawn => {
                let mut table = self.table();
                note_key(&mut table.keys, &ticket);
                table.settled.insert(ticket.run.clone(), ticket);
            }
            Progress::Waiting | Progress::Begun => {}
        }
        Ok(())
    }

    /// Stops every run where it is. Their journals are complete when this returns, and their tickets say what is left.
    pub(crate) async fn stop(&self) {
        self.table().is_closed = true;
        self.stop.send_replace(true);
        let mut keepers = std::mem::take(&mut *self.keepers.lock().unwrap_or_else(PoisonError::into_inner));
        while keepers.join_next().await.is_some() {}
    }
}

/// The state of a run that has a journal with something in it.
fn begun(workspace: &Workspace, run: &RunId) -> Option<RunView> {
    // A journal that cannot be read is for a person to look at: going on with it will say why.
    let is_there = workspace.runs().ok()?.contains(run);
    is_there.then(|| read_view(workspace, run).unwrap_or_default())
}

fn promised(table: &Table, client: &str, key: &Key) -> Result<Option<RunId>, Problem> {
    let Some(before) = table.keys.get(&(client.to_owned(), key.key.clone())) else { return Ok(None) };
    if before.digest == key.digest {
        return Ok(Some(before.run.clone()));
    }
    let detail = format!("run `{}` was asked for under this key, with another request", before.run.short());
    Err(Problem::new(StatusCode::CONFLICT, "key-reused", "The key stands for another request.", detail)
        .hint("use a new key for a new request"))
}

pub(super) fn at_work(run: &RunId) -> Problem {
    let detail = format!("run `{}` waits or is under way", run.short());
    Problem::new(StatusCode::CONFLICT, "run-at-work", "The run has not ended.", detail)
        .hint("cancel it first, or wait for its end")
}

fn note_key(keys: &mut HashMap<(String, String), Remembered>, ticket: &Ticket) {
    let Some(Key { key, digest }) = ticket.key.clone() else { return };
    let remembered = Remembered { digest, run: ticket.run.clone(), at_ms: ticket.at_ms };
    keys.insert((ticket.client.clone(), key), remembered);
}

fn forget_old(keys: &mut HashMap<(String, String), Remembered>, now_ms: u64) {
    if keys.len() < KEYS_MAX {
        return;
    }
    keys.retain(|_, remembered| now_ms.saturating_sub(remembered.at_ms) <= KEY_MS_MAX);
    while keys.len() >= KEYS_MAX {
        let oldest = keys.iter().min_by_key(|(_, remembered)| remembered.at_ms).map(|(key, _)| key.clone());
        let Some(oldest) = oldest else { return };
        keys.remove(&oldest);
    }
}
