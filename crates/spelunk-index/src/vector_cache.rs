//! Texts that already have a vector: in the rows of this index, or of one that it replaces.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use crate::vector_store::{Key, Quantised, Rows};

/// Rows by the key of their text; shared by threads.
#[derive(Debug, Default)]
pub(crate) struct VectorCache {
    rows: RwLock<HashMap<Key, u32>>,
    old: Option<(Rows, HashMap<Key, u32>)>,
}

impl VectorCache {
    /// Loads the rows of an index, and those in the directory of its predecessor.
    pub(crate) fn load(rows: &Rows, old_directory: &Path, dimensions: usize) -> io::Result<Self> {
        let old = match Rows::found_in(old_directory, dimensions)? {
            Some(old_rows) => {
                let keys = old_rows.load_keys()?;
                Some((old_rows, keys))
            }
            None => None,
        };
        Ok(Self { rows: RwLock::new(rows.load_keys()?), old })
    }

    pub(crate) fn row(&self, key: &Key) -> Option<u32> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    pub(crate) fn insert(&self, key: Key, row: u32) {
        self.rows.write().unwrap_or_else(PoisonError::into_inner).insert(key, row);
    }

    /// A vector that need not be computed again. One that cannot be read is computed again.
    pub(crate) fn old_vector(&self, key: &Key) -> Option<Quantised> {
        let (rows, keys) = self.old.as_ref()?;
        rows.read(*keys.get(key)?).ok().flatten()
    }
}
