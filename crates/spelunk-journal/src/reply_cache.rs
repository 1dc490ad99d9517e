//! The reply cache: what a model said to a prompt, found again by the digest of everything that was asked. Derived: it
//! can be deleted at any time, and the oldest records are removed when it grows too large. A record is used only if its
//! checksum was made with the user's key: files that came with a repository forge no replies. What a record holds is the
//! engine's business.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use spelunk_fs::{Entry, PrivateDir};
use spelunk_types::BlobId;

use crate::Disk;

const FOLDER: &str = "replies-v1";

/// The reply cache of a workspace. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct ReplyCache {
    disk: Arc<dyn Disk>,
    /// Where its files are, if they are files.
    dir: Option<PrivateDir>,
    /// What records are signed with.
    key: [u8; 32],
    /// Whether anything was kept through this handle.
    has_grown: Arc<AtomicBool>,
}

impl ReplyCache {
    /// The cache on this disk; `dir` is the workspace's directory, where it has one.
    pub(crate) fn new(disk: Arc<dyn Disk>, dir: Option<PrivateDir>, key: [u8; 32]) -> Self {
        Self { disk, dir, key, has_grown: Arc::default() }
    }

    /// A record is bound to its place: it cannot be moved to another.
    fn sum(&self, key: &BlobId, record: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(key.as_str().as_bytes()).update(record).finalize()
    }

    /// The record under this key. One that cannot be read or whose checksum does not hold counts as absent.
    pub fn get(&self, key: &BlobId) -> Option<Vec<u8>> {
        let bytes = self.disk.read(&file_name(key)).ok()??;
        let (sum, record) = bytes.split_at_checked(32)?;
        // Compared in constant time.
        let sum: [u8; 32] = sum.try_into().ok()?;
        (self.sum(key, record) == sum).then(|| record.to_vec())
    }

    /// Keeps a record, without waiting for the disk: its checksum tells one that a power cut tore. A cache that cannot be
    /// written is no reason to stop; the caller may say so.
    pub fn put(&self, key: &BlobId, record: &[u8]) -> std::io::Result<()> {
        let mut bytes = self.sum(key, record).as_bytes().to_vec();
        bytes.extend_from_slice(record);
        self.has_grown.store(true, Ordering::Relaxed);
        self.disk.create_unsynced(&file_name(key), &bytes)
    }

    /// Removes the oldest records until at most `bytes_max` are left, and says how many went. Nothing is looked at where
    /// nothing was kept through this handle. What another process removes meanwhile is gone all the same.
    pub fn trim(&self, bytes_max: u64) -> std::io::Result<u64> {
        let Some(dir) = self.dir.as_ref().filter(|_| self.has_grown.load(Ordering::Relaxed)) else {
            return Ok(0);
        };
        let is_record =
            |name: &str, entry: &Entry| entry.name.parse::<BlobId>().is_ok_and(|key| file_name(&key) == name);
        let mut records: Vec<(SystemTime, String, u64)> = dir
            .files_below(FOLDER)?
            .into_iter()
            .filter(|(name, entry)| is_record(name, entry))
            .map(|(name, entry)| (entry.modified, name, entry.len))
            .collect();
        let mut bytes = records.iter().fold(0_u64, |sum, (.., len)| sum.saturating_add(*len));
        records.sort();
        let mut n_removed = 0;
        for (_, name, len) in records {
            if bytes <= bytes_max {
                break;
            }
            if dir.remove_file(&name).is_ok() {
                n_removed += 1;
            }
            bytes = bytes.saturating_sub(len);
        }
        Ok(n_removed)
    }
}

fn file_name(key: &BlobId) -> String {
    let hex = key.as_str();
    let shard = hex.get(..2).unwrap_or(hex);
    format!("{FOLDER}/{shard}/{hex}")
}
