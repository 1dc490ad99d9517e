//! The queue of runs to start or continue. A job stays in it until its run has ended: if a node dies, the job is
//! delivered to another one.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::connect::REQUEST;
use crate::{Fleet, FleetError, PATIENCE};

/// The name of the consumer that all nodes share.
const CONSUMER: &str = "nodes";
/// Jobs in progress in the whole fleet.
const WORKING_MAX: i64 = 100_000;

/// A job that this node has taken.
pub struct QueuedJob {
    message: Message,
}

impl Fleet {
    /// Puts a job into the queue; durable when this returns. `id` distinguishes it from others: a job that is sent
    /// twice is queued once. Blocking.
    pub fn enqueue(&self, id: &str, job: Vec<u8>) -> Result<(), FleetError> {
        use async_nats::jetstream::message::PublishMessage;
        let (fleet, id) = (self.clone(), id.to_owned());
        self.wait(async move {
            let refused = |error: &dyn std::fmt::Display| FleetError::refused("queue a run", error);
            let subject = format!("{}.queue", fleet.inner.options.prefix);
            let job = Bytes::from(job);
            let send = || async {
                let message = PublishMessage::build().payload(job.clone()).message_id(&id);
                let sent = fleet.connected().context.send_publish(subject.clone(), message).await;
                let acknowledged = sent.map_err(|error| refused(&error))?;
                acknowledged.await.map(drop).map_err(|error| refused(&error))
            };
            fleet.persistently(PATIENCE, send).await
        })
    }

    /// How often a node has to say that it is still working on a job.
    pub fn beat(&self) -> Duration {
        self.inner.options.lease / 2
    }

    /// The next job, waiting for at most so long.
    pub async fn next_job(&self, patience: Duration) -> Result<Option<QueuedJob>, FleetError> {
        let refused = |error: &dyn std::fmt::Display| FleetError::refused("give a job", error);
        let consumer = self.consumer().await?;
        let mut jobs = consumer
            .fetch()
            .max_messages(1)
            .expires(patience)
            .messages()
            .await
            .map_err(|error| refused(&error))?;
        let waiting = tokio::time::timeout(patience + REQUEST, jobs.next()).await;
        match waiting {
            Ok(Some(Ok(message))) => Ok(Some(QueuedJob { message })),
            Ok(Some(Err(error))) => Err(refused(&error)),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    pub(crate) async fn consumer(&self) -> Result<PullConsumer, FleetError> {
        let config = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            // A little longer than the lease, which another node needs.
            ack_wait: self.inner.options.lease * 3 / 2,
            max_ack_pending: WORKING_MAX,
            max_deliver: -1,
            ..pull::Config::default()
        };
        let consumer = self.connected().queue.get_or_create_consumer(CONSUMER, config).await;
        consumer.map_err(|error| FleetError::refused("open the queue", &error))
    }
}

impl QueuedJob {
    /// What was put into the queue.
    pub fn body(&self) -> &[u8] {
        &self.message.payload
    }

    /// Says that this node is still working on it.
    pub async fn is_in_progress(&self) {
        // If nobody hears it, the job is delivered again, and the lease of the run keeps others from starting it.
        drop(self.message.ack_with(AckKind::Progress).await);
    }

    /// Removes it from the queue.
    pub async fn done(&self) {
        // If nobody hears it, it is delivered again and found to be done.
        drop(tokio::time::timeout(REQUEST, self.message.double_ack()).await);
    }

    /// Returns it to the queue, to be delivered again after a while.
    pub async fn give_back(&self, after: Duration) {
        drop(self.message.ack_with(AckKind::Nak(Some(after))).await);
    }
}
