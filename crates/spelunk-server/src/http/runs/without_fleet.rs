//! A build without the feature `fleet`: no server belongs to one.

use std::sync::Arc;

use serde_json::Value;
use spelunk_app::app::fleet::FleetWorkspace;
use spelunk_app::failure::Failure;
use spelunk_types::RunId;

use super::super::Shared;
use super::{Live, SnapshotSource, Ticket};

/// A source that was uploaded as a snapshot.
pub type UploadedSource = SnapshotSource;

pub(crate) enum FleetRuns {}

impl FleetRuns {
    #[expect(clippy::needless_pass_by_value, reason = "the same signatures as in a build with the feature")]
    pub(crate) fn new(shared: Arc<FleetWorkspace>) -> Self {
        match *shared {}
    }

    pub(crate) fn belong_to(&self, _server: &Shared) {
        match *self {}
    }

    pub(crate) fn status(&self) -> Result<Value, Failure> {
        match *self {}
    }

    pub(super) fn is_outage(_failure: &Failure) -> bool {
        false
    }

    pub(super) fn submit(&self, _ticket: &Ticket, _uploads: &[Vec<u8>]) -> Result<(), Failure> {
        match *self {}
    }

    pub(super) fn note_try(&self, _run: &RunId, _n_events: u64) -> Result<u64, Failure> {
        match *self {}
    }

    pub(super) fn remember_key(&self, _key: &str, _value: Vec<u8>) -> Result<Option<Vec<u8>>, Failure> {
        match *self {}
    }

    pub(super) fn is_leased(&self, _run: &RunId) -> bool {
        match *self {}
    }

    pub(super) fn cancel(&self, _run: &RunId) -> Result<(), Failure> {
        match *self {}
    }

    pub(super) fn follow(&self, _live: &Arc<Live>, _ticket: &Ticket) {
        match *self {}
    }

    pub(super) fn noted(&self, _run: &RunId) -> Option<Ticket> {
        match *self {}
    }
}
