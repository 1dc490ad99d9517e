//! Runs on more than one machine. NATS JetStream provides the log, the queue, leases and blobs. The
//! workspace directory of a node is a copy: journals and blobs are written to the fleet first. Each
//! journal message names its predecessor, so that only one of two concurrent writers succeeds.

mod calls;
mod connect;
mod error;
mod garbage;
mod lease;
mod line;
mod nodes;
mod publish;
mod queue;
mod rates;
mod registry;
mod snapshot;
mod workspace;

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use spelunk_types::RunId;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use connect::Connected;
pub use connect::FleetOptions;
pub use error::FleetError;
use error::{Result, refused};
pub use nodes::{FleetStatus, NodeReport};
pub use queue::QueuedJob;
pub use snapshot::{SnapshotFile, SnapshotReport};
pub use workspace::FleetWorkspace;

/// How long a run waits for servers that do not answer.
pub const OUTAGE_MAX: Duration = Duration::from_mins(10);
/// How long other operations keep retrying.
const PATIENCE: Duration = Duration::from_secs(20);
const AGAIN: Duration = Duration::from_millis(250);

/// A connection to a fleet.
#[derive(Clone)]
pub struct Fleet {
    inner: Arc<Inner>,
}

struct Inner {
    options: FleetOptions,
    connected: Connected,
    /// Unique to this process.
    writer: String,
    /// The largest message that the servers accept, including headers.
    payload_max: usize,
    /// Limits the concurrent calls of this node.
    slots: Arc<Semaphore>,
    /// Per model subject: held by the one call that is asking other nodes for a slot.
    asking: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Which tenant is next.
    turns: tokio::sync::Mutex<queue::Turns>,
    /// This node's shares of the rate limits of models.
    rates: Mutex<HashMap<String, Arc<rates::Shares>>>,
    /// Set at shutdown: operations stop waiting for the fleet.
    is_closing: AtomicBool,
    /// Drives the connection, so that synchronous code can use it from any thread.
    runtime: OwnRuntime,
}

/// A runtime that can be dropped in asynchronous code, where a blocking shutdown would panic.
struct OwnRuntime(Option<Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Fleet {
    /// Connects and creates what is missing. Retries for `patience` if no server answers. Blocking.
    pub fn connect(options: FleetOptions, patience: Duration) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("spelunk-fleet")
            .enable_all()
            .build()?;
        let runtime = OwnRuntime(Some(runtime));
        let connecting = options.clone();
        let connected =
            runtime.wait(async move { Box::pin(connect::connect(&connecting, patience)).await })??;
        let payload_max = connected.client.server_info().max_payload;
        let writer = connected.client.new_inbox().rsplit('.').next().unwrap_or_default().to_owned();
        let n_slots = usize::try_from(options.calls_max).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let inner = Inner {
            options,
            connected,
            writer,
            payload_max,
            slots: Arc::new(Semaphore::new(n_slots)),
            asking: Mutex::default(),
            turns: tokio::sync::Mutex::default(),
            rates: Mutex::default(),
            is_closing: AtomicBool::new(false),
            runtime,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The name of this node.
    pub fn node(&self) -> &str {
        &self.inner.options.node
    }

    /// The server addresses, without credentials.
    pub fn address(&self) -> String {
        connect::shown(&self.inner.options.url)
    }

    /// After this, operations that the fleet does not answer fail at once.
    pub fn close(&self) {
        self.inner.is_closing.store(true, Ordering::SeqCst);
    }

    fn is_closing(&self) -> bool {
        self.inner.is_closing.load(Ordering::SeqCst)
    }

    fn connected(&self) -> &Connected {
        &self.inner.connected
    }

    fn subject(&self, rest: &str) -> String {
        format!("{}.{rest}", self.inner.options.prefix)
    }

    fn subject_of(&self, run: &RunId) -> String {
        self.subject(&format!("journal.{run}"))
    }

    /// Runs `work` to completion from synchronous code.
    fn wait<T: Send + 'static, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let began = Instant::now();
        self.inner.runtime.wait(work(self.clone()))?.map_err(|error| self.explained(error, began))
    }

    /// Retries an idempotent operation until the fleet answers: electing a leader takes a while.
    async fn persistently<T, F: Future<Output = Result<T>>>(
        &self,
        patience: Duration,
        attempt: impl Fn() -> F,
    ) -> Result<T> {
        let began = Instant::now();
        loop {
            let error = match attempt().await {
                Err(error) => self.explained(error, began),
                done => return done,
            };
            let may_wait = began.elapsed() < patience && !self.is_closing();
            if !(may_wait && matches!(error, FleetError::Refused { .. })) {
                return Err(error);
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Turns a missing answer into `Denied` if the server has denied something since `began`.
    fn explained(&self, error: FleetError, began: Instant) -> FleetError {
        if !matches!(error, FleetError::Refused { .. } | FleetError::Silent { .. }) {
            return error;
        }
        let denied = self.connected().denials.borrow();
        match denied.as_ref().filter(|(at, _)| *at >= began) {
            Some((_, why)) => FleetError::Denied { why: why.clone() },
            None => error,
        }
    }

    /// Runs work that blocks on the fleet, off the threads that would be blocked.
    fn apart(&self, work: impl FnOnce() + Send + 'static) {
        if let Some(runtime) = &self.inner.runtime.0 {
            runtime.spawn_blocking(work);
        }
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.inner.runtime.0 {
            runtime.spawn(work);
        }
    }
}

impl OwnRuntime {
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
        let (tell, told) = mpsc::sync_channel(1);
        self.0.as_ref().ok_or_else(stopped)?.spawn(async move {
            // Fails only if the caller is gone.
            drop(tell.send(work.await));
        });
        told.recv().map_err(|_| stopped())
    }
}

fn stopped() -> FleetError {
    FleetError::Local { source: io::Error::other("the connection to the fleet was closed") }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
