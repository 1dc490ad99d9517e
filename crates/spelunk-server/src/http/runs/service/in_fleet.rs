//! The runs of a fleet: puts accepted runs into the queue, and adopts runs that other nodes accepted.

use std::sync::Arc;
use std::sync::PoisonError;

use spelunk_types::RunId;

use super::super::super::problem::Problem;
use super::super::fleet::FleetRuns;
use super::super::tickets::{Key, Progress, Ticket};
use super::{Live, RunService, key_reused};

impl RunService {
    /// Puts a run into the fleet's queue, with its uploaded files. Blocking.
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
        self.table().live.insert(run.clone(), Arc::clone(&live));
        fleet.follow(&live, &ticket);
    }

    /// Spawns a task that may run until the server has stopped.
    pub(in super::super) fn keep(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        while keepers.try_join_next().is_some() {}
        keepers.spawn(task);
    }
}
