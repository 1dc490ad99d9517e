//! The access log: which contexts were accessed, and how. The number of entries is bounded; totals keep counting when
//! entries are dropped. A store on disk keeps the entries of all processes in `accesses.jsonl`.

use std::collections::{BTreeMap, VecDeque};

use crate::store::{AccessEntry, Action, ContextId};

/// Totals so far, including dropped entries.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessSummary {
    /// All accesses.
    pub n_accesses: u64,
    /// Accesses by action. Actions that never occurred are not listed.
    pub by_action: BTreeMap<Action, u64>,
    /// Loads per peek; `None` before the first peek.
    pub load_to_peek_ratio: Option<f64>,
}

/// Entries of this process that are not on disk, newest last.
#[derive(Debug)]
pub(crate) struct AccessLog {
    entries_max: usize,
    entries_kept: usize,
    entries: VecDeque<AccessEntry>,
    totals: BTreeMap<Action, u64>,
}

const DETAIL_CHARS_MAX: usize = 200;

impl AccessLog {
    pub(crate) fn new(entries_max: u64, entries_kept: u64) -> Self {
        let entries_max = usize::try_from(entries_max).unwrap_or(usize::MAX);
        let entries_kept = usize::try_from(entries_kept).unwrap_or(usize::MAX).min(entries_max);
        Self { entries_max, entries_kept, entries: VecDeque::new(), totals: BTreeMap::new() }
    }

    pub(crate) fn note(&mut self, action: Action, context: Option<ContextId>, detail: &str, at_ms: u64) {
        *self.totals.entry(action).or_default() += 1;
        let detail = crate::name::shortened(detail, DETAIL_CHARS_MAX);
        self.entries.push_back(AccessEntry { at_ms, action, context, detail });
        if self.entries.len() > self.entries_max {
            self.entries.drain(..self.entries.len() - self.entries_kept);
        }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &AccessEntry> {
        self.entries.iter()
    }

    /// Drops the oldest entries, which are on disk now. The totals are kept.
    pub(crate) fn drop_oldest(&mut self, n: usize) {
        self.entries.drain(..n.min(self.entries.len()));
    }

    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub(crate) fn summary(&self) -> AccessSummary {
        let total = |action| self.totals.get(&action).copied().unwrap_or_default();
        let (n_loads, n_peeks) = (total(Action::Load), total(Action::Peek));
        AccessSummary {
            n_accesses: self.totals.values().sum(),
            by_action: self.totals.clone(),
            load_to_peek_ratio: (n_peeks > 0).then(|| n_loads as f64 / n_peeks as f64),
        }
    }
}
