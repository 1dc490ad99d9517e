//! The bytes of a file and their hash, computed on demand.

use std::sync::OnceLock;

/// The bytes of one file.
#[derive(Debug, Default)]
pub(super) struct Body {
    bytes: Vec<u8>,
    hash: OnceLock<blake3::Hash>,
}

impl Body {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, hash: OnceLock::new() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn hash(&self) -> blake3::Hash {
        *self.hash.get_or_init(|| blake3::hash(&self.bytes))
    }

    /// Appends in place: appending line by line must not copy the file each time.
    pub(super) fn append(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        self.hash = OnceLock::new();
    }
}
