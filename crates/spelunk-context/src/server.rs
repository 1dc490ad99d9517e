//! The user's database servers as sources: the interface to such a server, and the document that describes
//! its tables. Connections are opened elsewhere. Replies are hostile, and the caller bounds them.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::name;

const COLUMNS_MAX: usize = 5_000;
const CATALOG_BYTES_MAX: usize = 4_000_000;
const COMMENT_CHARS_MAX: usize = 300;
const TEXT_BYTES_MAX: usize = 200_000;

/// A database server that the user named.
pub trait DatabaseServer: fmt::Debug + Send + Sync {
    /// The name of the database, which is that of its document.
    fn name(&self) -> &str;

    /// Its address without the password.
    fn url(&self) -> &str;

    /// Runs statements, each alone and read-only, over one connection. Blocking.
    fn query(
        &self,
        statements: &[String],
        bounds: &ServerBounds,
        watch: &QueryWatch,
    ) -> Result<Vec<Result<ServerRows, ServerError>>, ServerError>;
}

/// How long a query may take, and whether its result is still wanted.
#[derive(Debug, Clone)]
pub struct QueryWatch {
    /// The maximum duration of one query.
    pub ms_max: u64,
    /// Set when the result is no longer needed.
    pub is_abandoned: Arc<AtomicBool>,
}

impl QueryWatch {
    /// A watch that is never cancelled.
    pub fn of_ms(ms_max: u64) -> Self {
        Self { ms_max, is_abandoned: Arc::default() }
    }

    /// Whether the result is no longer needed.
    pub fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed)
    }
}

/// The limits of a result.
#[derive(Debug, Clone, Copy)]
pub struct ServerBounds {
    /// The most rows; a result with more is cut.
    pub rows_max: usize,
    /// Bytes of all cells.
    pub bytes_max: usize,
    /// Characters of a cell; longer ones are cut by the server.
    pub cell_chars_max: usize,
}

/// The result of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerRows {
    /// Its columns.
    pub columns: Vec<ServerColumn>,
    /// Its rows; `None` for an empty cell.
    pub rows: Vec<Vec<Option<String>>>,
    /// Whether there are more rows.
    pub is_cut: bool,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerColumn {
    /// Its name.
    pub name: String,
    /// Whether its cells are numbers.
    pub is_number: bool,
}

/// Why a statement has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ServerError {
    #[error("{0}")]
    Rejected(String),
    #[error("it took too long")]
    TooLong,
    #[error("{why}")]
    Unusable { why: String, hint: &'static str },
}

/// A shared [`DatabaseServer`]. Two are equal if they have the same address.
pub type ServerHandle = Arc<dyn DatabaseServer>;

impl PartialEq for dyn DatabaseServer {
    fn eq(&self, other: &Self) -> bool {
        self.url() == other.url()
    }
}

impl Eq for dyn DatabaseServer {}

/// A table or view of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTable {
    /// The schema that contains it.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub is_view: bool,
    /// Whether statements may omit the schema.
    pub is_visible: bool,
    /// The number of rows, estimated by the server.
    pub n_rows: Option<u64>,
    /// Its comment in the database.
    pub comment: Option<String>,
    /// Its columns: name, type and comment.
    pub columns: Vec<(String, String, Option<String>)>,
    /// The columns of its primary key.
    pub key: Vec<String>,
}

/// The columns of all tables that the account may read, in a fixed order.
const CATALOG: &str = "SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), pg_catalog.pg_table_is_visible(c.oid), \
    c.reltuples::bigint, pg_catalog.obj_description(c.oid, 'pg_class'), a.attname, \
    pg_catalog.format_type(a.atttypid, a.atttypmod), pg_catalog.col_description(c.oid, a.attnum), \
    pg_catalog.array_position(i.indkey::int2[], a.attnum) \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' \
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT') \
    ORDER BY n.nspname, c.relname, a.attnum";

impl dyn DatabaseServer {
    /// The tables of the database that the account may read.
    pub fn catalog(&self, watch: &QueryWatch) -> Result<Vec<ServerTable>, ServerError> {
        let bounds = ServerBounds {
            rows_max: COLUMNS_MAX,
            bytes_max: CATALOG_BYTES_MAX,
            cell_chars_max: COMMENT_CHARS_MAX,
        };
        let answers = self.query(&[CATALOG.to_owned()], &bounds, watch)?;
        let rows = answers.into_iter().next().transpose()?.unwrap_or_default();
        let mut tables: Vec<ServerTable> = Vec::new();
        let mut key: Vec<(i64, String)> = Vec::new();
        for row in rows.rows {
            let Ok([schema, table, is_view, is_visible, n_rows, comment, column, kind, about, position]) =
                <[Option<String>; 10]>::try_from(row)
            else {
                continue;
            };
            let (schema, table) = (schema.unwrap_or_default(), table.unwrap_or_default());
            let column = column.unwrap_or_default();
            // A name with control characters cannot be shown on a line or written in a query.
            if [&schema, &table, &column].into_iter().any(|name| name.contains(char::is_control)) {
                continue;
            }
            let is_same = tables.last().is_some_and(|last| last.schema == schema && last.name == table);
            if !is_same {
                key.clear();
                tables.push(ServerTable {
                    schema,
                    name: table,
                    is_view: is_view.as_deref() == Some("true"),
                    is_visible: is_visible.as_deref() == Some("true"),
                    n_rows: n_rows.and_then(|n_rows| n_rows.parse().ok()),
                    comment,
                    columns: Vec::new(),
                    key: Vec::new(),
                });
            }
            let Some(table) = tables.last_mut() else { continue };
            if let Some(position) = position.and_then(|position| position.parse().ok()) {
                key.push((position, column.clone()));
                key.sort();
                table.key = key.iter().map(|(_, name)| name.clone()).collect();
            }
            table.columns.push((column, kind.unwrap_or_default(), about));
        }
        Ok(tables)
    }

    /// Describes the database without rows and counts, which change: a changed document is another source.
    pub(crate) fn describe(&self, watch: &QueryWatch) -> Result<String, ServerError> {
        let tables = self.catalog(watch)?;
        let mut text = format!("PostgreSQL database {}\n", one_line(self.name()));
        for table in &tables {
            let what = if table.is_view { "VIEW" } else { "TABLE" };
            let name = if table.is_visible {
                quoted(&table.name)
            } else {
                format!("{}.{}", quoted(&table.schema), quoted(&table.name))
            };
            let _ = writeln!(text, "\nCREATE {what} {name} ({}", comment(table.comment.as_deref()));
            for (column, kind, about) in &table.columns {
                let _ =
                    writeln!(text, "  {} {},{}", quoted(column), one_line(kind), comment(about.as_deref()));
            }
            if !table.key.is_empty() {
                let key: Vec<String> = table.key.iter().map(|column| quoted(column)).collect();
                let _ = writeln!(text, "  PRIMARY KEY ({})", key.join(", "));
            }
            text.push_str(");\n");
            if text.len() > TEXT_BYTES_MAX {
                text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
                text.push_str("\n-- and more\n");
                break;
            }
        }
        if tables.is_empty() {
            let (why, hint) = (
                "it has no tables that this account may read".to_owned(),
                "name another database or another user",
            );
            return Err(ServerError::Unusable { why, hint });
        }
        Ok(text)
    }
}

/// A name in SQL, quoted unless it is plain lower case.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn comment(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(" -- {}", one_line(text)))
}

fn one_line(text: &str) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    name::shortened(&shown, COMMENT_CHARS_MAX)
}
