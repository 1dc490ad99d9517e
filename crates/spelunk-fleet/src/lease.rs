//! Leases: each run has one writer in the whole fleet. A lease expires unless its holder renews it. It
//! is not a fence: a paused holder may not know that it has expired. The fence is the journal, whose
//! messages name their predecessors; a lease only keeps two nodes from working on one run for long.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use async_nats::jetstream::kv::{CreateErrorKind, UpdateErrorKind};
use bytes::Bytes;
use spelunk_journal::JournalError;
use spelunk_types::RunId;

use crate::{Fleet, Result, lock, refused};

/// A lease is renewed this many times before it would expire.
const RENEWALS: u32 = 4;

pub(crate) struct Leases {
    fleet: Fleet,
    held: Mutex<HashMap<RunId, Weak<Held>>>,
}

/// A lease that this process holds, shared by any number of `RunLease`s.
struct Held {
    leases: Arc<Leases>,
    run: RunId,
    revision: AtomicU64,
    is_lost: AtomicBool,
}

/// One holder of a lease.
pub(crate) struct RunLease {
    _held: Arc<Held>,
    released: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl RunLease {
    /// Calls `released` when the lease is dropped.
    pub(crate) fn then(mut self, released: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.released = Some(Box::new(released));
        self
    }
}

impl Drop for RunLease {
    fn drop(&mut self) {
        if let Some(released) = self.released.take() {
            released();
        }
    }
}

impl Leases {
    pub(crate) fn new(fleet: Fleet) -> Arc<Self> {
        Arc::new(Self { fleet, held: Mutex::default() })
    }

    /// Takes the lease, unless another process has it. Blocking.
    pub(crate) fn take(self: &Arc<Self>, run: &RunId) -> Result<RunLease, JournalError> {
        let mut all = lock(&self.held);
        if let Some(held) = all.get(run).and_then(Weak::upgrade) {
            return Ok(RunLease { _held: held, released: None });
        }
        let name = run.clone();
        let taken = self.fleet.wait(|fleet| async move { fleet.create_lease(&name).await });
        let revision = match taken {
            Ok(Some(revision)) => revision,
            Ok(None) => {
                let node = self.holder(run).ok().flatten().unwrap_or_else(|| "unknown".to_owned());
                return Err(JournalError::Leased { run: run.clone(), node });
            }
            Err(error) => {
                return Err(JournalError::Write {
                    name: format!("the lease of run {run}"),
                    source: error.into(),
                });
            }
        };
        let held = Arc::new(Held {
            leases: Arc::clone(self),
            run: run.clone(),
            revision: AtomicU64::new(revision),
            is_lost: AtomicBool::new(false),
        });
        all.insert(run.clone(), Arc::downgrade(&held));
        all.retain(|_, held| held.strong_count() > 0);
        self.fleet.spawn(renew(self.fleet.clone(), Arc::downgrade(&held), run.clone()));
        Ok(RunLease { _held: held, released: None })
    }

    /// The node that holds the lease. Blocking.
    pub(crate) fn holder(&self, run: &RunId) -> io::Result<Option<String>> {
        let key = run.to_string();
        Ok(self.fleet.wait(|fleet| async move {
            let value = fleet.connected().leases.get(key).await.map_err(refused("read a lease"))?;
            Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
        })?)
    }

    /// Whether this process holds the lease, as far as it knows.
    pub(crate) fn holds(&self, run: &RunId) -> bool {
        lock(&self.held).get(run).is_some_and(|held| held.strong_count() > 0)
    }

    /// Marks a lease as lost because the journal has messages of another node.
    pub(crate) fn lose(&self, run: &RunId) {
        if let Some(held) = lock(&self.held).get(run).and_then(Weak::upgrade) {
            held.is_lost.store(true, Ordering::SeqCst);
        }
    }

    /// Whether another node has taken a lease from this process.
    pub(crate) fn is_lost(&self, run: &RunId) -> bool {
        let held = lock(&self.held).get(run).and_then(Weak::upgrade);
        held.is_some_and(|held| held.is_lost.load(Ordering::SeqCst))
    }
}

impl Fleet {
    fn lease_value(&self) -> Bytes {
        Bytes::from(self.node().to_owned())
    }

    /// The revision of a new lease; `None` if somebody has it.
    async fn create_lease(&self, run: &RunId) -> Result<Option<u64>> {
        match self.connected().leases.create(run.as_str(), self.lease_value()).await {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if matches!(error.kind(), CreateErrorKind::AlreadyExists) => Ok(None),
            Err(error) => Err(refused("grant a lease")(error)),
        }
    }
}

/// Renews a lease until it is released or lost.
async fn renew(fleet: Fleet, held: Weak<Held>, run: RunId) {
    loop {
        tokio::time::sleep(fleet.inner.options.lease / RENEWALS).await;
        let Some(held) = held.upgrade() else { return };
        renew_once(&fleet, &held, &run).await;
        let is_lost = held.is_lost.load(Ordering::SeqCst);
        // Dropping the last reference releases the lease and waits for this runtime.
        fleet.apart(move || drop(held));
        if is_lost {
            return;
        }
    }
}

async fn renew_once(fleet: &Fleet, held: &Held, run: &RunId) {
    let revision = held.revision.load(Ordering::SeqCst);
    let renewed = fleet.connected().leases.update(run.as_str(), fleet.lease_value(), revision).await;
    let renewed = match renewed {
        Err(error) if matches!(error.kind(), UpdateErrorKind::WrongLastRevision) => {
            // It has expired. Take it again if it is free; the journal shows if another node wrote.
            fleet.create_lease(run).await
        }
        // No answer: try again, it may not have expired yet.
        Err(_) => return,
        Ok(revision) => Ok(Some(revision)),
    };
    match renewed {
        Ok(Some(revision)) => held.revision.store(revision, Ordering::SeqCst),
        Ok(None) => held.is_lost.store(true, Ordering::SeqCst),
        Err(_) => {}
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = lock(&self.leases.held);
        // Another thread may have taken it again meanwhile.
        if all.get(&self.run).is_some_and(|held| held.strong_count() == 0) {
            all.remove(&self.run);
        }
        drop(all);
        if self.is_lost.load(Ordering::SeqCst) {
            return;
        }
        let run = self.run.clone();
        let revision = self.revision.load(Ordering::SeqCst);
        // Waits, so that a process that exits now has released it. If this fails, the lease expires.
        drop(self.leases.fleet.wait(|fleet| async move {
            let done = fleet.connected().leases.delete_expect_revision(run.as_str(), Some(revision)).await;
            done.map_err(refused("release a lease"))
        }));
    }
}
