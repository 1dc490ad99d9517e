//! Blobs: immutable bytes named by their BLAKE3 hash, written once and shared by all runs of a workspace. Blobs that a
//! run needs to continue are durable before anything references them. Prompt texts are only for inspection, so nobody
//! waits for them: they are stored in the run's [pack](crate::prompt_pack), and a power cut may lose the last of them.

use std::sync::Arc;

use spelunk_types::{BlobId, RunId, Text};

use crate::layout::sharded;
use crate::prompt_pack::PromptPack;
use crate::{Disk, JournalError};

/// The blob id of these bytes.
pub fn digest(bytes: &[u8]) -> BlobId {
    BlobId::from_hash(*blake3::hash(bytes).as_bytes())
}

/// The blobs of a workspace, with or without the prompts of one run.
#[derive(Clone)]
pub struct Blobs {
    disk: Arc<dyn Disk>,
    /// The prompts of the run, if there is one.
    pack: Option<Arc<PromptPack>>,
}

impl Blobs {
    /// The blobs on this disk, shared by all runs.
    pub fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk, pack: None }
    }

    /// The shared blobs, plus the prompts of one run.
    pub fn of_run(disk: Arc<dyn Disk>, run: &RunId) -> Self {
        Self { pack: Some(Arc::new(PromptPack::new(Arc::clone(&disk), run))), disk }
    }

    /// Stores the bytes durably. A blob that exists and is intact is not written again.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, JournalError> {
        let blob = digest(bytes);
        let name = file_name(&blob);
        let holds = self.disk.holds(&name, bytes);
        if !holds.map_err(|source| JournalError::Read { name: name.clone(), source })? {
            let created = self.disk.create(&name, bytes);
            created.map_err(|source| JournalError::Write { name, source })?;
        }
        Ok(blob)
    }

    /// The bytes of a blob, verified against its hash.
    pub fn get(&self, blob: &BlobId) -> Result<Vec<u8>, JournalError> {
        let name = file_name(blob);
        let read = || match (self.disk.read(&name)?, &self.pack) {
            (None, Some(pack)) => pack.get(blob),
            (there, _) => Ok(there),
        };
        let bytes = read().map_err(|source| JournalError::Read { name: name.clone(), source })?;
        let bytes = bytes.ok_or_else(|| JournalError::Blob { blob: blob.clone(), what: "missing" })?;
        if digest(&bytes) != *blob {
            return Err(JournalError::Blob { blob: blob.clone(), what: "damaged" });
        }
        Ok(bytes)
    }

    /// Text for an event: short text inline, long text as a blob.
    pub fn keep(&self, text: &str) -> Result<Text, JournalError> {
        self.keep_beyond(Text::INLINE_BYTES_MAX, text)
    }

    /// Like [`Self::keep`], for a reply or an answer, which stay inline up to a larger size.
    pub fn keep_said(&self, text: &str) -> Result<Text, JournalError> {
        self.keep_beyond(Text::SAID_INLINE_BYTES_MAX, text)
    }

    /// The content of a file for an event: text as by [`Self::keep`], anything else as a blob.
    pub fn keep_bytes(&self, bytes: &[u8]) -> Result<Text, JournalError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.keep(text),
            Err(_) => Ok(Text::Blob { blob: self.put(bytes)?, bytes: bytes.len() as u64 }),
        }
    }

    fn keep_beyond(&self, inline_bytes_max: usize, text: &str) -> Result<Text, JournalError> {
        if text.len() <= inline_bytes_max {
            return Ok(Text::Inline { text: text.to_owned() });
        }
        Ok(Text::Blob { blob: self.put(text.as_bytes())?, bytes: text.len() as u64 })
    }

    /// Like [`Self::keep`] for the text of a prompt, but without waiting for the disk if the run is known.
    pub fn keep_prompt(&self, text: &str) -> Result<Text, JournalError> {
        let Some(pack) = self.pack.as_ref().filter(|_| text.len() > Text::INLINE_BYTES_MAX) else {
            return self.keep(text);
        };
        let blob = digest(text.as_bytes());
        pack.add(&blob, text.as_bytes())?;
        Ok(Text::Blob { blob, bytes: text.len() as u64 })
    }

    /// Buffers prompt texts in memory until [`Self::write_prompts`].
    pub fn gather_prompts(&self) {
        if let Some(pack) = &self.pack {
            pack.gather();
        }
    }

    /// Writes the buffered prompt texts in one write.
    pub fn write_prompts(&self) -> Result<(), JournalError> {
        self.pack.as_ref().map_or(Ok(()), |pack| pack.write_gathered())
    }

    /// The bytes that an event contains or references.
    pub fn bytes(&self, content: &Text) -> Result<Vec<u8>, JournalError> {
        match content {
            Text::Inline { text } => Ok(text.clone().into_bytes()),
            Text::Blob { blob, .. } => self.get(blob),
        }
    }

    /// The text that an event contains or references.
    pub fn text(&self, text: &Text) -> Result<String, JournalError> {
        match text {
            Text::Inline { text } => Ok(text.clone()),
            Text::Blob { blob, .. } => {
                let bytes = self.get(blob)?;
                String::from_utf8(bytes)
                    .map_err(|_| JournalError::Blob { blob: blob.clone(), what: "not UTF-8 text" })
            }
        }
    }
}

pub(crate) const FOLDER: &str = "blobs";

pub(crate) fn file_name(blob: &BlobId) -> String {
    sharded(FOLDER, blob)
}
