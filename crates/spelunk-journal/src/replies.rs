//! The reply cache: what a model said to a prompt, found again by the digest of everything that was asked. Derived: it
//! can be deleted at any time, and the oldest of it is when it grows too large. What a record holds is the engine's
//! business.
#![expect(clippy::disallowed_methods, reason = "listing and deleting are not among the disk's operations")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use spelunk_types::BlobId;

use crate::Disk;
use crate::gc::files_below;

const FOLDER: &str = "replies-v1";

/// The reply cache of a workspace. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct Replies {
    disk: Arc<dyn Disk>,
    /// Where its files are, if they are files.
    root: Option<PathBuf>,
    /// Whether anything was kept through this handle.
    has_grown: Arc<AtomicBool>,
}

impl Replies {
    /// The cache on this disk; `root` is the workspace's directory, where it has one.
    pub(crate) fn new(disk: Arc<dyn Disk>, root: Option<PathBuf>) -> Self {
        Self { disk, root, has_grown: Arc::default() }
    }

    /// The record under this key. One that cannot be read or whose checksum does not hold counts as absent.
    pub fn get(&self, key: &BlobId) -> Option<Vec<u8>> {
        let bytes = self.disk.read(&file_name(key)).ok()??;
        let (sum, record) = bytes.split_at_checked(32)?;
        (blake3::hash(record).as_bytes() == sum).then(|| record.to_vec())
    }

    /// Keeps a record, without waiting for the disk: its checksum tells one that a power cut tore. A cache that cannot be
    /// written is no reason to stop; the caller may say so.
    pub fn put(&self, key: &BlobId, record: &[u8]) -> std::io::Result<()> {
        let mut bytes = blake3::hash(record).as_bytes().to_vec();
        bytes.extend_from_slice(record);
        self.has_grown.store(true, Ordering::Relaxed);
        self.disk.create_unsynced(&file_name(key), &bytes)
    }

    /// Removes the oldest records until at most `bytes_max` are left, and says how many went. Nothing is looked at where
    /// nothing was kept through this handle. What another process removes meanwhile is gone all the same.
    pub fn trim(&self, bytes_max: u64) -> std::io::Result<u64> {
        let Some(root) = self.root.as_deref().filter(|_| self.has_grown.load(Ordering::Relaxed)) else {
            return Ok(0);
        };
        let mut records: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for path in files_below(&root.join(FOLDER))? {
            let Ok(found) = path.metadata() else { continue };
            let kept_at = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            records.push((kept_at, path, found.len()));
        }
        let mut bytes = records.iter().fold(0_u64, |sum, (.., len)| sum.saturating_add(*len));
        records.sort();
        let mut n_removed = 0;
        for (_, path, len) in records {
            if bytes <= bytes_max {
                break;
            }
            if std::fs::remove_file(&path).is_ok() {
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
