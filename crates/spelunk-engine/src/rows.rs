//! Answers computed over rows: of tables, logs and JSON. Each returns `None` if the text has no rows or the question is
//! not about them, and leaves the question to the strategy that called it.

mod labels;
mod sql;

use std::sync::{Mutex, OnceLock, PoisonError};

use spelunk_context::View;
use spelunk_tables::Tables;

pub(crate) use self::labels::solve as label_rows;
pub(crate) use self::sql::{BYTES_MAX, solve as query_rows};

/// The prompts, in the order in which their digest has them.
pub(crate) const PROMPTS: [&[&str]; 2] = [&sql::PROMPTS, &labels::PROMPTS];

/// Tables that are read on first use.
#[derive(Default)]
pub(crate) struct LazyTables(OnceLock<Option<Mutex<Tables>>>);

impl LazyTables {
    /// Uses the tables of a view, always the same; `None` if it has none. Blocking.
    pub(crate) fn with<T>(&self, view: &View, used: impl FnOnce(&mut Tables) -> T) -> Option<T> {
        let tables = self.0.get_or_init(|| Tables::of(view, BYTES_MAX).map(Mutex::new)).as_ref()?;
        Some(used(&mut tables.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
