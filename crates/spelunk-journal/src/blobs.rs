//! Blobs: immutable bytes under the name of their BLAKE3 hash, written once and shared by all runs of a workspace. Those
//! that a run needs to go on are durable before anything names them. The texts of prompts are only looked at, so nobody
//! waits for them: they lie in a folder of their own, and a power cut may take the last of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Prompts that were written from here: the same system prompt comes with every call.
    prompts: Arc<Mutex<HashSet<BlobId>>>,
}

/// Names of prompts that are remembered, at most.
const PROMPTS_MAX: usize = 4096;

impl Blobs {
    /// The blobs on this disk.
    pub fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk, prompts: Arc::default() }
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
        let read = |name: String| self.disk.read(&name).map_err(|source| JournalError::Read { name, source });
        let bytes = match read(file_name(blob))? {
            Some(bytes) => Some(bytes),
            None => read(prompt_file_name(blob))?,
        };
        let bytes = bytes.ok_or_else(|| JournalError::Blob { blob: blob.clone(), what: "missing" })?;
        if digest(&bytes) != *blob {
            return Err(JournalError::Blob { blob: blob.clone(), what: "not what its name says" });
        }
        Ok(bytes)
    }

    /// Text for an event: short text as it is, long text kept as a blob.
    pub fn keep(&self, text: &str) -> Result<Text, JournalError> {
        self.keep_beyond(Text::INLINE_BYTES_MAX, text)
    }

    /// A reply or an answer for an event.
    pub fn keep_said(&self, text: &str) -> Result<Text, JournalError> {
        self.keep_beyond(Text::SAID_INLINE_BYTES_MAX, text)
    }

    fn keep_beyond(&self, inline_bytes_max: usize, text: &str) -> Result<Text, JournalError> {
        if text.len() <= inline_bytes_max {
            return Ok(Text::Inline { text: text.to_owned() });
        }
        Ok(Text::Blob { blob: self.put(text.as_bytes())?, bytes: text.len() as u64 })
    }

    /// Text of a prompt, as [`Self::keep`] keeps text, but without waiting for the disk.
    pub fn keep_prompt(&self, text: &str) -> Result<Text, JournalError> {
        if text.len() <= Text::INLINE_BYTES_MAX {
            return Ok(Text::Inline { text: text.to_owned() });
        }
        let blob = digest(text.as_bytes());
        if self.is_new_prompt(&blob) {
            let name = prompt_file_name(&blob);
            let created = self.disk.create_unsynced(&name, text.as_bytes());
            created.map_err(|source| JournalError::Write { name, source })?;
        }
        Ok(Text::Blob { blob, bytes: text.len() as u64 })
    }

    fn is_new_prompt(&self, blob: &BlobId) -> bool {
        let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        if prompts.len() >= PROMPTS_MAX {
            prompts.clear();
        }
        prompts.insert(blob.clone())
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

/// The folders that hold blobs.
pub(crate) const FOLDERS: [&str; 2] = ["blobs", "prompts"];

pub(crate) fn file_name(blob: &BlobId) -> String {
    name_in("blobs", blob)
}

pub(crate) fn prompt_file_name(blob: &BlobId) -> String {
    name_in("prompts", blob)
}

fn name_in(folder: &str, blob: &BlobId) -> String {
    let hex = blob.as_str();
    let shard = hex.get(..2).unwrap_or(hex);
    format!("{folder}/{shard}/{hex}")
}
