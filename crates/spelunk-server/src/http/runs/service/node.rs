//! What a node of a fleet does with the runs that it takes from the queue.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use spelunk_app::live_runs::Slot;
use spelunk_types::RunId;

use super::super::tickets::Ticket;
use super::{Job, JobKind, Live, Phase, RunService};

impl Job {
    /// A job from the queue of a fleet.
    pub(in super::super) fn new(ticket: &Ticket, kind: JobKind, live: Arc<Live>) -> Self {
        Self { ticket: ticket.lean(), kind, bytes: 0, live }
    }
}

impl RunService {
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
