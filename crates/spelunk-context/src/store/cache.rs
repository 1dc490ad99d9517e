//! The content cache: whole texts in memory under a budget in bytes, evicted least recently used first, hot texts last.
//! Pure bookkeeping: it loads nothing and reads no clock.

use std::collections::HashMap;
use std::sync::Arc;

use crate::store::ContextId;
use crate::store::revision::Stamp;

/// Texts under a budget. Their total length never exceeds it.
#[derive(Debug)]
pub(crate) struct ContentCache {
    pub(crate) bytes_max: u64,
    /// The size down to which texts are evicted to make room for a new one.
    bytes_after_eviction: u64,
    pub(crate) bytes: u64,
    n_ticks: u64,
    texts: HashMap<ContextId, (Rank, Cached)>,
}

/// A text, and the conditions under which it is still valid.
#[derive(Debug, Clone)]
pub(crate) struct Cached {
    pub(crate) text: Arc<str>,
    /// The registration it belongs to.
    pub(crate) generation: u64,
    /// The stamp of its file. `None` for a source that is not a file.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) loaded_at_ms: u64,
    pub(crate) heat: Heat,
}

/// Cold texts are evicted before hot ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Heat {
    Cold,
    Hot,
}

/// With the tick of the last use.
type Rank = (Heat, u64);

impl ContentCache {
    pub(crate) fn new(bytes_max: u64, evict_to_percent: u64) -> Self {
        let share = u128::from(bytes_max) * u128::from(evict_to_percent.min(100)) / 100;
        Self {
            bytes_max,
            bytes_after_eviction: u64::try_from(share).unwrap_or(bytes_max),
            bytes: 0,
            n_ticks: 0,
            texts: HashMap::new(),
        }
    }

    pub(crate) fn n_texts(&self) -> usize {
        self.texts.len()
    }

    /// Adds a text, replacing an older one with the same id. One larger than the whole budget is not added.
    pub(crate) fn put(&mut self, id: ContextId, cached: Cached) {
        self.remove(id.as_str());
        let bytes = cached.text.len() as u64;
        if bytes > self.bytes_max {
            return;
        }
        if self.bytes + bytes > self.bytes_max {
            self.evict_to(self.bytes_after_eviction.saturating_sub(bytes));
        }
        self.n_ticks += 1;
        self.texts.insert(id, ((cached.heat, self.n_ticks), cached));
        self.bytes += bytes;
    }

    pub(crate) fn touch(&mut self, id: &str) -> Option<Cached> {
        self.n_ticks += 1;
        let (rank, cached) = self.texts.get_mut(id)?;
        *rank = (cached.heat, self.n_ticks);
        Some(cached.clone())
    }

    pub(crate) fn remove(&mut self, id: &str) -> u64 {
        let Some((_, cached)) = self.texts.remove(id) else { return 0 };
        let bytes = cached.text.len() as u64;
        self.bytes -= bytes;
        bytes
    }

    pub(crate) fn evict_to(&mut self, bytes_target: u64) -> usize {
        if self.bytes <= bytes_target {
            return 0;
        }
        let mut order: Vec<(Rank, ContextId)> =
            self.texts.iter().map(|(id, (rank, _))| (*rank, id.clone())).collect();
        order.sort_unstable();
        let mut n_evicted = 0;
        for (_, id) in order {
            if self.bytes <= bytes_target {
                break;
            }
            self.remove(id.as_str());
            n_evicted += 1;
        }
        n_evicted
    }
}
