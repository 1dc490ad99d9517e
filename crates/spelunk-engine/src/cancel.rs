//! Cancellation: a flag to check and to wait for. A run can stop at any await, because the journal holds its state.

use std::sync::Arc;

use tokio::sync::watch;

/// Cancels one run, from anywhere.
#[derive(Debug, Clone)]
pub struct Cancel {
    requested: Arc<watch::Sender<bool>>,
}

impl Cancel {
    pub(crate) fn new() -> Self {
        Self { requested: Arc::new(watch::Sender::new(false)) }
    }

    /// Asks the run to stop. The cancellation is recorded, and the run can be resumed.
    pub fn cancel(&self) {
        self.requested.send_replace(true);
    }

    pub(crate) async fn requested(&self) {
        let mut receiver = self.requested.subscribe();
        // The sender lives as long as this value, so waiting cannot fail.
        drop(receiver.wait_for(|requested| *requested).await);
    }
}
