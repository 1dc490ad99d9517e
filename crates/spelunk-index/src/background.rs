//! Builds an index in the background, so that the first search over a lot of text need not wait for it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use spelunk_context::View;
use spelunk_fs::PrivateDir;

use crate::{Embedder, Index, IndexError, IndexOptions, UpdateOptions};

/// A search first indexes up to this much text. If more is not indexed, it reads the text instead.
pub const INDEXED_FIRST_BYTES_MAX: u64 = 20_000_000;

/// What to build.
pub struct Build {
    /// Where indexes are stored.
    pub dir: PrivateDir,
    /// The folder of this one.
    pub folder: String,
    /// The model for its vectors.
    pub embedder: Arc<dyn Embedder>,
    /// The documents to index.
    pub whole: View,
    /// How text is indexed.
    pub options: UpdateOptions,
}

/// The builds of this process; the error of a build that failed is kept until it is reported.
static BUILDS: Mutex<BTreeMap<PathBuf, Option<IndexError>>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, Option<IndexError>>> {
    BUILDS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Build {
    /// Starts a thread that builds it, unless one is running. Returns the error of a failed build, once.
    pub fn start(self) -> Result<(), IndexError> {
        let key = self.dir.root().join(&self.folder);
        let mut builds = lock();
        match builds.get(&key) {
            Some(None) => return Ok(()),
            Some(Some(_)) => return builds.remove(&key).flatten().map_or(Ok(()), Err),
            None => {}
        }
        let work = {
            let key = key.clone();
            move || match self.run() {
                Ok(()) => drop(lock().remove(&key)),
                Err(error) => drop(lock().insert(key, Some(error))),
            }
        };
        // Without a thread, a later search tries again.
        if thread::Builder::new().name("index".to_owned()).spawn(work).is_ok() {
            builds.insert(key, None);
        }
        Ok(())
    }

    fn run(&self) -> Result<(), IndexError> {
        let options = IndexOptions { embedder: Some(Arc::clone(&self.embedder)) };
        let mut index = Index::open_in(&self.dir, &self.folder, options)?;
        match index.update(&self.whole, &self.options, &mut |_| ControlFlow::Continue(())) {
            // If it is locked, another process is building it.
            Ok(_) | Err(IndexError::Locked { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
