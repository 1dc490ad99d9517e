//! A desk: a bounded tree of files in memory, with the contexts of a run mounted read-only under `input/contexts`.
//! Cloning shares everything; a clone that is written to copies only what changes. The engine writes anywhere with
//! `put`; what a model does goes through the methods that ask for its rights.

mod body;
mod change;
mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelunk_types::BlobId;

use self::body::Body;
use crate::mounts::Mounted;
use crate::{DeskError, DeskPath, Entry, Mount, ShellLimits, Zone};

/// How much a desk holds, and how much of it one tool shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeskLimits {
    /// Files and directories, without what is on the shelf.
    pub files_max: u64,
    /// All files together.
    pub bytes_max: u64,
    /// One file.
    pub file_bytes_max: u64,
    /// A document of the shelf that is read as a whole: by the shell, and to be cut into chunks.
    pub document_bytes_max: u64,
    /// The text of one outcome.
    pub output_bytes_max: u64,
    /// What one script of the shell may use.
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
    files: Arc<BTreeMap<DeskPath, Arc<Body>>>,
    /// Every directory above a file, and those that are empty; without the fixed ones.
    directories: Arc<BTreeSet<DeskPath>>,
    bytes: u64,
    mounted: Option<Arc<Mounted>>,
}

impl Desk {
    /// An empty desk: its areas are there, nothing else.
    pub fn new(limits: DeskLimits) -> Self {
        Self {
            limits: Arc::new(limits),
            files: Arc::default(),
            directories: Arc::default(),
            bytes: 0,
            mounted: None,
        }
    }

    /// Shows the documents of a shelf under `input/contexts`, in place of what was there. Nothing is read.
    pub fn mount(&mut self, documents: Arc<dyn Mount>) {
        self.mounted = Some(Arc::new(Mounted::new(documents)));
    }

    /// The same desk under other limits. What it holds already stays, even if it is more than they allow.
    #[must_use]
    pub fn with_limits(mut self, limits: DeskLimits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// What it was made with.
    pub fn limits(&self) -> &DeskLimits {
        &self.limits
    }

    /// The size of its files, without the shelf.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Every file in the order of the paths, without the shelf.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&DeskPath, &[u8])> {
        self.files.iter().map(|(path, body)| (path, body.bytes()))
    }

    /// Every document of the shelf, with its name there.
    pub fn documents(&self) -> impl Iterator<Item = (&DeskPath, &str)> {
        self.mounted.iter().flat_map(|mounted| mounted.documents())
    }

    /// A hash over all files and directories, the same for the same desk however it came about. The shelf is not in it:
    /// a corpus has a digest of its own.
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

    /// The files that are other, new or gone since `before`, in the order of their paths.
    pub fn changed_since(&self, before: &Self) -> Vec<DeskPath> {
        if Arc::ptr_eq(&self.files, &before.files) {
            return Vec::new();
        }
        let is_other = |path: &DeskPath, body: &Arc<Body>| match before.files.get(path) {
            Some(was) => !Arc::ptr_eq(was, body) && was.bytes() != body.bytes(),
            None => true,
        };
        let mut changed: Vec<DeskPath> = self
            .files
            .iter()
            .filter(|(path, body)| is_other(path, body))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(before.files.keys().filter(|path| !self.files.contains_key(*path)).cloned());
        changed.sort_unstable();
        changed
    }

    fn require_outside_shelf(&self, path: &DeskPath) -> Result<(), DeskError> {
        // Files of the engine may lie beside documents, but never in the place of one.
        match self.mounted.as_ref().filter(|_| path.is_within(&DeskPath::of(Zone::CONTEXTS))) {
            Some(_) => Err(DeskError::ReadOnly { path: path.clone() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
