//! Garbage collection of blobs. A blob is kept if a journal, a queued job or a note about a run names
//! it, directly or through a manifest. It is also kept for a day after it was stored or marked as used,
//! because its sender may be about to name it.

#![expect(
    clippy::disallowed_methods,
    reason = "the age of a message is its server's time compared with ours"
)]

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use async_nats::jetstream::object_store::{UpdateMetadata, UpdateMetadataErrorKind};
use async_nats::jetstream::stream::{DirectGetErrorKind, LastRawMessageErrorKind};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use futures_util::TryStreamExt as _;
use serde_json::Value;
use spelunk_journal::{GcReport, blob_names_in};
use spelunk_types::BlobId;

use crate::nodes::entries;
use crate::snapshot::read_manifest;
use crate::{Fleet, PATIENCE, Result, refused};

/// How long an unnamed blob is kept; far longer than the difference between any two clocks.
pub(crate) const GRACE: Duration = Duration::from_hours(24);
/// A blob that is used when its mark is older than this is marked again.
const USED: Duration = Duration::from_hours(6);

/// A blob in the fleet. `age` counts from when it was stored or last marked as used.
struct Stored {
    seq: u64,
    bytes: u64,
    age: Duration,
}

impl Fleet {
    async fn stored(&self, blob: &BlobId) -> Result<Option<Stored>> {
        let subject =
            format!("$O.{}_blobs.M.{}", self.inner.options.prefix, BASE64_URL_SAFE.encode(blob.to_string()));
        let message = match self.connected().blob_stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => message,
            Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => return Ok(None),
            Err(error) => return Err(refused("look for a blob")(error)),
        };
        let info: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
        let is_there = info["deleted"] != true;
        let age = SystemTime::now().duration_since(SystemTime::from(message.time)).unwrap_or_default();
        let bytes = info["size"].as_u64().unwrap_or_default();
        Ok(is_there.then_some(Stored { seq: message.sequence, bytes, age }))
    }

    /// Whether the fleet has a blob. Marks it as used, so that it is kept until it is named.
    pub(crate) async fn has_blob(&self, blob: &BlobId, bytes: u64) -> Result<bool> {
        match self.stored(blob).await? {
            Some(stored) if stored.bytes != bytes => return Ok(false),
            Some(stored) if stored.age < USED => return Ok(true),
            Some(_) => {}
            None => return Ok(false),
        }
        let same = UpdateMetadata { name: blob.to_string(), ..UpdateMetadata::default() };
        match self.connected().blobs.update_metadata(&blob.to_string(), same).await {
            Ok(info) => Ok(!info.deleted),
            Err(error) if matches!(error.kind(), UpdateMetadataErrorKind::NotFound) => Ok(false),
            Err(error) => Err(refused("keep a blob")(error)),
        }
    }

    /// The blobs that jobs and notes name.
    pub(crate) async fn blobs_of_jobs(&self) -> Result<BTreeSet<BlobId>> {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let subject = self.subject("queue.*");
        let mut seq = 1;
        loop {
            match self.connected().queue.direct_get_next_for_subject(&subject, Some(seq)).await {
                Ok(job) => {
                    seq = job.sequence + 1;
                    texts.push(job.payload.to_vec());
                }
                Err(error) if matches!(error.kind(), DirectGetErrorKind::NotFound) => break,
                Err(error) => return Err(refused("list its jobs")(error)),
            }
        }
        texts.extend(entries(&self.connected().runs).await?.into_iter().map(|(_, note)| note.to_vec()));
        let mut named = BTreeSet::new();
        for text in texts {
            named.extend(blob_names_in(&String::from_utf8_lossy(&text)));
        }
        // A long request is a blob that may name others.
        for blob in named.clone() {
            let bytes = self.download(&blob, PATIENCE).await?.unwrap_or_default();
            if bytes.first() == Some(&b'{') && read_manifest(&bytes).is_none() {
                named.extend(blob_names_in(&String::from_utf8_lossy(&bytes)));
            }
        }
        for blob in named.clone() {
            named.extend(self.files_of(&blob).await?);
        }
        Ok(named)
    }

    /// The blobs of the files in a manifest; none if it is not a manifest.
    pub(crate) async fn files_of(&self, manifest: &BlobId) -> Result<Vec<BlobId>> {
        let bytes = self.download(manifest, PATIENCE).await?.unwrap_or_default();
        let files = read_manifest(&bytes).unwrap_or_default();
        Ok(files.into_iter().map(|file| file.blob).collect())
    }

    /// Removes blobs that are not in `named` and were neither stored nor used within `grace`.
    pub(crate) async fn collect(
        &self,
        named: BTreeSet<BlobId>,
        grace: Duration,
        dry_run: bool,
    ) -> Result<GcReport> {
        let listed = self.connected().blobs.list().await.map_err(refused("list its blobs"))?;
        let listed: Vec<_> = listed.try_collect().await.map_err(refused("list its blobs"))?;
        let mut report = GcReport::default();
        for info in listed {
            // We did not create this object.
            let Ok(blob) = info.name.parse::<BlobId>() else { continue };
            let Some(stored) = self.stored(&blob).await? else { continue };
            if named.contains(&blob) || stored.age < grace {
                report.blobs_kept += 1;
                continue;
            }
            if !dry_run {
                // It may have been used meanwhile. A question that still loses this race fails: `ask again`.
                let is_unused = self.stored(&blob).await?.is_some_and(|again| again.seq == stored.seq);
                if !is_unused {
                    report.blobs_kept += 1;
                    continue;
                }
                self.connected().blobs.delete(blob.to_string()).await.map_err(refused("remove a blob"))?;
            }
            report.files_removed += 1;
            report.bytes_removed += stored.bytes;
        }
        Ok(report)
    }
}
