//! Answers computed over rows: of tables, logs and JSON. If the text has no rows or the question is not about them, it is
//! left to the strategy that called.

mod labels;
mod sql;

use std::sync::Mutex;

use spelunk_context::{QueryWatch, SourceError, View};
use spelunk_tables::Tables;
use spelunk_types::Limits;

use crate::sync::lock;

pub(crate) use self::labels::solve as label_rows;
pub(crate) use self::sql::{BYTES_MAX, RowsOutcome, solve as query_rows};

/// The prompts, in the order in which their digest has them.
pub(crate) const PROMPTS: [&[&str]; 2] = [&sql::PROMPTS, &labels::PROMPTS];

/// The maximum duration of a query. What documents contain is not recorded and must be found again when the run is
/// resumed, so steps bound their queries, and no clock.
pub(crate) fn query_ms_max(view: &View, limits: &Limits) -> u64 {
    if view.has_databases() { limits.query_ms_max } else { u64::MAX }
}

#[derive(Default)]
enum TablesRead {
    #[default]
    NotYet,
    NoTables,
    Tables(Box<Tables>),
}

/// Tables that are read on first use.
#[derive(Default)]
pub(crate) struct LazyTables {
    tables: Mutex<TablesRead>,
    lost: Mutex<Option<SourceError>>,
}

impl LazyTables {
    /// Uses the tables of a view, always the same; `None` if it has none. Blocking.
    pub(crate) fn with<T>(
        &self,
        view: &View,
        watch: &QueryWatch,
        used: impl FnOnce(&mut Tables) -> T,
    ) -> Option<T> {
        let mut read = lock(&self.tables);
        if matches!(*read, TablesRead::NotYet) {
            match Tables::of(view, BYTES_MAX, watch) {
                Ok(Some(tables)) => *read = TablesRead::Tables(Box::new(tables)),
                Ok(None) => *read = TablesRead::NoTables,
                Err(error) => *lock(&self.lost) = Some(error),
            }
        }
        let TablesRead::Tables(tables) = &mut *read else { return None };
        tables.watch(watch);
        let done = used(tables);
        if let Some(error) = tables.take_lost() {
            *lock(&self.lost) = Some(error);
        }
        Some(done)
    }

    /// The database that could not be used, since this was last asked: the run stops and can be resumed, and nothing
    /// that was found then is recorded.
    pub(crate) fn take_lost(&self) -> Option<SourceError> {
        lock(&self.lost).take()
    }
}
