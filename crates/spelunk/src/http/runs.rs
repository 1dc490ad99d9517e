//! Runs over HTTP.

use super::metrics::Counts;

/// The runs of this server.
#[derive(Debug, Default)]
pub(crate) struct RunService {}

impl RunService {
    pub(crate) fn has_room(&self) -> bool {
        true
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts::default()
    }
}
