//! A desk: a bounded tree of files in memory, with contexts mounted read-only under `input/contexts`. Clones
//! share what they do not change. The engine writes with `put`; the model's methods check its rights.

mod change;
mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use spelunk_context::View;
use spelunk_types::BlobId;

use crate::mounts::Mounts;
use crate::{DeskPath, ShellLimits};

/// How much a desk holds, and how much of it one tool call shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeskLimits {
    /// Files and directories, without mounts.
    pub files_max: u64,
    /// All files together.
    pub bytes_max: u64,
    /// The largest file.
    pub file_bytes_max: u64,
    /// The largest mounted document that can be read whole: by the shell, and to be cut into chunks.
    pub document_bytes_max: u64,
    /// The longest text of one tool outcome.
    pub output_bytes_max: u64,
    /// The limits of one shell script.
    pub shell: ShellLimits,
}

impl Default for DeskLimits {
    fn default() -> Self {
        Self {
            files_max: 4000,
            bytes_max: 128 * 1024 * 1024,
            file_bytes_max: 16 * 1024 * 1024,
            document_bytes_max: 64 * 1024 * 1024,
            output_bytes_max: 24_000,
            shell: ShellLimits::default(),
        }
    }
}

/// The files a model works on. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Desk {
    limits: Arc<DeskLimits>,
    files: Arc<BTreeMap<DeskPath, Arc<FileContent>>>,
    /// All directories except the fixed ones.
    directories: Arc<BTreeSet<DeskPath>>,
    bytes: u64,
    mounts: Option<Arc<Mounts>>,
}

impl Desk {
    /// A desk with its zones and nothing else.
    pub fn new(limits: DeskLimits) -> Self {
        Self {
            limits: Arc::new(limits),
            files: Arc::default(),
            directories: Arc::default(),
            bytes: 0,
            mounts: None,
        }
    }

    /// Mounts documents under `input/contexts`, replacing any earlier mount. Nothing is read.
    pub fn mount(&mut self, documents: View) {
        self.mounts = Some(Arc::new(Mounts::new(documents)));
    }

    /// The same desk with other limits. Existing files stay, even if they exceed the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: DeskLimits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// The limits of this desk.
    pub fn limits(&self) -> &DeskLimits {
        &self.limits
    }

    /// The total size of its files, without mounts.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Every file, ordered by path, without mounts.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&DeskPath, &[u8])> {
        self.files.iter().map(|(path, body)| (path, body.bytes.as_slice()))
    }

    /// A hash of all files and directories, without mounts: a corpus has its own digest.
    pub fn digest(&self) -> BlobId {
        let mut hasher = blake3::Hasher::new();
        let mut add = |kind: u8, path: &DeskPath, hash: &[u8]| {
            hasher.update(&[kind]);
            hasher.update(&(path.as_str().len() as u64).to_le_bytes());
            hasher.update(path.as_str().as_bytes());
            hasher.update(hash);
        };
        for (path, body) in self.files.iter() {
            add(b'f', path, body.hash().as_bytes());
        }
        for path in self.directories.iter() {
            add(b'd', path, &[]);
        }
        BlobId::from_hash(*hasher.finalize().as_bytes())
    }

    /// The files changed, added or removed since `before`, ordered by path.
    pub fn changed_since(&self, before: &Self) -> Vec<DeskPath> {
        if Arc::ptr_eq(&self.files, &before.files) {
            return Vec::new();
        }
        let is_other = |path: &DeskPath, body: &Arc<FileContent>| match before.files.get(path) {
            Some(was) => !Arc::ptr_eq(was, body) && was.bytes != body.bytes,
            None => true,
        };
        let others = self.files.iter().filter(|(path, body)| is_other(path, body)).map(|(path, _)| path);
        let gone = before.files.keys().filter(|path| !self.files.contains_key(*path));
        let mut changed: Vec<DeskPath> = others.chain(gone).cloned().collect();
        changed.sort_unstable();
        changed
    }
}

/// The bytes of one file, and their hash, computed on demand.
#[derive(Debug, Clone, Default)]
struct FileContent {
    bytes: Vec<u8>,
    hash: OnceLock<blake3::Hash>,
}

impl FileContent {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn hash(&self) -> blake3::Hash {
        *self.hash.get_or_init(|| blake3::hash(&self.bytes))
    }

    /// Appends in place: appending line by line must not copy the file each time.
    fn append(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        self.hash = OnceLock::new();
    }
}

#[cfg(test)]
mod tests;
