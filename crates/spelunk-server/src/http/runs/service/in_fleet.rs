//! The runs of a fleet: puts accepted runs into the queue, adopts runs that other nodes accepted,
//! and registers those that this node works on.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use spelunk_app::failure::Failure;
use spelunk_app::live_runs::Slot;
use spelunk_types::RunId;

use super::super::super::problem::Problem;
use super::super::fleet::{self, FleetRuns};
use super::super::tickets::{Key, Progress, Ticket};
use super::{Live, Phase, RunService, key_reused};

impl RunService {
    /// Puts a run into the fleet's queue, with its uploaded files. Blocking.
    pub(in super::super) fn promise_to_fleet(
        &self,
        fleet: &FleetRuns,
        ticket: &Ticket,
    ) -> Result<(), Problem> {
        let uploads = (0..ticket.uploads.len()).map(|idx| self.tickets.upload(&ticket.run, idx));
        let uploads = uploads.collect::<Result<Vec<_>, _>>()?;
        fleet::submit(fleet.fleet(), ticket, &uploads).map_err(Failure::from)?;
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
        let before = fleet.fleet().remember_key(&format!("{client}\n{key}"), value);
        let before = before.map_err(Failure::from)?;
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
        self.table().live.insert(run.clone(), Arc::clone(&live));
        fleet.follow(&live, &ticket);
    }

    /// Registers a run of the fleet as one that this node works on.
    pub(in super::super) fn take_in(&self, ticket: &Ticket) -> Arc<Live> {
        let mut table = self.table();
        table.settled.remove(&ticket.run);
        let live = table.live.entry(ticket.run.clone()).or_insert_with(|| Live::new(&ticket.lean()));
        live.is_here.store(true, Ordering::SeqCst);
        live.phase.send_replace(Phase::Running { seq: 0 });
        Arc::clone(live)
    }

    pub(in super::super) fn take_slot(&self) -> Option<Slot> {
        self.live_runs.take_slot()
    }

    /// Spawns a task that may run until the server has stopped.
    pub(in super::super) fn keep(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        while keepers.try_join_next().is_some() {}
        keepers.spawn(task);
    }

    pub(in super::super) fn is_stopping(&self) -> bool {
        self.table().is_closed
    }

    /// Stops a run that this process works on.
    pub(in super::super) fn cancel_here(&self, run: &RunId) {
        if let Some(live) = self.find(run) {
            live.is_cancelled.store(true, Ordering::SeqCst);
        }
        self.live_runs.cancel(run);
    }
}
