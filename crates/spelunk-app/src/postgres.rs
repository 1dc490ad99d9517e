//! PostgreSQL as a source: the client for databases that the user names. The server is not trusted: every
//! response is bounded in time, rows and bytes. Each statement runs alone in a read-only transaction.
//!
//! Each request opens its own connection: queries are rare, and a lost or altered connection cannot
//! matter then.

mod address;
mod connection;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use spelunk_context::{
    DatabaseServer, QueryWatch, ServerBounds, ServerColumn, ServerError, ServerHandle, ServerRows,
};
use spelunk_model::deepest_cause;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row, Transaction};

use self::address::Address;
pub use self::address::is_postgres_url;
use self::connection::connect;
use crate::blocking::apart;
use crate::env::Environment;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much longer than the server we wait before we end a statement ourselves.
const GRACE: Duration = Duration::from_secs(2);
/// How often we check whether the result is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const ROWS_AT_ONCE: usize = 100;
const COLUMNS_MAX: usize = 500;
const MESSAGE_CHARS_MAX: usize = 500;

/// A database as a source. The address is checked at its first use.
pub fn database(url: &str, environment: &Environment) -> ServerHandle {
    Arc::new(Postgres { address: Address::read(url, environment) })
}

#[derive(Debug)]
struct Postgres {
    address: Address,
}

impl DatabaseServer for Postgres {
    fn name(&self) -> &str {
        &self.address.name
    }

    fn url(&self) -> &str {
        &self.address.url
    }

    fn query(
        &self,
        statements: &[String],
        bounds: &ServerBounds,
        watch: &QueryWatch,
    ) -> Result<Vec<Result<ServerRows, ServerError>>, ServerError> {
        let asked = apart(|| self.ask(statements, bounds, watch));
        asked.unwrap_or_else(|error| Err(unusable(error.to_string(), "try again")))
    }
}

fn unusable(why: String, hint: &'static str) -> ServerError {
    ServerError::Unusable { why, hint }
}

/// Resolves when the result is no longer needed.
async fn abandoned(watch: &QueryWatch) {
    while !watch.is_abandoned() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

impl Postgres {
    async fn ask(
        &self,
        statements: &[String],
        bounds: &ServerBounds,
        watch: &QueryWatch,
    ) -> Result<Vec<Result<ServerRows, ServerError>>, ServerError> {
        let connected = tokio::select! {
            connected = tokio::time::timeout(CONNECT_TIMEOUT, connect(&self.address)) => connected,
            () = abandoned(watch) => return Err(ServerError::TooLong),
        };
        let late = |_| unusable(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()), REACH_HINT);
        let (mut client, connection, cancelling) = connected.map_err(late)??;
        let cancel = client.cancel_token();
        let asking = async {
            let mut answers = Vec::new();
            for statement in statements {
                let patience = Duration::from_millis(watch.ms_max) + GRACE;
                let asked = tokio::select! {
                    asked = tokio::time::timeout(patience, ask_one(&mut client, statement, bounds, watch)) => asked.ok(),
                    () = abandoned(watch) => None,
                };
                match asked {
                    Some(Err(error)) if error.is_closed() || error.as_db_error().is_none() => {
                        return Err(told(&error));
                    }
                    Some(answer) => answers.push(answer.map_err(|error| told(&error)).flatten()),
                    None => {
                        cancelling.cancel(&cancel).await;
                        return Err(ServerError::TooLong);
                    }
                }
            }
            Ok(answers)
        };
        tokio::select! {
            answers = asking => answers,
            ended = connection => {
                Err(ended.map_or_else(|error| told(&error), |()| unusable("it closed the connection".to_owned(), "try again")))
            }
        }
    }
}

const REACH_HINT: &str = "check the host and the port, and that the server is running";

/// The settings of each connection. A statement cannot change them, because it is alone in its transaction.
fn set_up(watch: &QueryWatch) -> String {
    format!(
        "SET default_transaction_read_only = on; SET statement_timeout = {}; SET standard_conforming_strings = on; \
         SET DateStyle = 'ISO'; SET IntervalStyle = 'iso_8601'; SET client_min_messages = error",
        watch.ms_max.clamp(1, i32::MAX.unsigned_abs().into())
    )
}

/// Runs one statement. It is embedded in our own `SELECT`, with which the server truncates long
/// cells and returns every type as text.
async fn ask_one(
    client: &mut Client,
    sql: &str,
    bounds: &ServerBounds,
    watch: &QueryWatch,
) -> Result<Result<ServerRows, ServerError>, Error> {
    client.batch_execute(&set_up(watch)).await?;
    // From version 14 on, most servers end a statement soon after its client is gone, even if it was killed.
    drop(client.batch_execute("SET client_connection_check_interval = 500").await);
    let transaction = client.build_transaction().read_only(true).start().await?;
    let statement = transaction.prepare(sql).await?;
    if !statement.params().is_empty() {
        return Ok(Err(ServerError::Rejected("write values instead of parameters such as `$1`".to_owned())));
    }
    let columns: Vec<ServerColumn> = statement
        .columns()
        .iter()
        .map(|column| ServerColumn { name: column.name().to_owned(), is_number: is_number(column.type_()) })
        .collect();
    drop(statement);
    let listed = |each: &dyn Fn(usize) -> String| {
        (0..columns.len().min(COLUMNS_MAX)).map(each).collect::<Vec<_>>().join(", ")
    };
    let chars_max = bounds.cell_chars_max;
    let cut = listed(&|idx| format!("pg_catalog.left(c{idx}::text, {chars_max})"));
    let names = (0..columns.len()).map(|idx| format!("c{idx}")).collect::<Vec<_>>().join(", ");
    let whole = format!("SELECT {cut} FROM (\n{sql}\n) AS rows_of_query({names})");
    let mut result = ServerRows { columns, ..ServerRows::default() };
    result.columns.truncate(COLUMNS_MAX);
    fetch(&transaction, &whole, bounds, &mut result).await?;
    Ok(Ok(result))
}

async fn fetch(
    transaction: &Transaction<'_>,
    sql: &str,
    bounds: &ServerBounds,
    result: &mut ServerRows,
) -> Result<(), Error> {
    let statement = transaction.prepare(sql).await?;
    let portal = transaction.bind(&statement, &[]).await?;
    let mut n_bytes = 0;
    loop {
        let wanted = ROWS_AT_ONCE.min(bounds.rows_max + 1 - result.rows.len());
        let rows = transaction.query_portal(&portal, i32::try_from(wanted).unwrap_or(i32::MAX)).await?;
        let is_last = rows.len() < wanted;
        for row in rows {
            result.is_cut = result.rows.len() >= bounds.rows_max || n_bytes > bounds.bytes_max;
            if result.is_cut {
                return Ok(());
            }
            let cells = cells(&row)?;
            n_bytes += cells.iter().flatten().map(String::len).sum::<usize>();
            result.rows.push(cells);
        }
        if is_last {
            return Ok(());
        }
    }
}

fn cells(row: &Row) -> Result<Vec<Option<String>>, Error> {
    (0..row.len()).map(|idx| row.try_get(idx)).collect()
}

fn is_number(kind: &Type) -> bool {
    [Type::INT2, Type::INT4, Type::INT8, Type::FLOAT4, Type::FLOAT8, Type::NUMERIC].contains(kind)
}

/// An error of the client or the server, without details about the server's source code.
fn told(error: &Error) -> ServerError {
    let Some(said) = error.as_db_error() else {
        let why = deepest_cause(error);
        return if error.is_closed() {
            unusable("the connection was closed".to_owned(), "check the server's log, and try again")
        } else {
            unusable(shortened(&why), connection::hint(&why))
        };
    };
    let message = shortened(said.message());
    let code = said.code();
    if *code == SqlState::QUERY_CANCELED {
        return ServerError::TooLong;
    }
    let hint = if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION].contains(code) {
        "check the user, and set the password with `PGPASSWORD` or `~/.pgpass`; a password in the URL is not kept for `resume`"
    } else if *code == SqlState::INVALID_CATALOG_NAME {
        "`psql -l` lists the databases of a server"
    } else if said.severity() == "FATAL" || code.code().starts_with("57") || code.code().starts_with("53") {
        "check the server's log, and try again"
    } else {
        let hint = said.hint().map(|hint| format!(" ({})", shortened(hint))).unwrap_or_default();
        return ServerError::Rejected(format!("{message}{hint}"));
    };
    unusable(message, hint)
}

fn shortened(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MESSAGE_CHARS_MAX).collect()
}
