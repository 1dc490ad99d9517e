//! Databases beside the tables of documents: names, addresses, limits, and what queries may not do.

use std::sync::Arc;

use expect_test::expect;
use rusqlite::Connection;
use spelunk_context::{Corpus, QueryWatch, ScanOptions, SourceInput, View};
use tempfile::TempDir;

use super::*;
use crate::{Place, QueryError};

const SHOP: &str =
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status VARCHAR(20), total DECIMAL);
    INSERT INTO orders VALUES (4711, 'Ann', 'cancelled', 12.5), (4712, 'Bob', 'paid', 7);
    CREATE TABLE stock (shelf TEXT, bin INT, \"unit price\" REAL, PRIMARY KEY (shelf, bin)) WITHOUT ROWID;
    INSERT INTO stock VALUES ('A & B', 1, 2), ('C: D', 2, 3);
    CREATE TABLE log (line TEXT); INSERT INTO log VALUES ('started'), ('stopped');
    CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
    CREATE TABLE users (name TEXT, password TEXT); INSERT INTO users VALUES ('ann', 'Zk3!vT9qLm2xWp7R');";

fn made(sql: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    Connection::open(directory.path().join("shop.db")).unwrap().execute_batch(sql).unwrap();
    directory
}

fn view(directory: &TempDir) -> View {
    let csv = "customer,city\nAnn,Oslo\nBob,Rome\n";
    let sources = [
        SourceInput::Path(directory.path().join("shop.db")),
        SourceInput::Text { name: "cities.csv".to_owned(), bytes: csv.into() },
        SourceInput::Text { name: "a.md".to_owned(), bytes: b"Prose.\n".to_vec() },
    ];
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

fn tables(directory: &TempDir) -> Tables {
    Tables::of(&view(directory), 1_000_000, &QueryWatch::of_ms(60_000)).unwrap().unwrap()
}

fn rows(tables: &mut Tables, sql: &str) -> String {
    match tables.query(sql, 10) {
        Ok(result) => {
            let row = |row: &Vec<Cell>| row.iter().map(Cell::to_string).collect::<Vec<_>>().join(" | ");
            result.rows.iter().map(row).collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn a_database_is_described_and_joined_with_documents() {
    let directory = made(SHOP);
    let mut tables = tables(&directory);
    expect![[r#"
        CREATE TABLE cities ( -- 2 rows from cities.csv
          customer TEXT, -- one of: Ann, Bob
          city TEXT, -- one of: Oslo, Rome
        );
        CREATE TABLE shop.log ( -- 2 rows from shop.db, each is shop.db:log?rowid=…
          line TEXT, -- one of: started, stopped
        );
        CREATE TABLE shop.orders ( -- 2 rows from shop.db, each is shop.db:orders?id=…
          id INTEGER, -- one of: 4711, 4712
          customer TEXT, -- one of: Ann, Bob
          status TEXT, -- one of: cancelled, paid
          total REAL, -- one of: 12.5, 7
        );
        CREATE TABLE shop.stock ( -- 2 rows from shop.db, each is shop.db:stock?shelf=…&bin=…
          shelf TEXT, -- one of: A & B, C: D
          bin INTEGER, -- one of: 1, 2
          "unit price" REAL, -- one of: 2, 3
        );
        CREATE TABLE shop.users ( -- 1 rows from shop.db, each is shop.db:users?rowid=…
          name TEXT, -- one of: ann
          password TEXT, -- one of: [secret:assigned-secret]
        );
        CREATE TABLE shop.paid ( -- rows from shop.db
          id INTEGER, -- any value
          customer TEXT, -- any value
          status TEXT, -- any value
          total REAL, -- any value
        );
    "#]]
    .assert_eq(&tables.describe(""));
    assert_eq!(tables.others(), ["a.md"]);
    let joined = "SELECT city, total FROM shop.orders JOIN cities USING (customer) WHERE status = 'paid'";
    assert_eq!(rows(&mut tables, joined), "Rome | 7");
    assert_eq!(rows(&mut tables, "SELECT count(*) FROM orders"), "2");
    assert_eq!(rows(&mut tables, "SELECT id FROM shop.paid"), "4712");
    assert_eq!(rows(&mut tables, "SELECT password FROM users"), "[secret:assigned-secret]");
    assert_eq!(tables.unknown_literals("SELECT 1 WHERE x = 'lost'"), ["lost"]);
}

#[test]
fn a_row_has_an_address_and_is_found_by_it() {
    let directory = made(SHOP);
    let mut tables = tables(&directory);
    let place = |address: &str, cells: &str| Place::Row(address.to_owned(), cells.to_owned());
    let order = "id: 4711, customer: Ann, status: cancelled, total: 12.5";
    for sql in [
        "SELECT customer FROM shop.orders WHERE total > 10 ORDER BY total",
        "SELECT customer FROM orders o WHERE o.total > 10",
        "SELECT count(*) FROM shop.orders AS o JOIN cities c ON c.customer = o.customer WHERE c.city = 'Oslo'",
    ] {
        assert_eq!(tables.source_rows(sql, 5), [place("shop.db:orders?id=4711", order)], "{sql}");
    }
    assert_eq!(
        tables.source_rows("SELECT * FROM stock WHERE bin = 1", 5),
        [place("shop.db:stock?shelf=A%20%26%20B&bin=1", "shelf: A & B, bin: 1, unit price: 2")]
    );
    assert_eq!(
        tables.source_rows("SELECT * FROM log WHERE line LIKE 'st%ed' LIMIT 1", 1),
        [place("shop.db:log?rowid=1", "line: started")]
    );
    assert_eq!(tables.source_rows("SELECT * FROM paid", 5), []);
    let found = |tables: &mut Tables, address: &str| tables.row(address).map(|(address, _)| address);
    let canonical = Some("shop.db:orders?id=4711".to_owned());
    assert_eq!(found(&mut tables, "shop.db:orders?id=4711"), canonical);
    assert_eq!(found(&mut tables, "shop.orders?id=4711"), canonical);
    assert_eq!(
        tables.row("shop.db:users?rowid=1").unwrap().1,
        "name: ann, password: [secret:assigned-secret]"
    );
    for nowhere in [
        "shop.db:orders?id=4713",
        "shop.db:orders?status=paid",
        "shop.db:orders?id=4711&id=4711",
        "shop.db:orders?id=%zz",
        "shop.db:orders?id=4711' OR '1'='1",
        "shop.db:paid?id=4712",
        "shop.db:nothing?id=1",
        "other.db:orders?id=4711",
    ] {
        assert_eq!(tables.row(nowhere), None, "{nowhere}");
    }
}

#[test]
fn queries_of_a_database_only_read() {
    let directory = made(SHOP);
    let path = directory.path().join("shop.db");
    let before = (path.metadata().unwrap().len(), path.metadata().unwrap().modified().unwrap());
    let mut tables = tables(&directory);
    for sql in [
        "INSERT INTO shop.orders VALUES (1, 'x', 'y', 2)",
        "DELETE FROM shop.orders",
        "UPDATE shop.orders SET total = 0",
        "DROP TABLE shop.orders",
        "CREATE TABLE shop.x (y)",
        "PRAGMA shop.user_version = 7",
        "PRAGMA query_only = OFF",
        "ATTACH 'other.db' AS other",
        "DETACH shop",
        "VACUUM shop INTO 'copy.db'",
        "SELECT load_extension('x')",
        "SELECT * FROM pragma_database_list",
        "BEGIN",
    ] {
        let said = rows(&mut tables, sql);
        assert!(said.starts_with("error: "), "{sql}: {said}");
    }
    assert_eq!(rows(&mut tables, "SELECT count(*), sum(total) FROM shop.orders"), "2 | 19.5");
    assert_eq!((path.metadata().unwrap().len(), path.metadata().unwrap().modified().unwrap()), before);
    assert_eq!(directory.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_hostile_database_is_bounded() {
    let directory = made(
        "CREATE TABLE t (x); INSERT INTO t VALUES (1);
         CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
         CREATE VIEW loads AS SELECT load_extension('x') AS y;
         CREATE VIEW broken AS SELECT * FROM nowhere;
         CREATE TABLE blobs (id INTEGER PRIMARY KEY, b); INSERT INTO blobs VALUES (1, zeroblob(5000000));
         CREATE TABLE \"a\"\"; DROP TABLE t; --\" (\"c\"\"d\" INT, \"two\nlines\" INT);
         INSERT INTO \"a\"\"; DROP TABLE t; --\" VALUES (7, 8);
         CREATE TABLE \"two\nlines\" (z);",
    );
    let mut tables = tables(&directory);
    let names: Vec<&str> = tables.tables().iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["cities", "shop.\"a\"\"; DROP TABLE t; --\"", "shop.blobs", "shop.t", "shop.endless"]);
    assert_eq!(rows(&mut tables, "SELECT \"c\"\"d\" FROM shop.\"a\"\"; DROP TABLE t; --\""), "7");
    tables.watch(&QueryWatch::of_ms(200));
    let endless = "SELECT sum(i) FROM shop.endless";
    assert!(matches!(tables.query(endless, 10), Err(QueryError::TooSlow { ms_max: 200 })));
    let abandoned = QueryWatch::of_ms(u64::MAX);
    abandoned.is_abandoned.store(true, std::sync::atomic::Ordering::Relaxed);
    tables.watch(&abandoned);
    assert!(matches!(tables.query(endless, 10), Err(QueryError::TooLong)));
    tables.watch(&QueryWatch::of_ms(60_000));
    assert!(matches!(tables.query("SELECT b FROM shop.blobs", 10), Err(QueryError::TooLarge)));
    assert_eq!(rows(&mut tables, "SELECT id FROM shop.blobs"), "1");
    assert!(rows(&mut tables, "SELECT y FROM shop.loads").starts_with("error: "));
    // A file that is damaged after the scan has no tables, and does not spoil the others.
    let view = view(&directory);
    Connection::open(directory.path().join("shop.db"))
        .unwrap()
        .execute_batch(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE (' WHERE name = 't';",
        )
        .unwrap();
    let mut tables = Tables::of(&view, 1_000_000, &QueryWatch::of_ms(60_000)).unwrap().unwrap();
    assert_eq!(tables.others(), ["a.md", "shop.db"]);
    assert_eq!(rows(&mut tables, "SELECT count(*) FROM cities"), "2");
    assert!(Tables::of_databases(&view, &QueryWatch::of_ms(60_000)).unwrap().is_none());
}

#[test]
fn databases_count_beside_any_amount_of_text() {
    let directory = made(SHOP);
    let view = view(&directory);
    let tables = Tables::of(&view, 10, &QueryWatch::of_ms(60_000)).unwrap().unwrap();
    assert!(tables.have_databases() && tables.are_most_of(&view));
    assert_eq!(tables.tables().len(), 5);
}
