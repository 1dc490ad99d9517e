//! Tables: the rows of documents (CSV, JSON, logs) as SQLite tables in memory, the user's SQLite files, the tables of
//! database servers, and read-only queries over them.
//!
//! Documents, files and queries are hostile. Cells are bound as parameters and never become part of a statement; a
//! query may only read tables and call functions; its work, its text and its result are bounded.

mod column;
mod database;
mod describe;
mod functions;
mod query;
mod server;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params_from_iter};
use spelunk_context::{
    Database, DocEntry, QueryWatch, RowTable, ServerHandle, SourceError, View, distrust_schemas,
};

pub use self::column::{Column, ColumnType};
use self::column::{cell_value, unique_name};
use self::database::Stored;
use self::query::StepsLeft;
pub use self::query::{Cell, Place, QueryError, QueryResult};

/// The most tables of one view; others are ignored.
const TABLES_MAX: usize = 50;

/// The tables of a view.
pub struct Tables {
    connection: Connection,
    steps: StepsLeft,
    all: Vec<Table>,
    others: Vec<String>,
    databases: Vec<String>,
    servers: Vec<ServerHandle>,
    watch: QueryWatch,
    /// The error of a server that failed, until `take_lost`.
    lost: Option<SourceError>,
    /// Whether secrets in values of databases are replaced. Those of documents were replaced when they were read.
    redacts: bool,
}

/// Documents with the same columns, as one table.
#[derive(Debug, Clone)]
pub struct Table {
    /// The name in queries.
    pub name: String,
    /// The documents that its rows come from.
    pub documents: Vec<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The number of rows.
    pub n_rows: u64,
    /// Lines that should be rows but are invalid.
    pub n_broken: u64,
    /// Whether `n_rows` is exact: large tables of databases are not counted.
    pub is_counted: bool,
    pub(crate) about: Option<String>,
    stored: Option<Stored>,
}

impl Tables {
    /// A view's tables, or `None`; above `bytes_max` only its databases. Fails if a server cannot be used.
    pub fn of(view: &View, bytes_max: u64, watch: &QueryWatch) -> Result<Option<Self>, SourceError> {
        let Some(mut tables) = Self::on_this_machine(view, bytes_max, watch) else { return Ok(None) };
        for document in view.documents() {
            if let Some(Database::Server(server)) = &document.database {
                tables.add_server(document, server)?;
            }
        }
        Ok((!tables.all.is_empty()).then_some(tables))
    }

    fn on_this_machine(view: &View, bytes_max: u64, watch: &QueryWatch) -> Option<Self> {
        let has_rows = |document: &&DocEntry| document.database.is_none() && view.bytes() <= bytes_max;
        let (mut groups, mut others): (BTreeMap<Vec<String>, Vec<RowTable>>, Vec<String>) =
            Default::default();
        for document in view.documents().filter(has_rows) {
            let alone = view.only([document.idx]);
            match RowTable::of(&alone, bytes_max) {
                Some(rows) => groups.entry(rows.columns().to_vec()).or_default().push(rows),
                None => others.push(document.name.clone()),
            }
        }
        let steps = StepsLeft::default();
        let connection = query::connection(&steps).ok()?;
        let (all, databases, servers) = Default::default();
        let watch = watch.clone();
        let mut tables =
            Self { connection, steps, all, others, databases, servers, watch, lost: None, redacts: false };
        for (names, group) in groups {
            if tables.all.len() < TABLES_MAX {
                tables.add(&names, &group).ok()?;
            } else {
                tables
                    .others
                    .extend(group.iter().filter_map(|rows| rows.place(0)).map(|(name, _)| name.to_owned()));
            }
        }
        distrust_schemas(&tables.connection).ok()?;
        for document in view.documents() {
            if let Some(Database::File(path)) = &document.database {
                tables.attach(document, path);
            }
        }
        query::forbid_writing(&mut tables.connection).ok()?;
        Some(tables)
    }

    /// The tables of the databases of a view; `None` if there are none.
    pub fn of_databases(view: &View, watch: &QueryWatch) -> Result<Option<Self>, SourceError> {
        Self::of(&view.narrow(|document| document.database.is_some()), 0, watch)
    }

    /// Sets the time limit of the next queries.
    pub fn watch(&mut self, watch: &QueryWatch) {
        self.watch = watch.clone();
    }

    /// The error of a server that failed since the last call; what was found since then is incomplete.
    pub fn take_lost(&mut self) -> Option<SourceError> {
        self.lost.take()
    }

    /// Whether a database is among them.
    pub fn have_databases(&self) -> bool {
        !self.databases.is_empty() || !self.servers.is_empty()
    }

    /// Whether half of the view's text is rows, or it has a database; prose with one JSON file does
    /// not count.
    pub fn are_most_of(&self, view: &View) -> bool {
        if self.have_databases() {
            return true;
        }
        let in_tables = |name: &str| !self.others.iter().any(|other| other == name);
        let documents = view.documents().filter(|document| in_tables(&document.name));
        documents.map(|document| document.bytes).sum::<u64>() * 2 >= view.bytes()
    }

    /// The tables, sorted by their columns.
    pub fn tables(&self) -> &[Table] {
        &self.all
    }

    /// Documents that are not tables.
    pub fn others(&self) -> &[String] {
        &self.others
    }

    fn add(&mut self, names: &[String], group: &[RowTable]) -> rusqlite::Result<()> {
        let documents: Vec<String> =
            group.iter().filter_map(|rows| rows.place(0)).map(|(name, _)| name.to_owned()).collect();
        let name = self.table_name(&documents);
        let mut taken: BTreeSet<String> = [ROW_DOCUMENT, ROW_LINE].map(str::to_owned).into();
        let has_files = documents.len() > 1;
        let mut columns: Vec<Column> = Vec::new();
        if has_files {
            taken.insert(RowTable::FILE.to_owned());
            columns.push(Column::files(&documents));
        }
        for (idx, original) in names.iter().enumerate() {
            let values = || group.iter().flat_map(move |rows| rows.values(idx));
            columns.push(Column::of(unique_name(original, &mut taken), original.clone(), values));
        }
        let listed: Vec<String> =
            columns.iter().map(|column| format!("\"{}\" {}", column.name, column.kind.sql())).collect();
        self.connection.execute_batch(&format!(
            "CREATE TABLE \"{name}\" ({}, \"{ROW_DOCUMENT}\" TEXT, \"{ROW_LINE}\" INTEGER)",
            listed.join(", ")
        ))?;
        let marks = vec!["?"; columns.len() + 2].join(", ");
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare(&format!("INSERT INTO \"{name}\" VALUES ({marks})"))?;
            for rows in group {
                for row in 0..rows.len() {
                    let Some((document, line)) = rows.place(row) else { continue };
                    let file = has_files.then(|| cell_value(Some(document), ColumnType::Text));
                    let kinds = columns.iter().skip(usize::from(has_files)).map(|column| column.kind);
                    let cells = kinds.enumerate().map(|(idx, kind)| cell_value(rows.cell(row, idx), kind));
                    let place = [
                        cell_value(Some(document), ColumnType::Text),
                        i64::try_from(line).unwrap_or(i64::MAX).into(),
                    ];
                    insert.execute(params_from_iter(file.into_iter().chain(cells).chain(place)))?;
                }
            }
        }
        transaction.commit()?;
        let n_rows = group.iter().map(|rows| rows.len() as u64).sum();
        let n_broken = group.iter().map(|rows| rows.n_broken() as u64).sum();
        let (is_counted, about, stored) = (true, None, None);
        self.all.push(Table { name, documents, columns, n_rows, n_broken, is_counted, about, stored });
        Ok(())
    }

    /// The name of a table: that of its document, or of the folder of its documents.
    fn table_name(&self, documents: &[String]) -> String {
        let mut taken: BTreeSet<String> = self.all.iter().map(|table| table.name.clone()).collect();
        let name = match documents {
            [only] => only.rsplit('/').next().and_then(|file| file.split('.').find(|part| !part.is_empty())),
            _ => documents.first().and_then(|first| first.rsplit('/').nth(1)),
        };
        unique_name(name.unwrap_or("rows"), &mut taken)
    }
}

/// Hidden columns: the document and the line of a row, for citations.
const ROW_DOCUMENT: &str = "_document";
const ROW_LINE: &str = "_line";

#[cfg(test)]
mod tests;
