//! Answers computed over rows of tables, logs and JSON. If there are no rows, or the question is
//! not about them, the calling strategy answers.

mod labels;
mod sql;

use std::sync::Mutex;

use spelunk_context::{QueryWatch, SourceError, View};
use spelunk_tables::Tables;
use spelunk_types::Limits;

use crate::sync::lock;

pub(crate) use self::labels::solve as label_rows;
pub(crate) use self::sql::{BYTES_MAX, RowsOutcome, solve as query_rows};

/// The prompts, in the order of their digest.
pub(crate) const PROMPTS: [&[&str]; 2] = [&sql::PROMPTS, &labels::PROMPTS];

/// The maximum duration of a query. Results from documents are not recorded and must be the same
/// when the run is resumed, so their queries are bounded by steps, not by a clock.
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

#[derive(Default)]
pub(crate) struct LazyTables {
    tables: Mutex<TablesRead>,
    lost: Mutex<Option<SourceError>>,
}

impl LazyTables {
    /// Uses the tables of a view, which is always the same one; `None` if it has none. Blocking.
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

    /// The error of a database that became unusable since the last call. The run then stops without
    /// recording the result, and can be resumed.
    pub(crate) fn take_lost(&self) -> Option<SourceError> {
        lock(&self.lost).take()
    }
}
