//! A build without the feature `fleet`: a configured fleet is an error.

use std::sync::Arc;
use std::time::Duration;

use spelunk_journal::Workspace;
use spelunk_model::CallPlaces;

use super::App;
use crate::failure::{Result, Usage};

/// There is none in this build.
pub enum FleetWorkspace {}

#[derive(Default)]
pub(super) struct FleetPlace {
    /// Always `None`.
    calls: Option<Arc<dyn CallPlaces>>,
}

impl App {
    pub fn fleet(&self, _patience: Duration) -> Result<Option<Arc<FleetWorkspace>>> {
        if self.settings.fleet.url.is_none() {
            return Ok(None);
        }
        let message = "Spelunk was built without the feature `fleet`".to_owned();
        let hint = "unset `fleet.url`, or use a release, which has the feature".to_owned();
        Err(Usage { message, hint }.into())
    }

    pub(super) fn shared(&self, workspace: Workspace) -> Result<Workspace> {
        self.fleet(Duration::ZERO)?;
        Ok(workspace)
    }

    pub(super) fn places(&self) -> Option<Arc<dyn CallPlaces>> {
        self.fleet.calls.clone()
    }
}
