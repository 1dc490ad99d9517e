//! Functions that query rows: `tables` and `query_rows`. The rows of CSV, JSON and log documents are read into SQLite
//! when a cell first asks for them.

use std::sync::{Mutex, OnceLock, PoisonError};

use spelunk_context::View;
use spelunk_sandbox::Value;
use spelunk_tables::{Cell, Tables};

use super::{Arguments, Environment, Refusal};
use crate::rows::BYTES_MAX;

/// Rows that one query returns.
const ROWS_MAX: usize = 10_000;
/// Extensions of documents that usually have rows. Only then does the description of `context` mention the functions.
const EXTENSIONS: [&str; 8] = ["csv", "tsv", "tab", "psv", "json", "jsonl", "ndjson", "log"];

/// The sentence that tells a model of the functions; empty if no document looks like rows.
pub(super) fn told(view: &View) -> &'static str {
    let has_rows =
        view.outline().extensions.iter().any(|share| EXTENSIONS.contains(&share.extension.as_str()));
    if has_rows {
        "\nRows of CSV, JSON and log documents are also SQLite tables: `print(tables())` shows their \
         columns, and `query_rows(sql)` returns the rows of one `SELECT` as a list of dicts."
    } else {
        ""
    }
}

/// Tables that are read on first use.
#[derive(Default)]
pub(super) struct LazyTables(OnceLock<Option<Mutex<Tables>>>);

impl LazyTables {
    fn with<T>(
        &self,
        view: &View,
        used: impl FnOnce(&mut Tables) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let Some(tables) = self.0.get_or_init(|| Tables::of(view, BYTES_MAX).map(Mutex::new)) else {
            return Err(Refusal::value(if view.bytes() > BYTES_MAX {
                format!(
                    "the documents have more than {BYTES_MAX} bytes, the maximum for tables: parse them with code"
                )
            } else {
                "no document has rows".to_owned()
            }));
        };
        used(&mut tables.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) fn tables(environment: &Environment) -> Result<Value, Refusal> {
    environment.tables.with(&environment.view, |tables| Ok(Value::Str(tables.describe(""))))
}

pub(super) fn query_rows(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let sql = arguments.need_text("sql")?;
    environment.tables.with(&environment.view, |tables| {
        let result = tables.query(&sql, ROWS_MAX).map_err(|error| Refusal::value(error.to_string()))?;
        if result.is_cut {
            return Err(Refusal::value(format!(
                "the query returns more than {ROWS_MAX} rows or 10 MB: aggregate, filter or add LIMIT"
            )));
        }
        let row = |cells: Vec<Cell>| {
            let names = result.columns.iter().map(|name| Value::from(name.as_str()));
            Value::Dict(names.zip(cells.into_iter().map(value)).collect())
        };
        Ok(Value::List(result.rows.into_iter().map(row).collect()))
    })
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::None,
        Cell::Integer(number) => Value::Int(number),
        Cell::Real(number) => Value::Float(number),
        Cell::Text(text) => Value::Str(text),
    }
}
