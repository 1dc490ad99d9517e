//! Small facts that every node needs: runs without a journal yet, requests to cancel, idempotency keys
//! and numbers of attempts. Also stores and reads blobs.

use std::time::Duration;

use async_nats::jetstream::kv::{CreateErrorKind, Operation};
use async_nats::jetstream::object_store::GetErrorKind;
use bytes::Bytes;
use futures_util::StreamExt as _;
use spelunk_types::{BlobId, RunId};
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use crate::publish::says_full;
use crate::{Fleet, FleetError, PATIENCE, Result, refused};

impl Fleet {
    /// Records what is known about a run that has no journal. Blocking.
    pub fn note_run(&self, run: &RunId, fact: Vec<u8>) -> Result<()> {
        let key = format!("ticket.{run}");
        let fact = Bytes::from(fact);
        self.wait(|fleet| async move {
            let put = || async {
                let done = fleet.connected().runs.put(&key, fact.clone()).await;
                done.map(drop).map_err(refused("record a run"))
            };
            fleet.persistently(PATIENCE, put).await
        })
    }

    /// What `note_run` recorded. Blocking.
    pub fn noted_run(&self, run: &RunId) -> Result<Option<Vec<u8>>> {
        let key = format!("ticket.{run}");
        self.wait(|fleet| async move {
            let get = || async {
                let got = fleet.connected().runs.get(&key).await.map_err(refused("read a run"))?;
                Ok(got.map(|bytes| bytes.to_vec()))
            };
            fleet.persistently(PATIENCE, get).await
        })
    }

    /// Forgets the record, the cancellation and the attempts of a run. Blocking.
    pub fn forget_run(&self, run: &RunId) -> Result<()> {
        let run = run.clone();
        self.wait(|fleet| async move {
            for kind in ["ticket", "cancel", "tries"] {
                let done = fleet.connected().runs.purge(format!("{kind}.{run}")).await;
                done.map_err(refused("remove the record of a run"))?;
            }
            Ok(())
        })
    }

    /// Asks whichever node works on the run to stop it. Blocking.
    pub fn cancel(&self, run: &RunId) -> Result<()> {
        let key = format!("cancel.{run}");
        self.wait(|fleet| async move {
            let done = fleet.connected().runs.put(key, Bytes::from_static(b"1")).await;
            done.map(drop).map_err(refused("cancel a run"))
        })
    }

    /// Whether somebody asked to cancel a run. Blocking.
    pub fn is_cancelled(&self, run: &RunId) -> Result<bool> {
        let key = format!("cancel.{run}");
        self.wait(|fleet| async move {
            let got = fleet.connected().runs.get(key).await;
            Ok(got.map_err(refused("read a run"))?.is_some())
        })
    }

    /// The runs to cancel, as the requests arrive, until the receiver is dropped.
    pub fn cancellations(&self) -> mpsc::Receiver<RunId> {
        let (tell, told) = mpsc::channel(64);
        let fleet = self.clone();
        self.spawn(async move {
            while !tell.is_closed() && !fleet.is_closing() {
                let Ok(mut changes) = fleet.connected().runs.watch("cancel.*").await else {
                    tokio::time::sleep(crate::connect::REQUEST).await;
                    continue;
                };
                while let Some(Ok(change)) = changes.next().await {
                    let run = change.key.strip_prefix("cancel.").and_then(|run| run.parse().ok());
                    let Some(run) = run.filter(|_| change.operation == Operation::Put) else { continue };
                    if tell.send(run).await.is_err() {
                        return;
                    }
                }
            }
        });
        told
    }

    /// Remembers an idempotency key for a day. Returns its earlier value, if there is one. Blocking.
    pub fn remember_key(&self, key: &str, value: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let key = blake3::hash(key.as_bytes()).to_hex().to_string();
        self.wait(|fleet| async move {
            let keys = &fleet.connected().keys;
            match keys.create(&key, Bytes::from(value)).await {
                Ok(_) => Ok(None),
                Err(error) if matches!(error.kind(), CreateErrorKind::AlreadyExists) => {
                    let before = keys.get(key).await.map_err(refused("record a key"))?;
                    Ok(before.map(|value| value.to_vec()))
                }
                Err(error) => Err(refused("record a key")(error)),
            }
        })
    }

    /// Records an attempt at a run that has `n_events` events. Returns how many attempts before it
    /// added no event: each of them crashed its node. Blocking.
    pub fn note_try(&self, run: &RunId, n_events: u64) -> Result<u64> {
        let key = format!("tries.{run}");
        self.wait(|fleet| async move {
            let runs = &fleet.connected().runs;
            let noted = runs.get(key.clone()).await.map_err(refused("record an attempt"))?;
            let noted = noted.and_then(|noted| {
                let text = String::from_utf8(noted.to_vec()).ok()?;
                let (n_tries, n_events) = text.split_once(' ')?;
                Some((n_tries.parse::<u64>().ok()?, n_events.parse::<u64>().ok()?))
            });
            let n_crashes = noted.filter(|(_, before)| *before == n_events).map_or(0, |(n_tries, _)| n_tries);
            let value = format!("{} {n_events}", n_crashes + 1);
            runs.put(key, Bytes::from(value)).await.map_err(refused("record an attempt"))?;
            Ok(n_crashes)
        })
    }

    /// Resets the number of attempts after one that did not crash. Blocking.
    pub fn forget_tries(&self, run: &RunId) -> Result<()> {
        let key = format!("tries.{run}");
        self.wait(|fleet| async move {
            let purge = || async {
                fleet.connected().runs.purge(&key).await.map_err(refused("remove the record of an attempt"))
            };
            fleet.persistently(PATIENCE, purge).await
        })
    }

    /// Stores a blob, unless the fleet has it. Blocking.
    pub fn put_blob(&self, blob: &BlobId, bytes: &[u8]) -> Result<()> {
        let (blob, bytes) = (blob.clone(), bytes.to_vec());
        self.wait(|fleet| async move {
            fleet.upload(&blob, &bytes, fleet.inner.options.outage_max).await.map(drop)
        })
    }

    /// Stores a blob; false if the fleet already had it.
    pub(crate) async fn upload(&self, blob: &BlobId, bytes: &[u8], patience: Duration) -> Result<bool> {
        self.persistently(patience, || self.try_upload(blob, bytes)).await
    }

    async fn try_upload(&self, blob: &BlobId, mut bytes: &[u8]) -> Result<bool> {
        if self.has_blob(blob, bytes.len() as u64).await? {
            return Ok(false);
        }
        let put = self.connected().blobs.put(blob.to_string().as_str(), &mut bytes).await;
        put.map(|_| true).map_err(|error| {
            let why = error.to_string();
            if says_full(&why) { FleetError::Full { why } } else { refused("store a blob")(why) }
        })
    }

    /// The bytes of a blob, if the fleet has it. Blocking.
    pub fn get_blob(&self, blob: &BlobId) -> Result<Option<Vec<u8>>> {
        let blob = blob.clone();
        self.wait(|fleet| async move { fleet.download(&blob, fleet.inner.options.outage_max).await })
    }

    pub(crate) async fn download(&self, blob: &BlobId, patience: Duration) -> Result<Option<Vec<u8>>> {
        self.persistently(patience, || self.try_download(blob)).await
    }

    async fn try_download(&self, blob: &BlobId) -> Result<Option<Vec<u8>>> {
        let mut object = match self.connected().blobs.get(blob.to_string()).await {
            Ok(object) => object,
            Err(error) if matches!(error.kind(), GetErrorKind::NotFound) => return Ok(None),
            Err(error) => return Err(refused("send a blob")(error)),
        };
        let mut bytes = Vec::new();
        object.read_to_end(&mut bytes).await.map_err(refused("send a blob"))?;
        Ok(Some(bytes))
    }
}
