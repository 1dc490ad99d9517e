//! The settings of a store: its limits, and which files may become contexts.

use std::path::PathBuf;

use spelunk_types::Limits;

/// The configuration of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// The limits of the engine; a store uses those on contexts.
    pub limits: Limits,
    /// The number of contexts in one store.
    pub contexts_max: u64,
    /// The number of contexts that one search over all of them returns.
    pub search_hits_max: u64,
    /// How long to wait for another process to finish writing the registry.
    pub lock_wait_ms_max: u64,
    /// Directories below one of which files must be, with links resolved. `None` allows files anywhere, an
    /// empty list none.
    pub roots: Option<Vec<PathBuf>>,
    /// Whether files that may hold secrets can be registered.
    pub secrets: SecretFiles,
}

/// At a kilobyte each, the maximum size of the registry.
const CONTEXTS_MAX: u64 = 100_000;
const SEARCH_HITS_MAX: u64 = 1000;
/// A write takes at most a tenth of a second; several may queue.
const LOCK_WAIT_MS_MAX: u64 = 10_000;

impl StoreSettings {
    /// For a user on their own machine: any file except secrets.
    pub fn for_a_person(limits: Limits) -> Self {
        Self {
            limits,
            contexts_max: CONTEXTS_MAX,
            search_hits_max: SEARCH_HITS_MAX,
            lock_wait_ms_max: LOCK_WAIT_MS_MAX,
            roots: None,
            secrets: SecretFiles::Refused,
        }
    }

    /// For a server: files below these directories, and no secrets.
    pub fn for_a_server(limits: Limits, roots: Vec<PathBuf>) -> Self {
        Self { roots: Some(roots), ..Self::for_a_person(limits) }
    }
}

/// Whether files that may hold secrets can be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretFiles {
    /// No.
    Refused,
    /// The user allowed it.
    Allowed,
}
