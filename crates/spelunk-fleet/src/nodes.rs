//! The nodes of a fleet and its state.

use std::collections::BTreeMap;

use async_nats::jetstream::stream::Stream;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};

use crate::{Fleet, Result, refused};

/// A node's report about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// `serve` or `worker`.
    pub role: &'static str,
    /// Its version.
    pub version: &'static str,
    /// How many runs it may work on.
    pub slots: u64,
    /// How many it is working on.
    pub running: u64,
    /// How many model calls it may make at once.
    pub calls_max: u64,
    /// How many it is making, for its own runs and for those of others.
    pub calls: u64,
}

/// The state of a fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetStatus {
    /// The last report of each node.
    pub nodes: BTreeMap<String, Value>,
    /// Runs that no node has taken yet.
    pub queued: u64,
    /// Runs that some node has taken from the queue.
    pub taken: u64,
    /// The node that works on each run.
    pub leases: BTreeMap<String, String>,
    /// Runs with a journal.
    pub runs: u64,
    /// The size of all journals.
    pub journal_bytes: u64,
    /// How many replicas the servers keep.
    pub replicas: u64,
}

impl FleetStatus {
    /// As JSON.
    pub fn json(&self) -> Value {
        let Self { nodes, queued, taken, leases, runs, journal_bytes, replicas } = self;
        json!({
            "nodes": nodes, "queued": queued, "in_progress": taken, "leases": leases, "runs": runs,
            "journal_bytes": journal_bytes, "replicas": replicas,
        })
    }
}

impl Fleet {
    /// Publishes a report of this node, which expires after 30 seconds.
    pub async fn report(&self, report: &NodeReport) -> Result<()> {
        let NodeReport { role, version, slots, running, calls_max, calls } = report;
        let said = json!({
            "role": role, "version": version, "slots": slots, "running": running, "calls_max": calls_max,
            "calls": calls,
        });
        let done = self.connected().nodes.put(key_of(self.node()), Bytes::from(said.to_string())).await;
        done.map(drop).map_err(refused("register this node"))
    }

    /// Removes this node from the fleet.
    pub async fn leave(&self) {
        self.give_back_shares().await;
        // If this fails, the report expires.
        drop(self.connected().nodes.purge(key_of(self.node())).await);
    }

    /// The state of the fleet. Blocking.
    pub fn status(&self) -> Result<FleetStatus> {
        self.wait(|fleet| async move { fleet.read_status().await })
    }

    async fn read_status(&self) -> Result<FleetStatus> {
        let connected = self.connected();
        let mut nodes = BTreeMap::new();
        for (name, said) in entries(&connected.nodes).await? {
            nodes.insert(name, serde_json::from_slice(&said).unwrap_or_default());
        }
        let mut leases = BTreeMap::new();
        for (run, node) in entries(&connected.leases).await? {
            leases.insert(run, String::from_utf8_lossy(&node).into_owned());
        }
        let mut taken = 0;
        let mut consumers = connected.queue.consumers();
        while let Some(tenant) = consumers.try_next().await.map_err(refused("report its state"))? {
            taken += tenant.num_ack_pending as u64;
        }
        let jobs = connected.queue.get_info().await.map_err(refused("report its state"))?;
        let journal = connected.journal.get_info().await.map_err(refused("report its state"))?;
        Ok(FleetStatus {
            nodes,
            queued: jobs.state.messages.saturating_sub(taken),
            taken,
            leases,
            runs: journal.state.subjects_count,
            journal_bytes: journal.state.bytes,
            replicas: journal.config.num_replicas as u64,
        })
    }
}

/// All entries of a bucket. The client's own listing would leave a consumer on the server each time,
/// and the number of consumers is limited.
pub(crate) async fn entries(bucket: &async_nats::jetstream::kv::Store) -> Result<Vec<(String, Bytes)>> {
    entries_below(bucket, "").await
}

/// All entries whose keys begin with `key`, which is empty or ends with a dot.
pub(crate) async fn entries_below(
    bucket: &async_nats::jetstream::kv::Store,
    key: &str,
) -> Result<Vec<(String, Bytes)>> {
    let subjects = subjects(&bucket.stream, format!("{}{key}>", bucket.prefix), "list its subjects").await?;
    let mut entries = Vec::new();
    for key in subjects.iter().filter_map(|subject| subject.strip_prefix(&bucket.prefix)) {
        if let Some(value) = bucket.get(key).await.map_err(refused("report its state"))? {
            entries.push((key.to_owned(), value));
        }
    }
    Ok(entries)
}

pub(crate) async fn subjects(stream: &Stream, filter: String, what: &str) -> Result<Vec<String>> {
    let subjects = stream.info_with_subjects(filter).await.map_err(refused(what))?;
    let subjects: Vec<(String, usize)> = subjects.try_collect().await.map_err(refused(what))?;
    Ok(subjects.into_iter().map(|(subject, _)| subject).collect())
}

pub(crate) fn key_of(node: &str) -> String {
    node.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
