//! The reply cache: model replies, keyed by the digest of the whole request. Safe to delete; the oldest records are
//! evicted first. A record is used only if its checksum was made with the user's key, so files in a cloned repository
//! cannot forge replies. The content of a record is up to the engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use spelunk_fs::{Entry, PrivateDir};
use spelunk_types::BlobId;

use crate::Disk;
use crate::layout::sharded;

const FOLDER: &str = "replies-v1";

/// The size of each counted cache, by directory: a server would otherwise recount after every run.
/// Records of other processes are included at the next count.
static COUNTED: Mutex<BTreeMap<PathBuf, u64>> = Mutex::new(BTreeMap::new());

/// The reply cache of a workspace. Clones share the same cache.
#[derive(Clone)]
pub struct ReplyCache {
    disk: Arc<dyn Disk>,
    /// The directory of its files, if it is on the file system.
    dir: Option<PrivateDir>,
    /// The key that records are signed with.
    key: [u8; 32],
    /// Whether anything was stored through this handle.
    has_grown: Arc<AtomicBool>,
}

impl ReplyCache {
    /// The cache on this disk; `dir` is the workspace's directory, if there is one.
    pub(crate) fn new(disk: Arc<dyn Disk>, dir: Option<PrivateDir>, key: [u8; 32]) -> Self {
        Self { disk, dir, key, has_grown: Arc::default() }
    }

    /// The checksum covers the cache key: a record cannot be moved to another one.
    fn sum(&self, key: &BlobId, record: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(key.to_string().as_bytes()).update(record).finalize()
    }

    /// The record under this key. An unreadable record, or one with a wrong checksum, counts as absent.
    pub fn get(&self, key: &BlobId) -> Option<Vec<u8>> {
        let bytes = self.disk.read(&file_name(key)).ok()??;
        let (sum, record) = bytes.split_at_checked(32)?;
        // Compared in constant time.
        let sum: [u8; 32] = sum.try_into().ok()?;
        (self.sum(key, record) == sum).then(|| record.to_vec())
    }

    /// Stores a record without waiting for the disk: the checksum detects a torn one. Failures may
    /// be ignored.
    pub fn put(&self, key: &BlobId, record: &[u8]) -> std::io::Result<()> {
        let mut bytes = self.sum(key, record).as_bytes().to_vec();
        bytes.extend_from_slice(record);
        self.has_grown.store(true, Ordering::Relaxed);
        if let Some(dir) = &self.dir
            && let Some(counted) = counted().get_mut(dir.root())
        {
            *counted = counted.saturating_add(bytes.len() as u64);
        }
        self.disk.create_unsynced(&file_name(key), &bytes)
    }

    /// Evicts the oldest records until at most `bytes_max` remain, and returns how many were removed. Does nothing if
    /// nothing was stored through this handle. Records that another process removes meanwhile are not an error.
    pub fn trim(&self, bytes_max: u64) -> std::io::Result<u64> {
        let Some(dir) = self.dir.as_ref().filter(|_| self.has_grown.load(Ordering::Relaxed)) else {
            return Ok(0);
        };
        if counted().get(dir.root()).is_some_and(|bytes| *bytes <= bytes_max) {
            return Ok(0);
        }
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
        counted().insert(dir.root().to_owned(), bytes);
        Ok(n_removed)
    }
}

fn counted() -> MutexGuard<'static, BTreeMap<PathBuf, u64>> {
    COUNTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_name(key: &BlobId) -> String {
    sharded(FOLDER, key)
}
