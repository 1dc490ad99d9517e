//! Stores for tests, with a manual clock.

mod bugs;
mod bugs_of_reading;
mod concurrency;
mod durable;
mod ids;
mod made;
mod memory;
mod policies;
mod properties;
mod searching;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spelunk_types::Limits;

use crate::store::{
    ClockMs, Context, ContextId, ContextKind, ContextStore, LoadPolicy, NewContext, NewSource,
    RegistryWarning, StoreError, StoreSettings,
};

/// A clock that advances only manually.
#[derive(Debug, Clone, Default)]
pub(super) struct HandClock(Arc<AtomicU64>);

impl HandClock {
    pub(super) fn at(ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(ms)))
    }

    pub(super) fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }

    pub(super) fn clock(&self) -> ClockMs {
        let now = self.0.clone();
        Arc::new(move || now.load(Ordering::Relaxed))
    }
}

pub(super) fn settings() -> StoreSettings {
    StoreSettings::for_a_person(Limits::default())
}

/// A cache of this size, and loads up to all of it.
pub(super) fn small(cache_bytes: u64) -> StoreSettings {
    let limits =
        Limits { content_cache_bytes_max: cache_bytes, load_bytes_max: cache_bytes, ..Limits::default() };
    StoreSettings::for_a_person(limits)
}

impl ContextStore {
    /// A store in memory only.
    pub(crate) fn in_memory(clock: ClockMs, settings: StoreSettings) -> Self {
        Self::with(None, clock, settings)
    }
}

pub(super) fn in_memory() -> ContextStore {
    ContextStore::in_memory(HandClock::at(1000).clock(), settings())
}

pub(super) fn open(root: &Path) -> ContextStore {
    let (store, warnings) = open_with_warnings(root);
    assert_eq!(warnings, []);
    store
}

pub(super) fn open_with_warnings(root: &Path) -> (ContextStore, Vec<RegistryWarning>) {
    ContextStore::open(root, HandClock::at(1000).clock(), settings()).unwrap()
}

pub(super) fn id(id: &str) -> ContextId {
    ContextId::new(id).unwrap()
}

pub(super) fn of_file(name: &str, path: &Path) -> NewContext {
    NewContext::new(id(name), ContextKind::Document, NewSource::File(path.to_owned()))
}

pub(super) fn of_text(name: &str, text: &str) -> NewContext {
    NewContext::new(id(name), ContextKind::Document, NewSource::Inline(text.to_owned()))
}

pub(super) fn of_loader(name: &str, loader: &str, policy: LoadPolicy) -> NewContext {
    let source = NewSource::Loader(loader.to_owned());
    NewContext { policy: Some(policy), ..NewContext::new(id(name), ContextKind::Document, source) }
}

pub(super) fn ids(contexts: &[Arc<Context>]) -> Vec<&str> {
    contexts.iter().map(|context| context.id.as_str()).collect()
}

/// The text of a context as a peek shows it.
pub(super) fn peeked(store: &ContextStore, id: &str) -> String {
    store.peek(id, 10, 100).unwrap().to_string()
}

/// The error as a user sees it: code, message, causes, hint.
pub(super) fn explain(error: &StoreError) -> String {
    use spelunk_types::Explain as _;
    use std::error::Error as _;
    let mut text = format!("{}: {error}", error.code());
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("\n  caused by: {error}"));
        cause = error.source();
    }
    format!("{text}\nhint: {}", error.hint().unwrap_or_default())
}

pub(super) fn kinds(counts: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let mut all: BTreeMap<String, u64> =
        ContextKind::BUILT_IN.iter().map(|kind| (kind.name().to_owned(), 0)).collect();
    all.extend(counts.iter().map(|(name, n)| ((*name).to_owned(), *n)));
    all
}
