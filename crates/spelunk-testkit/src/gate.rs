//! A gate holds replies after their first piece until the test opens it, and reports how many are held.

use tokio::sync::watch;

/// Holds replies; clones share the same gate. It works across threads and runtimes.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    n_reached: watch::Sender<u64>,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets every held and every later reply through.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// Waits until this many replies have reached the gate, including those already let through.
    pub async fn reached(&self, n_replies: u64) {
        let mut receiver = self.n_reached.subscribe();
        receiver.wait_for(|n_reached| *n_reached >= n_replies).await.expect("the gate holds its own sender");
    }

    /// The same for tests without a runtime.
    pub fn reached_blocking(&self, n_replies: u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be built");
        runtime.block_on(self.reached(n_replies));
    }

    /// Reports a reply at the gate and waits until it is open.
    pub(crate) async fn pass(&self) {
        self.n_reached.send_modify(|n_reached| *n_reached += 1);
        let mut receiver = self.is_open.subscribe();
        receiver.wait_for(|is_open| *is_open).await.expect("the gate holds its own sender");
    }
}
