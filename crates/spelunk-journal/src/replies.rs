//! The reply cache: what a model said to a prompt, found again by the digest of everything that was asked. Derived: it
//! can be deleted at any time. What a record holds is the engine's business.

use std::sync::Arc;

use spelunk_types::BlobId;

use crate::Disk;

/// The reply cache of a workspace.
#[derive(Clone)]
pub struct Replies {
    disk: Arc<dyn Disk>,
}

impl Replies {
    /// The cache on this disk.
    pub fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
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
        self.disk.create_unsynced(&file_name(key), &bytes)
    }
}

fn file_name(key: &BlobId) -> String {
    let hex = key.as_str();
    let shard = hex.get(..2).unwrap_or(hex);
    format!("replies-v1/{shard}/{hex}")
}
