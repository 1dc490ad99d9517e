//! Opens a context for reading. A file is opened, and extracted or unpacked if its name says so, and kept open in a
//! small pool; an inline text is read from its file or from memory; a loader is called as often as the policy requires.
//! No lock is held meanwhile.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::reader::Derived;
use crate::store::cache::{Cached, Heat};
use crate::store::catalogue::Entry;
use crate::store::graph::GraphView;
use crate::store::registry::RegistryFile;
use crate::store::revision::{Stamp, digest_of_file};
use crate::store::writing::expires_at_ms;
use crate::store::{ContextId, ContextRevision, ContextSource, ContextStore, LoadPolicy, StoreError};
use crate::{ReadError, Reader, SourceError, decode};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A peek, a grep or the first page.
    Look,
    /// A page after the first, which belongs to the same text.
    LaterPage,
    Load,
    /// One of very many files, not worth keeping open.
    Sweep,
}

#[derive(Debug)]
pub(super) struct OpenContext {
    pub(super) reader: Arc<Reader>,
    /// The stamp of its file; `None` for a text in memory.
    pub(super) stamp: Option<Stamp>,
    /// The whole text, if it was loaded anyway.
    pub(super) text: Option<Arc<str>>,
    /// BLAKE3 of the file's bytes, if all of them were read anyway.
    pub(super) digest: Option<String>,
}

impl OpenContext {
    pub(super) fn revision(&self) -> ContextRevision {
        match self.stamp {
            Some(stamp) => ContextRevision { digest: self.digest.clone(), ..stamp.revision() },
            None => ContextRevision { size_bytes: self.reader.bytes(), modified_ms: None, digest: None },
        }
    }
}

impl ContextStore {
    pub(super) fn open_context(&self, entry: &Entry, purpose: Purpose) -> Result<OpenContext, StoreError> {
        let context = &entry.context;
        if let Some(expired_at_ms) = expires_at_ms(context).filter(|&at| at <= self.now_ms()) {
            return Err(StoreError::Expired { id: context.id.to_string(), expired_at_ms });
        }
        match &context.source {
            ContextSource::File(path) => {
                self.check_place(path).map_err(|refusal| refusal.into_error(&context.id))?;
                let open = || self.open_made(path);
                let opened = self.open_file(entry, path, purpose, open);
                opened.map_err(|error| StoreError::unread(&context.id, error))
            }
            ContextSource::Inline { digest, .. } => self.open_inline(entry, digest, purpose),
            ContextSource::Loader(name) | ContextSource::Uri(name) => {
                let text = self.obtain(entry, name, purpose)?;
                let reader = Arc::new(self.reader_of(&context.id, text.clone()));
                Ok(OpenContext { reader, stamp: None, text: Some(text), digest: None })
            }
        }
    }

    /// Opens a user's file as text, with the digest of its bytes where the text differs from them.
    fn open_made(&self, path: &Path) -> Result<(Reader, Option<String>), ReadError> {
        let Derived { reader, is_made, .. } = Reader::open_derived(path, self.allows_secrets())?;
        let digest = is_made.then(|| digest_of_file(path)).transpose();
        Ok((reader, digest.map_err(|error| SourceError::from_io(path, error))?))
    }

    fn open_file(
        &self,
        entry: &Entry,
        path: &Path,
        purpose: Purpose,
        open: impl FnOnce() -> Result<(Reader, Option<String>), ReadError>,
    ) -> Result<OpenContext, ReadError> {
        let metadata = path.metadata().map_err(|error| SourceError::from_io(path, error))?;
        let stamp = Stamp::of(&metadata);
        let id = &entry.context.id;
        if let Some(reader) = self.state().pool.get(id.as_str(), entry.generation, stamp) {
            return Ok(OpenContext { reader, stamp: Some(stamp), text: None, digest: None });
        }
        let (reader, digest) = open()?;
        let reader = Arc::new(self.redacting(reader));
        if purpose != Purpose::Sweep {
            let mut state = self.state();
            if state.catalogue.has(entry) {
                state.pool.put(id.clone(), entry.generation, stamp, reader.clone());
            }
        }
        Ok(OpenContext { reader, stamp: Some(stamp), text: None, digest })
    }

    fn open_inline(&self, entry: &Entry, digest: &str, purpose: Purpose) -> Result<OpenContext, StoreError> {
        let id = &entry.context.id;
        let held = self.state().held.get(id.as_str()).cloned();
        if let Some(text) = held {
            let reader = Arc::new(self.reader_of(id, text));
            return Ok(OpenContext { reader, stamp: None, text: None, digest: None });
        }
        let path: Option<PathBuf> =
            self.registry.as_ref().and_then(|registry: &RegistryFile| registry.inline_path(digest));
        let path = path.ok_or_else(|| StoreError::InlineLost { id: id.to_string() })?;
        let open = || Reader::open(&path).map(|reader| (reader, None));
        match self.open_file(entry, &path, purpose, open) {
            Ok(opened) => Ok(opened),
            Err(ReadError::Source(SourceError::NotFound { .. })) => {
                Err(StoreError::InlineLost { id: id.to_string() })
            }
            Err(error) => Err(StoreError::unread(id, error)),
        }
    }

    /// The text of a loader: the cached one if the policy allows, otherwise a new one.
    fn obtain(&self, entry: &Entry, loader: &str, purpose: Purpose) -> Result<Arc<str>, StoreError> {
        let context = &entry.context;
        if let Some(text) = self.cached(entry, None, purpose) {
            return Ok(text);
        }
        let refused = |reason| StoreError::LoaderRefused {
            id: context.id.to_string(),
            loader: loader.to_owned(),
            reason,
        };
        let asked_at_ms = self.now_ms();
        let function = self.state().loaders.get(loader).cloned();
        let raw = match (function, GraphView::from_loader_name(loader)) {
            (Some(function), _) => function().map_err(refused)?,
            (None, Some(view)) => {
                self.check_place(&view.path).map_err(|refusal| refusal.into_error(&context.id))?;
                view.render()?
            }
            (None, None) => {
                let (id, loader) = (context.id.to_string(), loader.to_owned());
                return Err(StoreError::LoaderAbsent { id, loader });
            }
        };
        // Redact once, so that the cached text may be returned as it is.
        let text: Arc<str> = self.redacted(decode::without_mark(raw)).into();
        self.keep(entry, None, &text, asked_at_ms);
        Ok(text)
    }

    /// The cached text, if it belongs to this registration and this file, and may be reused.
    pub(super) fn cached(&self, entry: &Entry, stamp: Option<Stamp>, purpose: Purpose) -> Option<Arc<str>> {
        let now_ms = self.now_ms();
        let cached = self.state().cache.touch(entry.context.id.as_str())?;
        let is_this = cached.generation == entry.generation && cached.stamp == stamp;
        let is_allowed = match entry.context.policy {
            LoadPolicy::Hot | LoadPolicy::Lazy | LoadPolicy::Session => true,
            LoadPolicy::Refresh => purpose == Purpose::LaterPage,
            LoadPolicy::TtlMs(ttl_ms) => now_ms < cached.loaded_at_ms.saturating_add(ttl_ms),
            LoadPolicy::Query => false,
        };
        (is_this && is_allowed).then_some(cached.text)
    }

    /// Caches a text, unless the context was replaced meanwhile, its policy forbids it, or it is too large.
    pub(super) fn keep(&self, entry: &Entry, stamp: Option<Stamp>, text: &Arc<str>, loaded_at_ms: u64) {
        let context = &entry.context;
        if context.policy == LoadPolicy::Query || text.len() as u64 > self.settings.limits.load_bytes_max {
            return;
        }
        let heat = if context.policy == LoadPolicy::Hot { Heat::Hot } else { Heat::Cold };
        let cached = Cached { text: text.clone(), generation: entry.generation, stamp, loaded_at_ms, heat };
        let mut state = self.state();
        if state.catalogue.has(entry) {
            state.cache.put(context.id.clone(), cached);
        }
    }

    fn reader_of(&self, id: &ContextId, text: Arc<str>) -> Reader {
        self.redacting(Reader::of_bytes(id.as_str(), text.into()))
    }

    fn redacting(&self, reader: Reader) -> Reader {
        reader.with_redaction(!self.allows_secrets())
    }
}

/// Open files with their line indexes, most recently used last. Texts in memory are kept within a budget.
#[derive(Debug, Default)]
pub(super) struct ReaderPool {
    readers: VecDeque<PooledReader>,
}

#[derive(Debug)]
struct PooledReader {
    id: ContextId,
    generation: u64,
    stamp: Stamp,
    reader: Arc<Reader>,
}

impl ReaderPool {
    /// Enough for a survey, and far below the system's limit on open files.
    const READERS_MAX: usize = 32;

    /// The budget for texts in memory. A longer one is produced again for each access instead of being held forever.
    const HELD_BYTES_MAX: u64 = 16 * 1024 * 1024;

    pub(super) fn held_bytes(&self) -> u64 {
        self.readers.iter().map(|pooled| pooled.reader.held_bytes()).sum()
    }

    pub(super) fn len(&self) -> usize {
        self.readers.len()
    }

    /// A reader of the current file. One of another revision is dropped.
    fn get(&mut self, id: &str, generation: u64, stamp: Stamp) -> Option<Arc<Reader>> {
        let place = self.readers.iter().position(|pooled| pooled.id.as_str() == id)?;
        let pooled = self.readers.remove(place)?;
        if pooled.generation != generation || pooled.stamp != stamp {
            return None;
        }
        let reader = pooled.reader.clone();
        self.readers.push_back(pooled);
        Some(reader)
    }

    fn put(&mut self, id: ContextId, generation: u64, stamp: Stamp, reader: Arc<Reader>) {
        self.remove(id.as_str());
        let held_bytes = reader.held_bytes();
        if held_bytes > Self::HELD_BYTES_MAX {
            return;
        }
        while self.readers.len() >= Self::READERS_MAX
            || (held_bytes > 0 && self.held_bytes() + held_bytes > Self::HELD_BYTES_MAX)
        {
            self.readers.pop_front();
        }
        self.readers.push_back(PooledReader { id, generation, stamp, reader });
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.readers.retain(|pooled| pooled.id.as_str() != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::id;

    #[test]
    fn the_pool_holds_no_more_text_than_it_may() {
        let stamp = Stamp { size_bytes: 0, modified_ns: None, inode: 0 };
        let mut pool = ReaderPool::default();
        let mut put = |name: &str, megabytes: usize| {
            let reader = Reader::of_bytes(name, vec![b'x'; megabytes * 1024 * 1024].into());
            pool.put(id(name), 1, stamp, Arc::new(reader));
            let names: Vec<&str> = pool.readers.iter().map(|pooled| pooled.id.as_str()).collect();
            format!("{} {}", names.join(" "), pool.held_bytes() >> 20)
        };
        assert_eq!(put("a", 6), "a 6");
        assert_eq!(put("b", 10), "a b 16");
        assert_eq!(put("c", 1), "b c 11");
        assert_eq!(put("d", 17), "b c 11");
        assert_eq!(put("b", 3), "c b 4");
        assert_eq!(put("e", 16), "e 16");
    }
}
