//! Functions that query rows: `tables` and `query_rows`. The rows of CSV, JSON and log documents
//! are read into SQLite when a cell first asks for them, next to the databases.

use spelunk_context::View;
use spelunk_sandbox::Value;
use spelunk_tables::{Cell, Tables};

use super::{Arguments, Environment, Refusal};
use crate::rows::BYTES_MAX;

const ROWS_MAX: usize = 10_000;
/// Extensions of documents that usually have rows. Only for these, the description of `context` mentions the functions.
const EXTENSIONS: [&str; 8] = ["csv", "tsv", "tab", "psv", "json", "jsonl", "ndjson", "log"];

const DATABASES_TOLD: &str = "\nThe text of a database describes its tables. `print(tables())` shows the columns of \
    all tables, also those of CSV, JSON and log documents, and `query_rows(sql)` returns the rows of one SQLite `SELECT` \
    as a list of dicts. Cite a row by its table and key, with words of it: `shop.db:orders?id=4711: cancelled`.";

const SERVERS_TOLD: &str = "\nThe text of a database describes its tables. `print(tables())` shows the columns of \
    all tables, and `query_rows(sql)` returns the rows of one `SELECT` as a list of dicts: in PostgreSQL's SQL for tables \
    that are from PostgreSQL, in SQLite's for all others, and each query over one database. Cite a row by its table and key, \
    with words of it: `shop:orders?id=4711: cancelled`.";

/// The sentence that describes the functions to a model; empty if no document looks like rows.
pub(super) fn told(view: &View) -> &'static str {
    if view.has_servers() {
        return SERVERS_TOLD;
    }
    if view.has_databases() {
        return DATABASES_TOLD;
    }
    let has_rows =
        view.outline().extensions.iter().any(|share| EXTENSIONS.contains(&share.extension.as_str()));
    if has_rows {
        "\nRows of CSV, JSON and log documents are also SQLite tables: `print(tables())` shows their \
         columns, and `query_rows(sql)` returns the rows of one `SELECT` as a list of dicts."
    } else {
        ""
    }
}

fn with<T>(
    environment: &Environment,
    used: impl FnOnce(&mut Tables) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    environment.tables.with(&environment.view, &environment.watch, used).unwrap_or_else(|| {
        Err(Refusal::value(if environment.view.bytes() > BYTES_MAX {
            format!(
                "the documents have more than {BYTES_MAX} bytes, the maximum for tables: parse them with code"
            )
        } else {
            "no document has rows".to_owned()
        }))
    })
}

pub(super) fn tables(environment: &Environment) -> Result<Value, Refusal> {
    with(environment, |tables| Ok(Value::Str(tables.describe(""))))
}

pub(super) fn query_rows(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let sql = arguments.need_text("sql")?;
    with(environment, |tables| {
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
