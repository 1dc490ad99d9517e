//! SQLite databases: a file becomes a document that describes its tables, with their first rows. The file is
//! hostile and may be in use: it is opened read-only, nothing is created next to it, and work and output are
//! bounded. It is read in this process, with the settings that SQLite recommends for untrusted files.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use spelunk_fs::open_to_read;

use super::ExtractError;
use crate::name;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The write and read versions in the header, and their value for a write-ahead log; one of them suffices.
const VERSIONS_AT: std::ops::Range<usize> = 18..20;
const WRITE_AHEAD: u8 = 2;

const TABLES_MAX: usize = 200;
const SCHEMA_CHARS_MAX: usize = 4_000;
const ROWS_SHOWN: usize = 3;
const CELLS_SHOWN_MAX: usize = 40;
const CELL_CHARS_MAX: usize = 80;
/// A larger value is not read: a column that is computed may claim any size.
const VALUE_BYTES_MAX: i32 = 16_000_000;
const TEXT_BYTES_MAX: usize = 200_000;
/// The most steps of SQLite's virtual machine for one description, and how often they are checked.
const STEPS_MAX: u64 = 10_000_000;
const STEPS_PER_CHECK: i32 = 10_000;

pub(crate) fn is_sqlite(file: &File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

/// The URI by which SQLite opens a database read-only without creating a file beside it.
///
/// A reader of a write-ahead log needs the shared memory of the program that writes it. If no program does, the log is
/// empty and the file does not change; if a log is left over from a crash, only a writer may apply it.
pub fn sqlite_uri(path: &Path) -> Result<String, ExtractError> {
    let mut head = Vec::new();
    let read = open_to_read(path).and_then(|file| file.take(VERSIONS_AT.end as u64).read_to_end(&mut head));
    read.map_err(|error| ExtractError::InUse { what: error.to_string() })?;
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name).symlink_metadata().ok()
    };
    let is_write_ahead = head.get(VERSIONS_AT).is_some_and(|versions| versions.contains(&WRITE_AHEAD));
    let immutable = if !is_write_ahead || beside("-shm").is_some() {
        ""
    } else if beside("-wal").is_some_and(|log| log.len() > 0) {
        return Err(ExtractError::InUse { what: "its last changes are in a write-ahead log".to_owned() });
    } else {
        "&immutable=1"
    };
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    Ok(uri + "?mode=ro" + immutable)
}

/// Settings for reading untrusted files: their schemas can neither call functions with side effects
/// nor rewrite themselves, values are bounded, and damaged pages are detected.
pub fn distrust_schemas(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON;",
    )
}

pub(crate) fn describe(path: &Path) -> Result<String, ExtractError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(sqlite_uri(path)?, flags).map_err(|error| of_sqlite(&error))?;
    distrust_schemas(&connection).map_err(|error| of_sqlite(&error))?;
    limit_steps(&mut connection).map_err(|error| of_sqlite(&error))?;
    let tables = tables(&connection).map_err(|error| of_sqlite(&error))?;
    if tables.is_empty() {
        return Err(ExtractError::NoText);
    }
    let mut text = String::from("SQLite database\n");
    for (name, sql) in &tables {
        let _ = write!(text, "\n{}\n", name::shortened(&printable(sql), SCHEMA_CHARS_MAX));
        let is_plain = sql.trim_start().to_ascii_uppercase().starts_with("CREATE TABLE");
        // A table that cannot be read is described without rows; a query will say why.
        if let Some(rows) = is_plain.then(|| first_rows(&connection, name)).and_then(Result::ok) {
            text.extend(rows.iter().map(|row| format!("-- row: {row}\n")));
        }
        if text.len() > TEXT_BYTES_MAX {
            text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
            text.push_str("\n-- and more\n");
            break;
        }
    }
    Ok(text)
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(&format!(
        "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' \
         ESCAPE '\\' AND sql IS NOT NULL ORDER BY name LIMIT {TABLES_MAX}"
    ))?;
    let text =
        |value: ValueRef<'_>| String::from_utf8_lossy(value.as_bytes().unwrap_or_default()).into_owned();
    let found = statement.query_map([], |row| Ok((text(row.get_ref(0)?), text(row.get_ref(1)?))))?;
    found.collect()
}

fn first_rows(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let name = table.replace('"', "\"\"");
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{name}\" LIMIT {ROWS_SHOWN}"))?;
    let n_columns = statement.column_count().min(CELLS_SHOWN_MAX);
    let rows = statement.query_map([], |row| {
        let cells = (0..n_columns).map(|idx| Ok(cell(row.get_ref(idx)?)));
        Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join(" | "))
    })?;
    rows.collect()
}

fn limit_steps(connection: &mut Connection) -> rusqlite::Result<()> {
    let steps = AtomicU64::new(0);
    let per_check = u64::from(STEPS_PER_CHECK.unsigned_abs());
    let check = move || steps.fetch_add(per_check, Ordering::Relaxed) >= STEPS_MAX;
    connection.progress_handler(STEPS_PER_CHECK, Some(check))
}

fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(CELL_CHARS_MAX * 4)]).into_owned();
            name::shortened(&printable(&text).replace('\n', " "), CELL_CHARS_MAX)
        }
        ValueRef::Blob(bytes) => format!("({} bytes)", bytes.len()),
    }
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

fn of_sqlite(error: &rusqlite::Error) -> ExtractError {
    let what = name::shortened(&name::printable_text(&error.to_string()), 200);
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly | ErrorCode::CannotOpen,
        ) => ExtractError::InUse { what },
        Some(ErrorCode::OperationInterrupted) => ExtractError::TooSlow,
        _ => ExtractError::Damaged { what },
    }
}

#[cfg(test)]
mod tests;
