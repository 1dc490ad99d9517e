//! A gate holds replies after their first piece until the test opens it, and reports how many are held.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds replies; clones share the same gate. It works across threads and runtimes.
#[derive(Debug, Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    n_reached: watch::Sender<u64>,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// A closed gate.
    #[expect(clippy::new_without_default, reason = "a gate is made on purpose")]
    pub fn new() -> Self {
        let (n_reached, _) = watch::channel(0);
        let (is_open, _) = watch::channel(false);
        Self { inner: Arc::new(Inner { n_reached, is_open }) }
    }

    /// Lets every held and every later reply through.
    pub fn open(&self) {
        self.inner.is_open.send_replace(true);
    }

    /// Waits until this many replies have reached the gate, including those already let through.
    pub async fn reached(&self, n_replies: u64) {
        let mut receiver = self.inner.n_reached.subscribe();
        receiver.wait_for(|n_reached| *n_reached >= n_replies).await.expect("the gate holds its own sender");
    }

    /// The same for tests without a runtime.
    pub fn reached_blocking(&self, n_replies: u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be built");
        runtime.block_on(self.reached(n_replies));
    }

    /// Reports a reply at the gate and waits until it is open.
    pub(crate) async fn pass(&self) {
        self.inner.n_reached.send_modify(|n_reached| *n_reached += 1);
        let mut receiver = self.inner.is_open.subscribe();
        receiver.wait_for(|is_open| *is_open).await.expect("the gate holds its own sender");
    }
}
