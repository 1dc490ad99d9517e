//! Blobs: immutable bytes under the name of their BLAKE3 hash, written once and shared by all runs of a workspace.

use std::sync::Arc;

use spelunk_types::{BlobId, Text};

use crate::{Disk, JournalError};

/// The name of these bytes.
pub fn digest(bytes: &[u8]) -> BlobId {
    BlobId::from_hash(*blake3::hash(bytes).as_bytes())
}

/// The blobs of a workspace.
#[derive(Clone)]
pub struct Blobs {
    disk: Arc<dyn Disk>,
}

impl Blobs {
    /// The blobs on this disk.
    pub fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    /// Keeps the bytes durably. A blob that is there and whole is not written again.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, JournalError> {
        let blob = digest(bytes);
        let name = file_name(&blob);
        let there =
            self.disk.read(&name).map_err(|source| JournalError::Read { name: name.clone(), source })?;
        if there.as_deref() != Some(bytes) {
            let created = self.disk.create(&name, bytes);
            created.map_err(|source| JournalError::Write { name, source })?;
        }
        Ok(blob)
    }

    /// The bytes of that name; they are checked against it.
    pub fn get(&self, blob: &BlobId) -> Result<Vec<u8>, JournalError> {
        let name = file_name(blob);
        let bytes = self.disk.read(&name).map_err(|source| JournalError::Read { name, source })?;
        let bytes = bytes.ok_or_else(|| JournalError::Blob { blob: blob.clone(), what: "missing" })?;
        if digest(&bytes) != *blob {
            return Err(JournalError::Blob { blob: blob.clone(), what: "not what its name says" });
        }
        Ok(bytes)
    }

    /// Text for an event: short text as it is, long text kept as a blob.
    pub fn keep(&self, text: &str) -> Result<Text, JournalError> {
        if text.len() <= Text::INLINE_BYTES_MAX {
            return Ok(Text::Inline { text: text.to_owned() });
        }
        Ok(Text::Blob { blob: self.put(text.as_bytes())?, bytes: text.len() as u64 })
    }

    /// The text an event holds or names.
    pub fn text(&self, text: &Text) -> Result<String, JournalError> {
        match text {
            Text::Inline { text } => Ok(text.clone()),
            Text::Blob { blob, .. } => {
                let bytes = self.get(blob)?;
                String::from_utf8(bytes)
                    .map_err(|_| JournalError::Blob { blob: blob.clone(), what: "not text" })
            }
        }
    }
}

pub(crate) fn file_name(blob: &BlobId) -> String {
    let hex = blob.as_str();
    let shard = hex.get(..2).unwrap_or(hex);
    format!("blobs/{shard}/{hex}")
}
