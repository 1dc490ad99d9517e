//! The runs of a fleet: puts accepted runs into the queue, and adopts runs that other nodes accepted.

use std::sync::Arc;
#[cfg(feature = "fleet")]
use std::sync::atomic::Ordering;

#[cfg(feature = "fleet")]
use spelunk_app::live_runs::Slot;
use spelunk_types::RunId;

use super::super::super::{Problem, lock};
use super::super::{FleetRuns, Key, Progress, Ticket};
#[cfg(feature = "fleet")]
use super::{Job, JobKind, Phase};
use super::{Live, RunService, key_reused};

impl RunService {
    /// Blocking.
    pub(in super::super) fn promise_to_fleet(
        &self,
        fleet: &FleetRuns,
        ticket: &Ticket,
    ) -> Result<(), Problem> {
        let uploads = (0..ticket.uploads.len()).map(|idx| self.tickets.upload(&ticket.run, idx));
        let uploads = uploads.collect::<Result<Vec<_>, _>>()?;
        fleet.submit(ticket, &uploads)?;
        self.tickets.remove_uploads(&ticket.run);
        Ok(())
    }

    /// The run that any node accepted under this key; if there is none, the key now belongs to this run.
    pub(in super::super) fn promised_in_fleet(
        &self,
        client: &str,
        Key { key, digest }: &Key,
        run: &RunId,
    ) -> Result<Option<RunId>, Problem> {
        let Some(fleet) = &self.fleet else { return Ok(None) };
        let value = format!("{run} {digest}").into_bytes();
        let before = fleet.remember_key(&format!("{client}\n{key}"), value)?;
        let before = before.and_then(|before| String::from_utf8(before).ok());
        let Some((run, digest_before)) = before.as_deref().and_then(|before| before.split_once(' ')) else {
            return Ok(None);
        };
        let Ok(run) = run.parse::<RunId>() else { return Ok(None) };
        if digest_before == digest { Ok(Some(run)) } else { Err(key_reused(&run)) }
    }

    /// Finds a run without a journal that another node accepted. Needs a runtime; blocking.
    pub(in super::super) fn adopt(&self, run: &RunId) {
        let Some(fleet) = &self.fleet else { return };
        if self.find(run).is_some() {
            return;
        }
        let Some(ticket) = fleet.noted(run) else { return };
        if matches!(ticket.progress, Progress::Refused { .. } | Progress::Withdrawn) {
            self.settle(ticket);
            return;
        }
        let live = Live::new(&ticket);
        lock(&self.table).live.insert(run.clone(), Arc::clone(&live));
        fleet.follow(&live, &ticket);
    }

    /// Spawns a task that may run until the server has stopped.
    pub(in super::super) fn keep(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut keepers = lock(&self.keepers);
        while keepers.try_join_next().is_some() {}
        keepers.spawn(task);
    }
}

#[cfg(feature = "fleet")]
impl Job {
    pub(in super::super) fn new(ticket: &Ticket, kind: JobKind, live: Arc<Live>) -> Self {
        Self { ticket: ticket.lean(), kind, bytes: 0, live }
    }
}

/// What a node does with the runs that it takes from the queue.
#[cfg(feature = "fleet")]
impl RunService {
    /// Registers a run of the fleet as one that this node works on.
    pub(in super::super) fn take_in(&self, ticket: &Ticket) -> Arc<Live> {
        let mut table = lock(&self.table);
        table.settled.remove(&ticket.run);
        let live = table.live.entry(ticket.run.clone()).or_insert_with(|| Live::new(&ticket.lean()));
        live.is_here.store(true, Ordering::SeqCst);
        live.phase.send_replace(Phase::Running { seq: 0 });
        Arc::clone(live)
    }

    pub(in super::super) fn take_slot(&self) -> Option<Slot> {
        self.live_runs.take_slot()
    }

    pub(in super::super) fn is_stopping(&self) -> bool {
        lock(&self.table).is_closed
    }

    pub(in super::super) fn cancel_here(&self, run: &RunId) {
        if let Some(live) = self.find(run) {
            live.is_cancelled.store(true, Ordering::SeqCst);
        }
        self.live_runs.cancel(run);
    }
}
