//! The context store: a registry of contexts, and the only memory that their texts may use. Looking at a context never
//! copies its text into that memory; loading it does. No lock is held while anything is read, searched, written or
//! loaded, so a loader may call the store that called it.

mod access_log;
mod admission;
mod cache;
mod catalogue;
mod collection;
mod context;
mod error;
mod factory;
mod graph;
mod kind;
mod limits;
mod look;
mod naming;
mod navigator;
mod nearest;
mod reading;
mod registry;
mod revision;
mod search;
mod suggest;
mod wire;
mod writing;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spelunk_types::Limits;

pub use access_log::AccessSummary;
pub use collection::CollectionReport;
pub use context::{ContextId, Metadata, NewContext, NewSource};
pub use error::{IdFault, StoreError};
pub use factory::{DirectoryReport, Factory};
pub use kind::{ContextKind, KindName};
pub use limits::{SecretFiles, StoreSettings};
pub use navigator::{GrepView, LoadView, Navigator, PageView, PeekView};
pub use search::{SearchHit, SearchReport, Unread};
pub use suggest::Suggestion;
pub use wire::{AccessCounts, AccessEntry, Action, Context, ContextRevision, ContextSource, LoadPolicy};
pub use writing::RegistryWarning;

use crate::name::{printable_text, shortened};
use access_log::AccessLog;
use cache::ContentCache;
use catalogue::{Catalogue, Entry};
use reading::ReaderPool;
use registry::RegistryFile;
use revision::Stamp;

/// Milliseconds since 1970, supplied by the owner of the store.
pub type ClockMs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A function that returns the text of a context, or an error message. It may use the store.
pub type Loader = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// All contexts of a user, shared by threads.
pub struct ContextStore {
    /// `None` for a store in memory only.
    registry: Option<RegistryFile>,
    clock: ClockMs,
    settings: StoreSettings,
    /// The stamp of the registry file that the catalogue corresponds to. Held while the catalogue is changed and
    /// written; never by a reader.
    seen: Mutex<Option<Stamp>>,
    /// Held only briefly.
    state: Mutex<State>,
}

struct State {
    catalogue: Catalogue,
    kinds: BTreeMap<KindName, LoadPolicy>,
    loaders: HashMap<String, Loader>,
    cache: ContentCache,
    pool: ReaderPool,
    /// Inline texts of contexts that are not on disk.
    held: HashMap<ContextId, Arc<str>>,
    held_bytes: u64,
    log: AccessLog,
}

/// What a store holds, and how much memory it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStats {
    /// The number of contexts.
    pub n_contexts: u64,
    /// The number of contexts by kind, including kinds without any.
    pub by_kind: BTreeMap<String, u64>,
    /// Memory use.
    pub memory: MemoryReport,
}

/// The memory used by texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryReport {
    /// The size of the cached texts in bytes.
    pub cache_bytes: u64,
    /// The budget of the cache in bytes.
    pub cache_bytes_max: u64,
    /// Contexts whose text is cached.
    pub n_loaded: u64,
    /// The size in bytes of inline texts that exist only in memory. They are not in the cache and are not evicted.
    pub held_bytes: u64,
    /// Files kept open for the next access.
    pub n_open: u64,
    /// The size in bytes of the texts of open files that had to be decoded, extracted or unpacked.
    pub open_bytes: u64,
}

impl ContextStore {
    fn with(registry: Option<RegistryFile>, clock: ClockMs, settings: StoreSettings) -> Self {
        let cache =
            ContentCache::new(settings.limits.content_cache_bytes_max, settings.limits.evict_to_percent);
        let state = State {
            catalogue: Catalogue::default(),
            kinds: BTreeMap::new(),
            loaders: HashMap::new(),
            cache,
            pool: ReaderPool::default(),
            held: HashMap::new(),
            held_bytes: 0,
            log: AccessLog::new(
                settings.limits.access_log_entries_max,
                settings.limits.access_log_entries_kept,
            ),
        };
        Self { registry, clock, settings, seen: Mutex::default(), state: Mutex::new(state) }
    }

    /// The limits of this store.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// The context with this id, or an error that lists similar ids.
    pub fn get(&self, id: &str) -> Result<Arc<Context>, StoreError> {
        self.entry(id).map(|entry| entry.context)
    }

    /// All contexts in registration order.
    pub fn list(&self) -> Vec<Arc<Context>> {
        self.state().catalogue.contexts().cloned().collect()
    }

    /// The contexts of one kind. A kind that does not exist is an error.
    pub fn list_of_kind(&self, kind: &str) -> Result<Vec<Arc<Context>>, StoreError> {
        let kind = self.kind(kind)?;
        Ok(self.state().catalogue.contexts().filter(|context| context.kind == kind).cloned().collect())
    }

    /// The kind with this name, if it is built in, declared or in use.
    pub fn kind(&self, name: &str) -> Result<ContextKind, StoreError> {
        let state = self.state();
        ContextKind::from_name(name)
            .filter(|kind| state.knows_kind(kind))
            .ok_or_else(|| StoreError::UnknownKind { kind: name.to_owned(), known: state.kind_names() })
    }

    /// Declares a custom kind for this process.
    pub fn declare_kind(&self, name: &str, policy: LoadPolicy) -> Result<ContextKind, StoreError> {
        let kind = KindName::new(name).ok_or_else(|| StoreError::BadKindName { name: name.to_owned() })?;
        self.state().kinds.insert(kind.clone(), policy);
        Ok(ContextKind::Custom(kind))
    }

    /// Adds a loader to this process: contexts of its name become readable, and their old text is dropped.
    pub fn add_loader(&self, name: &str, loader: Loader) {
        let mut state = self.state();
        state.loaders.insert(name.to_owned(), loader);
        let is_fed = |context: &&Arc<Context>| match &context.source {
            ContextSource::Loader(own) | ContextSource::Uri(own) => own == name,
            ContextSource::File(_) | ContextSource::Inline { .. } => false,
        };
        let ids: Vec<ContextId> =
            state.catalogue.contexts().filter(is_fed).map(|context| context.id.clone()).collect();
        for id in ids {
            state.forget(id.as_str());
        }
    }

    /// What the store holds.
    pub fn stats(&self) -> StoreStats {
        let state = self.state();
        let mut by_kind: BTreeMap<String, u64> =
            state.kind_names().into_iter().map(|name| (name, 0)).collect();
        for context in state.catalogue.contexts() {
            *by_kind.entry(context.kind.name().to_owned()).or_default() += 1;
        }
        StoreStats { n_contexts: state.catalogue.len() as u64, by_kind, memory: state.memory() }
    }

    /// The memory used by texts.
    pub fn memory(&self) -> MemoryReport {
        self.state().memory()
    }

    /// The requests that are kept, oldest first: those that any process saved, then those of this one.
    pub fn access_log(&self) -> Vec<AccessEntry> {
        let mut entries = self.registry.as_ref().map_or_else(Vec::new, RegistryFile::accesses);
        entries.extend(self.state().log.entries().cloned());
        entries
    }

    /// Totals over the requests of this process.
    pub fn access_summary(&self) -> AccessSummary {
        self.state().log.summary()
    }

    fn note(&self, action: Action, context: Option<ContextId>, detail: &str) {
        // A search for a secret contains the secret.
        let (detail, at_ms) = (self.redacted(detail.to_owned()), self.now_ms());
        self.state().log.note(action, context, &detail, at_ms);
    }

    fn allows_secrets(&self) -> bool {
        self.settings.secrets == SecretFiles::Allowed
    }

    /// A text without its secrets, unless they are allowed.
    fn redacted(&self, text: String) -> String {
        if self.allows_secrets() { text } else { crate::secrets::redact(&text).0.into_owned() }
    }

    /// Evicts least recently used texts until at most `bytes_target` remain. Returns the number of evicted texts.
    pub fn evict_to(&self, bytes_target: u64) -> usize {
        self.state().cache.evict_to(bytes_target)
    }

    /// Drops the cached text of a context, so that the next access obtains it again. Returns the bytes freed.
    pub fn invalidate(&self, id: &str) -> Result<u64, StoreError> {
        self.entry(id)?;
        Ok(self.state().forget(id))
    }

    fn entry(&self, id: &str) -> Result<Entry, StoreError> {
        let state = self.state();
        if let Some(entry) = state.catalogue.get(id) {
            return Ok(entry.clone());
        }
        let ids: Vec<ContextId> = state.catalogue.contexts().map(|context| context.id.clone()).collect();
        drop(state);
        let shown = shortened(&printable_text(id), ContextId::BYTES_MAX);
        Err(StoreError::UnknownContext { nearest: nearest::nearest(id, &ids), id: shown })
    }

    fn now_ms(&self) -> u64 {
        (self.clock)()
    }

    /// A poisoned lock is safe to use: every part changes by a single call, so a panic leaves nothing half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn knows_kind(&self, kind: &ContextKind) -> bool {
        kind.custom_name().is_none_or(|name| {
            self.kinds.contains_key(name) || self.catalogue.contexts().any(|context| context.kind == *kind)
        })
    }

    fn kind_names(&self) -> Vec<String> {
        let used = self.catalogue.contexts().filter_map(|context| context.kind.custom_name());
        let custom: BTreeSet<&KindName> = self.kinds.keys().chain(used).collect();
        let built_in = ContextKind::BUILT_IN.iter().map(|kind| kind.name().to_owned());
        built_in.chain(custom.into_iter().map(|name| name.as_str().to_owned())).collect()
    }

    fn default_policy(&self, kind: &ContextKind) -> LoadPolicy {
        let declared = kind.custom_name().and_then(|name| self.kinds.get(name).copied());
        declared.unwrap_or_else(|| kind.default_policy())
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport {
            cache_bytes: self.cache.bytes,
            cache_bytes_max: self.cache.bytes_max,
            n_loaded: self.cache.n_texts() as u64,
            held_bytes: self.held_bytes,
            n_open: self.pool.len() as u64,
            open_bytes: self.pool.held_bytes(),
        }
    }

    /// Drops the cached text and open file of a context. The source is untouched.
    fn forget(&mut self, id: &str) -> u64 {
        self.pool.remove(id);
        self.cache.remove(id)
    }
}

impl fmt::Debug for ContextStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root: Option<&Path> = self.registry.as_ref().map(RegistryFile::root);
        f.debug_struct("ContextStore")
            .field("root", &root)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
