//! Buckets of objects as sources, such as those of S3: what is asked of them. Who talks to the server is elsewhere. Keys and
//! contents are hostile, and are bounded by the one who asks.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::SourceError;

/// A bucket that the user named, or a part of it.
pub trait ObjectStore: fmt::Debug + Send + Sync {
    /// Its address, without a slash at the end: what the names of its documents begin with.
    fn url(&self) -> &str;

    /// The objects below the address, or the one that is there. Blocking.
    fn list(&self) -> Result<Vec<ObjectEntry>, ObjectError>;

    /// Copies of these objects on this machine, in order; `None` for one that is gone or may not be read. Blocking.
    fn fetch(&self, objects: &[&ObjectEntry]) -> Result<Vec<Option<PathBuf>>, ObjectError>;
}

/// An object, as the list of a bucket shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEntry {
    /// Its key after the address; empty if the address is that of the object.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// What changes with its content.
    pub etag: String,
}

/// Why a bucket cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ObjectError {
    /// Why.
    pub why: String,
    /// What to try.
    pub hint: &'static str,
}

/// A shared [`ObjectStore`]. Two are equal if they have the same address.
pub type ObjectsHandle = Arc<dyn ObjectStore>;

impl PartialEq for dyn ObjectStore {
    fn eq(&self, other: &Self) -> bool {
        self.url() == other.url()
    }
}

impl Eq for dyn ObjectStore {}

impl dyn ObjectStore {
    pub(crate) fn failed(&self, error: ObjectError) -> SourceError {
        let ObjectError { why, hint } = error;
        SourceError::Objects { url: self.url().to_owned(), why, hint }
    }

    pub(crate) fn copy(&self, object: &ObjectEntry) -> Result<Option<PathBuf>, SourceError> {
        let copies = self.fetch(&[object]).map_err(|error| self.failed(error))?;
        Ok(copies.into_iter().next().flatten())
    }
}
