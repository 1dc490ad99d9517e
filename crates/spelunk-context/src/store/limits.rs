//! The settings of a store: its share of the engine's limits, and which files may become contexts.

use std::path::PathBuf;

use spelunk_types::Limits;

/// The limits of a store. Those also in `Limits` have its defaults; the rest bound the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of `Limits`, which documents them")]
pub struct StoreLimits {
    pub content_cache_bytes_max: u64,
    pub load_bytes_max: u64,
    pub evict_to_percent: u64,
    pub access_log_entries_max: u64,
    pub access_log_entries_kept: u64,
    pub peek_lines: u64,
    pub peek_tokens: u64,
    pub peek_lines_max: u64,
    pub page_lines: u64,
    pub page_lines_max: u64,
    pub grep_matches_max: u64,
    pub grep_context_lines_max: u64,
    /// The number of contexts in one store.
    pub contexts_max: u64,
    /// The number of contexts that one search over all of them returns.
    pub search_hits_max: u64,
    /// How long to wait for another process to finish writing the registry.
    pub lock_wait_ms_max: u64,
}

impl From<&Limits> for StoreLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            content_cache_bytes_max: limits.content_cache_bytes_max,
            load_bytes_max: limits.load_bytes_max,
            evict_to_percent: limits.evict_to_percent,
            access_log_entries_max: limits.access_log_entries_max,
            access_log_entries_kept: limits.access_log_entries_kept,
            peek_lines: limits.peek_lines,
            peek_tokens: limits.peek_tokens,
            peek_lines_max: limits.peek_lines_max,
            page_lines: limits.page_lines,
            page_lines_max: limits.page_lines_max,
            grep_matches_max: limits.grep_matches_max,
            grep_context_lines_max: limits.grep_context_lines_max,
            contexts_max: CONTEXTS_MAX,
            search_hits_max: SEARCH_HITS_MAX,
            lock_wait_ms_max: LOCK_WAIT_MS_MAX,
        }
    }
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

/// At a kilobyte each, the maximum size of the registry.
const CONTEXTS_MAX: u64 = 100_000;
const SEARCH_HITS_MAX: u64 = 1000;
/// A write takes at most a tenth of a second; several may queue.
const LOCK_WAIT_MS_MAX: u64 = 10_000;

/// The configuration of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// The limits.
    pub limits: StoreLimits,
    /// Where files may be located.
    pub roots: FileRoots,
    /// Whether files that may hold secrets can be registered.
    pub secrets: SecretFiles,
}

impl StoreSettings {
    /// For a user on their own machine: any file except secrets.
    pub fn for_a_person(limits: StoreLimits) -> Self {
        Self { limits, roots: FileRoots::Anywhere, secrets: SecretFiles::Refused }
    }

    /// For a server: files below these directories, and no secrets.
    pub fn for_a_server(limits: StoreLimits, roots: Vec<PathBuf>) -> Self {
        Self { limits, roots: FileRoots::Below(roots), secrets: SecretFiles::Refused }
    }
}

/// Where files may be located.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRoots {
    /// Anywhere.
    Anywhere,
    /// Below one of these directories, with links resolved. An empty list allows no file.
    Below(Vec<PathBuf>),
}

/// Whether files that may hold secrets can be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretFiles {
    /// No.
    Refused,
    /// The user allowed it.
    Allowed,
}
