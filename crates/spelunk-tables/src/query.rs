//! Queries: one read-only statement with bounded work, on tables in memory and attached databases alike.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode};
use spelunk_context::{QueryWatch, redact};

use crate::{ROW_DOCUMENT, ROW_LINE, Table, Tables, functions};

const SQL_BYTES_MAX: usize = 10_000;
const VALUE_BYTES_MAX: i32 = 1_000_000;
const EXPRESSION_DEPTH_MAX: i32 = 100;
const COMPOUND_MAX: i32 = 20;
/// SQLite's memory limit in this process: the tables of all runs, and what their queries sort.
const HEAP_BYTES_MAX: u64 = 1 << 30;
/// The most SQLite steps per query (a million rows take ten million), and how often they are checked.
const STEPS_MAX: u64 = 50_000_000;
const STEPS_PER_CHECK: u64 = 100_000;
/// Functions with side effects or random results.
const FORBIDDEN: [&str; 3] = ["load_extension", "random", "randomblob"];
/// A result with more text is cut.
pub(crate) const RESULT_BYTES_MAX: usize = 10_000_000;
pub(crate) const CELL_CHARS_MAX: usize = 2_000;

/// Why a query has no result.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// Rejected, with the reason.
    #[error("{0}")]
    Rejected(String),
    /// It takes too many steps.
    #[error("the query takes too long: read fewer rows, or join on equal columns")]
    TooLong,
    /// It takes too much time.
    #[error(
        "the query takes longer than {ms_max} ms (`limits.query_ms_max`): read fewer rows, or join on equal columns"
    )]
    TooSlow {
        /// The limit.
        ms_max: u64,
    },
    /// It needs too much memory.
    #[error("the query needs too much memory: read fewer rows")]
    TooLarge,
}

impl From<Error> for QueryError {
    fn from(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Self::TooLong,
            Some(ErrorCode::OutOfMemory | ErrorCode::TooBig) => Self::TooLarge,
            Some(ErrorCode::AuthorizationForStatementDenied) => {
                Self::Rejected("only SELECT statements over the tables are allowed".to_owned())
            }
            _ => Self::Rejected(error.to_string()),
        }
    }
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResult {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether there are more rows.
    pub is_cut: bool,
}

/// A cell of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
}

impl Cell {
    fn bytes(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { size_of::<Self>() }
    }
}

impl fmt::Display for Cell {
    /// Numbers have at most six digits after the decimal point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) if *number != 0.0 && number.abs() < 1e-4 => write!(f, "{number:e}"),
            Self::Real(number) => {
                let text = format!("{number:.6}");
                let text = text.trim_end_matches('0').trim_end_matches('.');
                f.write_str(if text == "-0" { "0" } else { text })
            }
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Where a row of a result comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of a document.
    Line(String, u64),
    /// A row of a database, by its address, with its cells.
    Row(String, String),
}

impl QueryResult {
    /// Whether it has no rows, or nothing but empty cells.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().flatten().all(|cell| *cell == Cell::Null)
    }
}

pub(crate) fn connection(steps: &StepsLeft) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = {HEAP_BYTES_MAX}; \
         PRAGMA case_sensitive_like = ON; PRAGMA trusted_schema = OFF;"
    ))?;
    functions::add(&connection)?;
    steps.watch(&mut connection)?;
    Ok(connection)
}

/// The steps and the time that the current statement has left.
#[derive(Clone, Default)]
pub(crate) struct StepsLeft(Arc<Mutex<Option<Allowed>>>);

struct Allowed {
    steps: u64,
    /// `None` if there is no time limit.
    until: Option<Instant>,
    watch: QueryWatch,
}

impl Allowed {
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }
}

impl StepsLeft {
    pub(crate) fn allow(&self, steps: u64, watch: &QueryWatch) {
        let until = Instant::now().checked_add(Duration::from_millis(watch.ms_max));
        *self.lock() = Some(Allowed { steps, until, watch: watch.clone() });
    }

    /// The limit in milliseconds, if the time is up.
    fn time_over(&self) -> Option<u64> {
        let allowed = self.lock();
        allowed.as_ref().filter(|allowed| allowed.is_late()).map(|allowed| allowed.watch.ms_max)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Allowed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to interrupt the statement. No limit is set while the tables are created.
    fn is_over(&self) -> bool {
        let mut allowed = self.lock();
        let Some(allowed) = allowed.as_mut() else { return false };
        let left = allowed.steps.checked_sub(STEPS_PER_CHECK);
        allowed.steps = left.unwrap_or_default();
        left.is_none() || allowed.is_late() || allowed.watch.is_abandoned()
    }

    fn watch(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let left = self.clone();
        let check = move || left.is_over();
        let per_check = i32::try_from(STEPS_PER_CHECK).unwrap_or(i32::MAX);
        connection.progress_handler(per_check, Some(check))
    }
}

pub(crate) fn forbid_writing(connection: &mut Connection) -> rusqlite::Result<()> {
    for (limit, max) in [
        (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_DEPTH_MAX),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, COMPOUND_MAX),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
    ] {
        connection.set_limit(limit, max)?;
    }
    connection.authorizer(Some(|context: AuthContext<'_>| {
        let is_function = matches!(context.action, AuthAction::Function { function_name } if !FORBIDDEN.contains(&function_name));
        let is_reading =
            matches!(context.action, AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive);
        if is_reading || is_function { Authorization::Allow } else { Authorization::Deny }
    }))
}

impl Table {
    /// Its name without a schema, as it appears among the words of a clause.
    fn name_in_clause(&self) -> &str {
        self.stored.as_ref().map_or(&self.name, |stored| &stored.table)
    }
}

impl Tables {
    /// Runs one statement. A result of more than `rows_max` rows is cut.
    pub fn query(&mut self, sql: &str, rows_max: usize) -> Result<QueryResult, QueryError> {
        if sql.len() > SQL_BYTES_MAX {
            return Err(QueryError::Rejected(format!("the query is longer than {SQL_BYTES_MAX} bytes")));
        }
        if let Some(server) = self.server_of(sql)? {
            return self.query_server(server, sql, rows_max);
        }
        // It differs when a run is resumed.
        let lower = sql.to_lowercase();
        if ["'now'", "\"now\"", "current_date", "current_time"].iter().any(|word| lower.contains(word)) {
            return Err(QueryError::Rejected("the current time is not available".to_owned()));
        }
        // Results of databases are recorded, so a clock may bound the work.
        let steps_max = if self.have_databases() { u64::MAX } else { STEPS_MAX };
        self.steps.allow(steps_max, &self.watch);
        let ran = self.query_here(sql, rows_max);
        match self.steps.time_over() {
            Some(ms_max) if matches!(ran, Err(QueryError::TooLong)) => Err(QueryError::TooSlow { ms_max }),
            Some(_) | None => ran,
        }
    }

    fn query_here(&self, sql: &str, rows_max: usize) -> Result<QueryResult, QueryError> {
        let mut statement = self.connection.prepare(sql)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let (mut rows, mut n_bytes, mut is_cut) = (Vec::new(), 0, false);
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            is_cut = rows.len() >= rows_max || n_bytes > RESULT_BYTES_MAX;
            if is_cut {
                break;
            }
            let cells = (0..columns.len()).map(|idx| Ok(cell(row.get_ref(idx)?)));
            let mut cells = cells.collect::<rusqlite::Result<Vec<_>>>()?;
            self.redact(&columns, &mut cells);
            n_bytes += cells.iter().map(Cell::bytes).sum::<usize>();
            rows.push(cells);
        }
        Ok(QueryResult { columns, rows, is_cut })
    }

    /// Redacts the cells of a row.
    pub(crate) fn redact(&self, columns: &[String], cells: &mut [Cell]) {
        for (name, cell) in columns.iter().zip(cells).filter(|_| self.redacts) {
            *cell = redacted(name, std::mem::replace(cell, Cell::Null));
        }
    }

    /// The first rows that a query reads from its first table, if they can be determined.
    pub fn source_rows(&mut self, sql: &str, n_max: usize) -> Vec<Place> {
        let Some(tail) = from_clause(sql) else { return Vec::new() };
        let words: Vec<&str> = outer_words(tail).into_iter().map(|(_, word)| word).collect();
        let named = |before: &str, word: &str| {
            let mut same = self.all.iter().filter(|table| table.name_in_clause().eq_ignore_ascii_case(word));
            let first = same.clone().next();
            same.find(|table| table.is_in(before)).or(first)
        };
        // The word before the first one is `FROM`.
        let Some(table) = words.windows(2).find_map(|pair| named(pair[0], pair[1])).cloned() else {
            return Vec::new();
        };
        let first = table.name_in_clause();
        let alias = alias_of(tail, first).unwrap_or(first);
        if table.stored.is_some() {
            let addresses = self.addresses(&table, alias, tail, n_max);
            let rows = addresses.iter().filter_map(|address| self.row(address));
            return rows.map(|(address, cells)| Place::Row(address, cells)).collect();
        }
        let rows =
            format!("SELECT \"{alias}\".\"{ROW_DOCUMENT}\", \"{alias}\".\"{ROW_LINE}\" {tail} LIMIT {n_max}");
        let Ok(result) = self.query(&rows, n_max) else { return Vec::new() };
        let place = |row: Vec<Cell>| match <[Cell; 2]>::try_from(row) {
            Ok([Cell::Text(document), Cell::Integer(line)]) => {
                Some(Place::Line(document, u64::try_from(line).ok()?))
            }
            Ok(_) | Err(_) => None,
        };
        result.rows.into_iter().filter_map(place).collect()
    }

    /// The text literals of a query that are not a value of any column.
    pub fn unknown_literals(&mut self, sql: &str) -> Vec<String> {
        // A table that is too large to count is too large to search.
        if self.all.iter().any(|table| !table.is_counted && table.n_rows > 0) {
            return Vec::new();
        }
        let literals = literals(sql);
        let columns: Vec<(String, String)> = self
            .all
            .iter()
            .filter(|table| table.is_counted)
            .flat_map(|table| table.columns.iter().map(|column| (table.name.clone(), column.name.clone())))
            .collect();
        let mut unknown = Vec::new();
        for literal in
            literals.into_iter().filter(|literal| !literal.contains(['%', '_']) && !literal.is_empty())
        {
            let quoted = literal.replace('\'', "''");
            let mut is_value = |(table, column): &(String, String)| {
                let sql = format!("SELECT 1 FROM {table} WHERE {column} = '{quoted}' LIMIT 1");
                self.query(&sql, 1).is_ok_and(|result| !result.rows.is_empty())
            };
            if !columns.iter().any(&mut is_value) {
                unknown.push(literal);
            }
        }
        unknown
    }
}

pub(crate) fn cell(value: ValueRef<'_>) -> Cell {
    let short = |text: &str| text.chars().take(CELL_CHARS_MAX).collect();
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) => Cell::Text(short(&String::from_utf8_lossy(bytes))),
        ValueRef::Blob(bytes) => match str::from_utf8(bytes) {
            Ok(text) => Cell::Text(short(text)),
            Err(_) => Cell::Text(format!("({} bytes)", bytes.len())),
        },
    }
}

/// Redacts a cell. The name of its column reveals some secrets: `password`.
pub(crate) fn redacted(name: &str, cell: Cell) -> Cell {
    let Cell::Text(text) = cell else { return cell };
    let before = format!("{name}=");
    let line = format!("{before}{text}");
    let clean = redact(&line).0;
    Cell::Text(match clean.strip_prefix(before.as_str()) {
        Some(value) => value.to_owned(),
        None => redact(&text).0.into_owned(),
    })
}

/// The words of a statement outside of quotes and brackets, with their offsets.
fn outer_words(sql: &str) -> Vec<(usize, &str)> {
    let (mut words, mut depth, mut quote, mut start) = (Vec::new(), 0_i32, None, None);
    for (idx, c) in sql.char_indices().chain([(sql.len(), ' ')]) {
        let is_word = quote.is_none() && (c.is_alphanumeric() || c == '_');
        match (is_word, start) {
            (true, None) => start = Some(idx),
            (false, Some(from)) => {
                if depth == 0 {
                    words.push((from, sql.get(from..idx).unwrap_or_default()));
                }
                start = None;
            }
            _ => {}
        }
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            _ => {}
        }
    }
    words
}

/// The `FROM … WHERE …` part of a statement.
fn from_clause(sql: &str) -> Option<&str> {
    let words = outer_words(sql);
    let is = |word: &str, names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    let start = words.iter().find(|(_, word)| is(word, &["from"]))?.0;
    let ends = ["group", "order", "limit", "having", "union", "except", "intersect", "window"];
    let end = words.iter().find(|(at, word)| *at > start && is(word, &ends)).map_or(sql.len(), |(at, _)| *at);
    sql.get(start..end).map(|tail| tail.trim().trim_end_matches(';'))
}

/// The alias of a table in a FROM clause: `FROM orders AS o`, `FROM orders o`.
fn alias_of<'t>(tail: &'t str, table: &str) -> Option<&'t str> {
    let words = outer_words(tail);
    let at = words.iter().position(|(_, word)| word.eq_ignore_ascii_case(table))?;
    let (_, next) = words.get(at + 1)?;
    let next = if next.eq_ignore_ascii_case("as") { words.get(at + 2)?.1 } else { next };
    let is_clause =
        ["where", "join", "inner", "left", "cross", "on", "natural", "full", "right", "outer", "using"];
    let is_plain = !is_clause.iter().any(|word| word.eq_ignore_ascii_case(next));
    is_plain.then_some(next)
}

fn literals(sql: &str) -> Vec<String> {
    sql.replace("''", "\u{0}")
        .split('\'')
        .skip(1)
        .step_by(2)
        .map(|literal| literal.replace('\u{0}', "'"))
        .collect()
}
