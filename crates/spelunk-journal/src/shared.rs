//! Runs shared by several machines. The workspace directory is then a local copy, and this trait
//! keeps it up to date, leases runs to one writer and lists them.

use std::any::Any;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use spelunk_types::{BlobId, RunId};

use crate::JournalError;

/// The right to write a run, until it is dropped.
pub type Lease = Box<dyn Any + Send + Sync>;

/// What was, or would be, collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Blobs that runs reference.
    pub blobs_kept: u64,
    /// Files removed.
    pub files_removed: u64,
    /// Their total size.
    pub bytes_removed: u64,
}

/// The runs that the machines of a fleet share.
pub trait SharedRuns: Send + Sync {
    /// Takes the lease of a run, or fails with [`JournalError::Leased`].
    fn lease(&self, run: &RunId) -> Result<Lease, JournalError>;
    /// Whether any machine is working on the run.
    fn is_leased(&self, run: &RunId) -> io::Result<bool>;
    /// Brings the local copy of the journal up to date. It may lag behind a writer elsewhere for a moment.
    fn refresh(&self, run: &RunId) -> io::Result<()>;
    /// Like `refresh`, but without the lag; for the holder of the lease.
    fn catch_up(&self, run: &RunId) -> io::Result<()>;
    /// Whether the run has begun.
    fn has(&self, run: &RunId) -> io::Result<bool>;
    /// Every run that has begun.
    fn runs(&self) -> io::Result<Vec<RunId>>;
    /// Removes the journal of a run.
    fn remove(&self, run: &RunId) -> io::Result<()>;
    /// The blobs needed by runs that have no journal yet.
    fn named_blobs(&self) -> io::Result<BTreeSet<BlobId>>;
    /// The files of a snapshot.
    fn files_of(&self, manifest: &BlobId) -> io::Result<Vec<BlobId>>;
    /// Removes or counts the blobs that are not in `named`, which was collected after `named_blobs`
    /// was called. Blobs that were stored or used recently stay.
    fn collect(&self, named: BTreeSet<BlobId>, dry_run: bool) -> io::Result<GcReport>;
    /// A directory with the files of a snapshot.
    fn snapshot(&self, manifest: &BlobId) -> io::Result<PathBuf>;
    /// The snapshot that contains a path, and the file in it unless the path is the whole directory.
    fn snapshot_of(&self, path: &Path) -> Option<(BlobId, Option<String>)>;
}
