//! The user's SQLite files, attached read-only next to the tables of documents, and the addresses that cite their
//! rows, such as `shop.db:orders?id=4711`. The files are hostile: see `distrust_schemas`.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Statement, params_from_iter};
use spelunk_context::{DocEntry, sqlite_uri};
use spelunk_types::{percent_decoded, percent_encoded};

use crate::column::{FEW_MAX, is_keyword, unique_name};
use crate::query::{cell, redacted};
use crate::{Cell, Column, ColumnType, TABLES_MAX, Table, Tables};

/// The most databases of one view: SQLite attaches no more.
const DATABASES_MAX: usize = 10;
/// The most rows that are counted; a larger table is described as having more.
const ROWS_COUNTED_MAX: u64 = 100_000;
/// The most columns whose values are listed, over all tables of a database.
const COLUMNS_READ_MAX: usize = 200;
const COLUMNS_MAX: usize = 2_000;
/// How many rows are sampled for values if a table is too large to count.
const ROWS_SAMPLED: usize = 20;
/// The most steps of one statement that describes a database.
const STEPS_MAX: u64 = 3_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) schema: String,
    pub(crate) table: String,
    /// The columns that identify a row; empty if rows cannot be cited.
    pub(crate) key: Vec<String>,
    pub(crate) server: Option<OnServer>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OnServer {
    pub(crate) idx: usize,
    /// Whether statements may omit the schema.
    pub(crate) is_visible: bool,
}

impl Table {
    /// Whether it is in the database that is attached under this name.
    pub(crate) fn is_in(&self, schema: &str) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.schema.eq_ignore_ascii_case(schema))
    }

    pub(crate) fn server(&self) -> Option<usize> {
        Some(self.stored.as_ref()?.server?.idx)
    }
}

impl Stored {
    pub(crate) fn sql(&self) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(&self.table))
    }

    fn shown(&self) -> String {
        match self.server {
            Some(server) if !server.is_visible => {
                format!("{}.{}", encoded(&self.schema), encoded(&self.table))
            }
            Some(_) | None => encoded(&self.table),
        }
    }
}

impl Tables {
    /// Attaches the database that a document describes. If it cannot be read, the document has no tables.
    pub(crate) fn attach(&mut self, document: &DocEntry, path: &Path) {
        let mut taken: BTreeSet<String> = ["main", "temp"].map(str::to_owned).into();
        taken.extend(self.databases.iter().cloned());
        let stem = document.name.rsplit('/').next().and_then(|file| file.split('.').next());
        let schema = unique_name(stem.unwrap_or_default(), &mut taken);
        let attached = self.databases.len() < DATABASES_MAX
            && sqlite_uri(path).is_ok_and(|uri| {
                self.connection.execute(&format!("ATTACH ?1 AS {}", quoted(&schema)), [uri]).is_ok()
            });
        match self.tables_of(document, &schema) {
            Ok(found) if attached => {
                let room = TABLES_MAX.saturating_sub(self.all.len());
                self.all.extend(found.into_iter().take(room));
                self.databases.push(schema);
                self.redacts |= document.redacts;
            }
            Ok(_) | Err(_) => {
                if attached {
                    // A schema that cannot be parsed would make every statement fail.
                    drop(self.connection.execute_batch(&format!("DETACH {}", quoted(&schema))));
                }
                self.others.push(document.name.clone());
            }
        }
    }

    fn tables_of(&self, document: &DocEntry, schema: &str) -> rusqlite::Result<Vec<Table>> {
        let mut names = self.prepare(&format!(
            "SELECT name, type = 'view' FROM {}.sqlite_schema WHERE type IN ('table', 'view') \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name LIMIT {TABLES_MAX}",
            quoted(schema)
        ))?;
        let names: Vec<(String, bool)> =
            names.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        let mut n_columns = 0;
        let of = |(name, is_view): (String, bool)| {
            // A name with control characters cannot be shown on a line or written in a query.
            if name.contains(char::is_control) {
                return None;
            }
            let stored = Stored { schema: schema.to_owned(), table: name, key: Vec::new(), server: None };
            read_table(self, document, stored, is_view, &mut n_columns).ok()
        };
        Ok(names.into_iter().filter_map(of).collect())
    }

    /// The addresses of the first rows that a query reads from this table.
    pub(crate) fn addresses(&mut self, table: &Table, alias: &str, tail: &str, n_max: usize) -> Vec<String> {
        let Some(stored) = table.stored.as_ref().filter(|stored| !stored.key.is_empty()) else {
            return Vec::new();
        };
        let folded = if stored.server.is_some() { alias.to_lowercase() } else { alias.to_owned() };
        let alias = folded.as_str();
        let columns: Vec<String> =
            stored.key.iter().map(|name| format!("{}.{}", quoted(alias), quoted(name))).collect();
        let sql = format!("SELECT DISTINCT {} {tail} LIMIT {n_max}", columns.join(", "));
        let Ok(result) = self.query(&sql, n_max) else { return Vec::new() };
        let address = |row: Vec<Cell>| {
            let pairs = stored.key.iter().zip(row).map(|(name, cell)| {
                (cell != Cell::Null).then(|| format!("{}={}", encoded(name), encoded(&key_text(&cell))))
            });
            let pairs: Option<Vec<String>> = pairs.collect();
            Some(format!("{}{}", prefix(table, stored), pairs?.join("&")))
        };
        result.rows.into_iter().filter_map(address).collect()
    }

    /// The row at an address: its canonical address, and its cells as `name: value`.
    pub fn row(&mut self, address: &str) -> Option<(String, String)> {
        let found = self.all.iter().find_map(|table| {
            let stored = table.stored.as_ref()?;
            let in_query = format!("{}.{}?", stored.schema, encoded(&stored.table));
            let prefix = prefix(table, stored);
            let rest = address.strip_prefix(&prefix).or_else(|| address.strip_prefix(&in_query))?;
            Some((stored.clone(), prefix, rest))
        });
        let (stored, prefix, rest) = found?;
        let pairs: Vec<(String, String)> = rest.split('&').map(pair).collect::<Option<_>>()?;
        if pairs.len() != stored.key.len() || pairs.iter().any(|(name, _)| !stored.key.contains(name)) {
            return None;
        }
        if let Some(server) = stored.server {
            let cells = self.server_row(server.idx, &stored, &pairs)?;
            return Some((prefix + rest, cells));
        }
        let wanted: Vec<String> = pairs.iter().map(|(name, _)| format!("{} = ?", quoted(name))).collect();
        let sql = format!("SELECT * FROM {} WHERE {} LIMIT 1", stored.sql(), wanted.join(" AND "));
        // In a column without a type, the number 4 does not equal the text `4`.
        let as_number = |(_, value): &(String, String)| match value.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(value.clone()),
        };
        let as_text = |(_, value): &(String, String)| Value::Text(value.clone());
        let numbers: Vec<Value> = pairs.iter().map(as_number).collect();
        let texts: Vec<Value> = pairs.iter().map(as_text).collect();
        let (names, row) = [numbers, texts].into_iter().find_map(|key| self.one_row(&sql, key).ok())?;
        Some((prefix + rest, self.named(&names, row)))
    }

    /// The cells of a row as they are cited.
    pub(crate) fn named(&self, columns: &[String], mut row: Vec<Cell>) -> String {
        self.redact(columns, &mut row);
        let named = columns.iter().zip(row).map(|(name, cell)| format!("{name}: {cell}"));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Prepares a statement of ours, with a lower step limit than a query.
    fn prepare(&self, sql: &str) -> rusqlite::Result<Statement<'_>> {
        self.steps.allow(STEPS_MAX, &self.watch);
        self.connection.prepare(sql)
    }

    fn one_row(&self, sql: &str, key: Vec<Value>) -> rusqlite::Result<(Vec<String>, Vec<Cell>)> {
        let mut statement = self.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let cells = statement.query_row(params_from_iter(key), |row| {
            (0..names.len()).map(|idx| Ok(cell(row.get_ref(idx)?))).collect()
        })?;
        Ok((names, cells))
    }
}

fn read_table(
    tables: &Tables,
    document: &DocEntry,
    mut stored: Stored,
    is_view: bool,
    n_columns: &mut usize,
) -> rusqlite::Result<Table> {
    let sql = format!("SELECT name, type, pk FROM pragma_table_info(?1, ?2) LIMIT {COLUMNS_MAX}");
    let mut statement = tables.prepare(&sql)?;
    let listed: Vec<(String, String, i64)> = statement
        .query_map([&stored.table, &stored.schema], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // Preparing a statement fails for a virtual table whose module is missing.
    tables.prepare(&format!("SELECT * FROM {}", stored.sql()))?;
    stored.key = key(tables, &stored, &listed, is_view);
    let n_rows = if is_view { None } else { count(tables, &stored).ok() };
    let is_counted = n_rows.is_some_and(|n_rows| n_rows <= ROWS_COUNTED_MAX);
    let mut columns = Vec::new();
    for (name, declared, _) in listed.iter().filter(|(name, ..)| !name.contains(char::is_control)) {
        *n_columns += 1;
        let is_read = !is_view && *n_columns <= COLUMNS_READ_MAX;
        let values = if is_read { values(tables, &stored, name, is_counted) } else { Vec::new() };
        let values: Vec<String> = if document.redacts {
            values.into_iter().map(|value| redacted(name, Cell::Text(value)).to_string()).collect()
        } else {
            values
        };
        let few = (is_read && is_counted && values.len() <= FEW_MAX).then(|| values.clone());
        let examples = values.into_iter().take(Column::EXAMPLES).collect();
        columns.push(Column {
            name: plain(name),
            original: plain(name),
            kind: kind(declared),
            few,
            examples,
            declared: None,
        });
    }
    Ok(Table {
        name: format!("{}.{}", stored.schema, plain(&stored.table)),
        documents: vec![document.name.clone()],
        columns,
        n_rows: n_rows.unwrap_or_default(),
        n_broken: 0,
        is_counted,
        about: None,
        stored: Some(stored),
    })
}

/// The columns of the primary key, or `rowid`.
fn key(tables: &Tables, stored: &Stored, listed: &[(String, String, i64)], is_view: bool) -> Vec<String> {
    let mut key: Vec<(i64, String)> =
        listed.iter().filter(|(.., pk)| *pk > 0).map(|(name, _, pk)| (*pk, name.clone())).collect();
    key.sort();
    if key.is_empty() && !is_view && tables.prepare(&format!("SELECT rowid FROM {}", stored.sql())).is_ok() {
        return vec!["rowid".to_owned()];
    }
    key.into_iter().map(|(_, name)| name).collect()
}

/// The number of rows, at most one more than `ROWS_COUNTED_MAX`.
fn count(tables: &Tables, stored: &Stored) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {})", stored.sql(), ROWS_COUNTED_MAX + 1);
    tables
        .prepare(&sql)?
        .query_row([], |row| row.get::<_, i64>(0))
        .map(|n| u64::try_from(n).unwrap_or_default())
}

/// Distinct values of a column, at most one more than are listed; a large table is sampled.
fn values(tables: &Tables, stored: &Stored, name: &str, is_counted: bool) -> Vec<String> {
    let (column, table) = (quoted(name), stored.sql());
    let from =
        if is_counted { table } else { format!("(SELECT {column} FROM {table} LIMIT {ROWS_SAMPLED})") };
    let sql =
        format!("SELECT DISTINCT {column} FROM {from} WHERE {column} IS NOT NULL LIMIT {}", FEW_MAX + 1);
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = tables.prepare(&sql)?;
        let found = statement.query_map([], |row| Ok(cell(row.get_ref(0)?).to_string()))?;
        found.collect()
    };
    read().unwrap_or_default()
}

/// The type of a column from its declaration, by SQLite's rules, but dates are text.
fn kind(declared: &str) -> ColumnType {
    let declared = declared.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
    if has(&["INT"]) {
        ColumnType::Integer
    } else if has(&["CHAR", "CLOB", "TEXT", "DATE", "TIME", "BLOB"]) || declared.is_empty() {
        ColumnType::Text
    } else {
        ColumnType::Real
    }
}

fn prefix(table: &Table, stored: &Stored) -> String {
    let document = table.documents.first().map_or("", String::as_str);
    format!("{document}:{}?", stored.shown())
}

/// How rows of this table are cited, for the description.
pub(crate) fn address_shown(table: &Table) -> Option<String> {
    let stored = table.stored.as_ref().filter(|stored| !stored.key.is_empty())?;
    let key: Vec<String> = stored.key.iter().map(|name| format!("{}=…", encoded(name))).collect();
    Some(format!("{}{}", prefix(table, stored), key.join("&")))
}

/// The text of a key, with all digits of a number; results round them.
fn key_text(cell: &Cell) -> String {
    if let Cell::Real(number) = cell { number.to_string() } else { cell.to_string() }
}

fn encoded(text: &str) -> String {
    percent_encoded(text, |c| c.is_alphanumeric() || "-_.@/+".contains(c))
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((percent_decoded(name)?, percent_decoded(value)?))
}

/// A name as written in a query, quoted if necessary.
pub(crate) fn plain(name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_plain = name.chars().all(is_word)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && !is_keyword(name);
    if is_plain { name.to_owned() } else { quoted(name) }
}

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
