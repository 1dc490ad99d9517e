//! Tables of database servers, which run queries themselves. A query reads one database, known by its tables.

use std::collections::BTreeSet;

use spelunk_context::{
    DocEntry, ServerBounds, ServerError, ServerHandle, ServerRows, ServerTable, SourceError,
};

use crate::column::FEW_MAX;
use crate::database::{OnServer, Stored, plain, quoted};
use crate::query::{CELL_CHARS_MAX, RESULT_BYTES_MAX, redacted};
use crate::{Cell, Column, ColumnType, QueryError, QueryResult, TABLES_MAX, Table, Tables};

/// How many rows are sampled for values. The sample also counts a smaller table.
const ROWS_SAMPLED: usize = 200;
const SAMPLE_BYTES_MAX: usize = 200_000;
const SAMPLE_CHARS_MAX: usize = 200;
/// Prefixes of functions that reach files, other sessions or other servers, or that run text as a statement. A
/// read-only transaction does not stop them, and the account may be allowed to call them.
const FORBIDDEN: &str = "pg_ lo_ dblink set_config query_to table_to schema_to database_to cursor_to currval nextval \
    setval ts_stat";
const READING: [&str; 4] = ["select", "with", "values", "table"];

impl Tables {
    pub(crate) fn add_server(
        &mut self,
        document: &DocEntry,
        server: &ServerHandle,
    ) -> Result<(), SourceError> {
        let unusable = |error| SourceError::database(server.url(), error);
        let mut listed = server.catalog(&self.watch).map_err(unusable)?;
        listed.truncate(TABLES_MAX.saturating_sub(self.all.len()));
        let idx = self.servers.len();
        let stored = |table: &ServerTable| Stored {
            schema: table.schema.clone(),
            table: table.name.clone(),
            key: if table.is_view { Vec::new() } else { table.key.clone() },
            server: Some(OnServer { idx, is_visible: table.is_visible }),
        };
        let read: Vec<usize> = (0..listed.len()).filter(|&at| !listed[at].is_view).collect();
        let statements: Vec<String> = read
            .iter()
            .map(|&at| format!("SELECT * FROM {} LIMIT {}", stored(&listed[at]).sql(), ROWS_SAMPLED))
            .collect();
        let bounds = ServerBounds {
            rows_max: ROWS_SAMPLED,
            bytes_max: SAMPLE_BYTES_MAX,
            cell_chars_max: SAMPLE_CHARS_MAX,
        };
        let samples = server.query(&statements, &bounds, &self.watch).map_err(unusable)?;
        // A table that cannot be read is described without values; a query will say why.
        let mut samples: Vec<(usize, ServerRows)> =
            read.into_iter().zip(samples).filter_map(|(at, rows)| Some((at, rows.ok()?))).collect();
        for (at, table) in listed.iter().enumerate() {
            let sample =
                samples.iter().position(|(of, _)| *of == at).map(|found| samples.swap_remove(found).1);
            self.all.push(table_of(document, table, stored(table), sample.as_ref()));
        }
        self.servers.push(server.clone());
        self.redacts |= document.redacts;
        Ok(())
    }

    /// The server that a statement is for; `None` if SQLite runs it.
    pub(crate) fn server_of(&self, sql: &str) -> Result<Option<usize>, QueryError> {
        if self.servers.is_empty() {
            return Ok(None);
        }
        // Outside of text literals.
        let words = words(&sql.split('\'').step_by(2).collect::<Vec<_>>().join(" "));
        let has = |name: &str| words.contains(&name.to_lowercase());
        let is_named = |table: &&Table| match &table.stored {
            Some(stored) => has(&stored.table),
            None => has(&table.name),
        };
        // If several databases have a table of this name, the one named with its schema is meant.
        let is_qualified = |table: &&Table| table.stored.as_ref().is_some_and(|stored| has(&stored.schema));
        let named: Vec<&Table> = self.all.iter().filter(is_named).collect();
        let mut places: BTreeSet<Option<usize>> = named.iter().map(|table| table.server()).collect();
        if places.len() > 1 {
            let qualified: BTreeSet<Option<usize>> =
                named.iter().copied().filter(is_qualified).map(Table::server).collect();
            places = if qualified.len() == 1 { qualified } else { places };
        }
        match (places.len(), places.first()) {
            (1, Some(place)) => Ok(*place),
            (0, _) if self.servers.len() == 1 && self.all.iter().all(|table| table.server().is_some()) => {
                Ok(Some(0))
            }
            (0, _) => Ok(None),
            _ => Err(QueryError::Rejected(
                "a query reads one database, and these tables are in several: write one query for each, and name tables \
                 with their schema"
                    .to_owned(),
            )),
        }
    }

    pub(crate) fn query_server(
        &mut self,
        server: usize,
        sql: &str,
        rows_max: usize,
    ) -> Result<QueryResult, QueryError> {
        let rejected = |message: String| Err(QueryError::Rejected(message));
        if let Some(word) = forbidden(sql) {
            return rejected(format!("`{word}` is not allowed: only SELECT statements over the tables are"));
        }
        let sql = sql.trim().trim_end_matches(';').to_owned();
        let first = sql.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        if !first.is_some_and(|word| READING.iter().any(|known| known.eq_ignore_ascii_case(word))) {
            return rejected("only SELECT statements over the tables are allowed".to_owned());
        }
        let rows = self.ask(server, sql, rows_max)?;
        let columns: Vec<String> = rows.columns.iter().map(|column| column.name.clone()).collect();
        let is_cut = rows.is_cut;
        let mut cells = cells(rows);
        for row in &mut cells {
            self.redact(&columns, row);
        }
        Ok(QueryResult { columns, rows: cells, is_cut })
    }

    pub(crate) fn server_row(
        &mut self,
        server: usize,
        stored: &Stored,
        key: &[(String, String)],
    ) -> Option<String> {
        let equal =
            |(name, value): &(String, String)| format!("{} = '{}'", quoted(name), value.replace('\'', "''"));
        if key.iter().any(|(_, value)| value.contains(['\\', '\0'])) {
            return None;
        }
        let wanted: Vec<String> = key.iter().map(equal).collect();
        let sql = format!("SELECT * FROM {} WHERE {} LIMIT 1", stored.sql(), wanted.join(" AND "));
        let rows = self.ask(server, sql, 1).ok()?;
        let names: Vec<String> = rows.columns.iter().map(|column| column.name.clone()).collect();
        Some(self.named(&names, cells(rows).into_iter().next()?))
    }

    fn ask(&mut self, server: usize, sql: String, rows_max: usize) -> Result<ServerRows, QueryError> {
        let bounds = ServerBounds { rows_max, bytes_max: RESULT_BYTES_MAX, cell_chars_max: CELL_CHARS_MAX };
        let gone = || QueryError::Rejected("the database cannot be used now".to_owned());
        let Some(server) = self.servers.get(server) else { return Err(gone()) };
        let asked = server.query(&[sql], &bounds, &self.watch);
        match asked
            .and_then(|answers| answers.into_iter().next().unwrap_or_else(|| Ok(ServerRows::default())))
        {
            Ok(rows) => Ok(rows),
            Err(ServerError::Rejected(message)) => Err(QueryError::Rejected(message)),
            Err(ServerError::TooLong) => Err(QueryError::TooSlow { ms_max: self.watch.ms_max }),
            Err(error @ ServerError::Unusable { .. }) => {
                self.lost = Some(SourceError::database(server.url(), error));
                Err(gone())
            }
        }
    }
}

fn table_of(document: &DocEntry, table: &ServerTable, stored: Stored, sample: Option<&ServerRows>) -> Table {
    let is_whole = sample.is_some_and(|sample| !sample.is_cut && sample.rows.len() < ROWS_SAMPLED);
    let column = |(name, declared, about): &(String, String, Option<String>)| {
        let at = sample.and_then(|sample| sample.columns.iter().position(|column| column.name == *name));
        let mut values: Vec<String> = Vec::new();
        for row in sample.map(|sample| sample.rows.as_slice()).unwrap_or_default() {
            let Some(value) = at.and_then(|at| row.get(at)?.clone()) else { continue };
            let value = if document.redacts { redacted(name, Cell::Text(value)).to_string() } else { value };
            if !values.contains(&value) {
                values.push(value);
            }
            if values.len() > FEW_MAX {
                break;
            }
        }
        let few = (is_whole && values.len() <= FEW_MAX).then(|| values.clone());
        // A sample with few distinct values probably has all of them, so all are shown.
        values.truncate(if values.len() <= FEW_MAX { FEW_MAX } else { Column::EXAMPLES });
        let original = about.as_ref().map_or_else(|| name_in_sql(name), |about| format!("{name}, {about}"));
        Column {
            name: name_in_sql(name),
            original,
            kind: kind(declared),
            few,
            examples: values,
            declared: Some(declared.clone()),
        }
    };
    let name = if table.is_visible {
        name_in_sql(&table.name)
    } else {
        format!("{}.{}", name_in_sql(&table.schema), name_in_sql(&table.name))
    };
    let n_sampled = sample.map_or(0, |sample| sample.rows.len() as u64);
    Table {
        name,
        documents: vec![document.name.clone()],
        columns: table.columns.iter().map(column).collect(),
        n_rows: if is_whole { n_sampled } else { table.n_rows.unwrap_or_default() },
        n_broken: 0,
        is_counted: is_whole,
        about: table.comment.clone(),
        stored: Some(stored),
    }
}

/// A name in SQL for PostgreSQL, which folds unquoted names to lower case.
fn name_in_sql(name: &str) -> String {
    if name.contains(|c: char| c.is_ascii_uppercase()) { quoted(name) } else { plain(name) }
}

fn kind(declared: &str) -> ColumnType {
    match declared {
        "smallint" | "integer" | "bigint" => ColumnType::Integer,
        "real" | "double precision" => ColumnType::Real,
        other if other.starts_with("numeric") => ColumnType::Real,
        _ => ColumnType::Text,
    }
}

/// The cells of a result. A number with more digits than a float has stays text.
fn cells(rows: ServerRows) -> Vec<Vec<Cell>> {
    const FLOAT_DIGITS: usize = 15;
    let ServerRows { columns, rows, .. } = rows;
    let cell = |(at, text): (usize, Option<String>)| {
        let Some(text) = text else { return Cell::Null };
        if !columns.get(at).is_some_and(|column| column.is_number) {
            return Cell::Text(text);
        }
        let is_short = text.bytes().filter(u8::is_ascii_digit).count() <= FLOAT_DIGITS;
        match (text.parse(), text.parse()) {
            (Ok(number), _) => Cell::Integer(number),
            (Err(_), Ok(number)) if is_short && f64::is_finite(number) => Cell::Real(number),
            _ => Cell::Text(text),
        }
    };
    rows.into_iter().map(|row| row.into_iter().enumerate().map(cell).collect()).collect()
}

/// A forbidden word, even in a literal: only the server knows where literals end.
fn forbidden(sql: &str) -> Option<String> {
    let lower = sql.to_lowercase();
    if lower.contains("u&\"") {
        return Some("U&".to_owned());
    }
    let is_forbidden = |word: &&String| FORBIDDEN.split(' ').any(|start| word.starts_with(start));
    words(&lower).iter().find(is_forbidden).cloned()
}

fn words(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
