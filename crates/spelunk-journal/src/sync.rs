//! When a journal is synced. A written line survives the end of the process; only a power cut needs the sync.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Disk, JournalError};

/// Which failure must not lose a recorded reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// The end of the process. Replies are synced in the background; a power cut may lose the last ones.
    #[default]
    Process,
    /// A power cut: an event is synced before anything depends on it.
    Power,
}

/// Syncs a journal, from any thread.
#[derive(Clone)]
pub struct JournalSync {
    disk: Arc<dyn Disk>,
    name: Arc<str>,
    /// Whether the name of the file is durable.
    is_named: Arc<AtomicBool>,
}

impl JournalSync {
    pub(crate) fn new(disk: Arc<dyn Disk>, name: &str) -> Self {
        Self { disk, name: name.into(), is_named: Arc::default() }
    }

    /// Returns when all lines written before are on disk.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.try_sync().map_err(|source| {
            let source = if source.kind() == io::ErrorKind::NotFound { removed() } else { source };
            JournalError::Write { name: self.name.to_string(), source }
        })
    }

    fn try_sync(&self) -> io::Result<()> {
        self.disk.sync(&self.name)?;
        if !self.is_named.load(Ordering::Acquire) {
            self.disk.sync_name(&self.name)?;
            self.is_named.store(true, Ordering::Release);
        }
        Ok(())
    }
}

/// The error for a journal that was removed.
pub(crate) fn removed() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "it was removed during the run")
}
