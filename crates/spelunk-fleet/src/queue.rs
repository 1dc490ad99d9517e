//! The queue of runs to start or continue. A job stays in it until its run has ended: if a node dies,
//! the job is delivered to another one. Each tenant has its own subject and consumer, and nodes serve
//! tenants in turn: the first job of a tenant waits for one round, however much others have queued.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::connect::REQUEST;
use crate::nodes::subjects;
use crate::{Fleet, PATIENCE, Result, refused};

/// The maximum number of jobs of one tenant in progress in the whole fleet.
const WORKING_MAX: i64 = 100_000;
/// How long an unused consumer is kept. Its unfinished jobs are delivered again; their leases hold.
const UNUSED: Duration = Duration::from_hours(1);

/// How often to poll without a wake-up.
const LOOK: Duration = Duration::from_secs(1);

/// A job that this node has taken.
pub struct QueuedJob {
    fleet: Fleet,
    message: Message,
}

/// Whose turn it is on this node.
#[derive(Default)]
pub(crate) struct Turns {
    last: String,
    consumers: HashMap<String, PullConsumer>,
}

impl Fleet {
    /// Queues a job durably. A job that is sent twice with the same `id` is queued once. Blocking.
    pub fn enqueue(&self, tenant: &str, id: &str, job: Vec<u8>) -> Result<()> {
        use async_nats::jetstream::message::PublishMessage;
        let tenant = blake3::hash(tenant.as_bytes()).to_hex();
        let (subject, id) = (self.subject(&format!("queue.{tenant}")), id.to_owned());
        self.wait(|fleet| async move {
            let job = Bytes::from(job);
            let send = || async {
                let message = PublishMessage::build().payload(job.clone()).message_id(&id);
                let sent = fleet.connected().context.send_publish(subject.clone(), message).await;
                let acknowledged = sent.map_err(refused("queue a run"))?;
                acknowledged.await.map(drop).map_err(refused("queue a run"))
            };
            fleet.persistently(PATIENCE, send).await?;
            fleet.wake().await;
            Ok(())
        })
    }

    /// How often a node must report progress on a job.
    pub fn beat(&self) -> Duration {
        self.inner.options.lease / 2
    }

    /// The next job; waits for at most `patience`.
    pub async fn next_job(&self, patience: Duration) -> Result<Option<QueuedJob>> {
        let (began, filter) = (Instant::now(), self.subject("queue.*"));
        let mut turns = self.inner.turns.lock().await;
        let woken = self.connected().client.subscribe(self.subject("wake")).await;
        let mut woken = woken.map_err(refused("deliver a job"))?;
        loop {
            // Discard earlier wake-ups: the list below includes their jobs.
            while let Some(Some(_)) = woken.next().now_or_never() {}
            let tenants = subjects(&self.connected().queue, filter.clone(), "list its subjects").await?;
            for tenant in turns.in_order(tenants) {
                if let Some(message) = self.take(&mut turns, &tenant).await? {
                    turns.last = tenant;
                    return Ok(Some(QueuedJob { fleet: self.clone(), message }));
                }
            }
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            drop(tokio::time::timeout(left.min(LOOK), woken.next()).await);
        }
    }

    /// The next job of a tenant, if there is one now.
    async fn take(&self, turns: &mut Turns, tenant: &str) -> Result<Option<Message>> {
        let consumer = match turns.consumers.remove(tenant) {
            Some(consumer) => consumer,
            None => self.consumer(tenant).await?,
        };
        let mut jobs = consumer.fetch().max_messages(1).messages().await.map_err(refused("deliver a job"))?;
        let job = tokio::time::timeout(REQUEST, jobs.next()).await.map_err(refused("deliver a job"))?;
        let job = job.transpose().map_err(refused("deliver a job"))?;
        // Reused only if it answered: otherwise it may be gone.
        turns.consumers.insert(tenant.to_owned(), consumer);
        Ok(job)
    }

    async fn consumer(&self, tenant: &str) -> Result<PullConsumer> {
        let name = tenant.rsplit('.').next().unwrap_or_default();
        let config = pull::Config {
            durable_name: Some(name.to_owned()),
            filter_subject: tenant.to_owned(),
            ack_policy: AckPolicy::Explicit,
            // Longer than the lease, which must expire before another node can work on the run.
            ack_wait: self.inner.options.lease * 3 / 2,
            max_ack_pending: WORKING_MAX,
            max_deliver: -1,
            inactive_threshold: UNUSED,
            ..pull::Config::default()
        };
        self.connected().queue.get_or_create_consumer(name, config).await.map_err(refused("open the queue"))
    }

    /// Wakes nodes that wait for jobs. A node that misses it polls.
    async fn wake(&self) {
        drop(self.connected().client.publish(self.subject("wake"), Bytes::new()).await);
    }
}

impl Turns {
    /// The tenants in the order of their turns, beginning after the one that was served last.
    fn in_order(&mut self, mut tenants: Vec<String>) -> Vec<String> {
        tenants.sort_unstable();
        self.consumers.retain(|tenant, _| tenants.binary_search(tenant).is_ok());
        let n_before = tenants.partition_point(|tenant| *tenant <= self.last);
        tenants.rotate_left(n_before);
        tenants
    }
}

impl QueuedJob {
    /// The bytes that were queued.
    pub fn body(&self) -> &[u8] {
        &self.message.payload
    }

    /// Reports that this node is still working on it.
    pub async fn is_in_progress(&self) {
        // If this is lost, the job is delivered again; the lease keeps other nodes from starting it.
        drop(self.message.ack_with(AckKind::Progress).await);
    }

    /// Removes it from the queue.
    pub async fn done(&self) {
        // If this is lost, the job is delivered again and found to be done.
        drop(tokio::time::timeout(REQUEST, self.message.double_ack()).await);
    }

    /// Returns it to the queue, to be delivered again after a while.
    pub async fn give_back(&self, after: Duration) {
        let given = self.message.double_ack_with(AckKind::Nak(Some(after)));
        drop(tokio::time::timeout(REQUEST, given).await);
        self.fleet.wake().await;
    }
}
