//! SQLite files as documents: what is shown of them, what is created beside them, and what hostile files do.

use expect_test::expect;
use tempfile::TempDir;

use super::*;
use crate::testing::{bytes_of, put, scan};
use crate::{Database, SourceError, View};

/// A directory with `shop.db`, made by these statements.
fn made(sql: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    Connection::open(directory.path().join("shop.db")).unwrap().execute_batch(sql).unwrap();
    directory
}

fn described(directory: &TempDir) -> String {
    let corpus = scan(&[&directory.path().join("shop.db")]).unwrap();
    let view = View::of(std::sync::Arc::new(corpus));
    let document = view.documents().next().unwrap();
    let path = directory.path().join("shop.db").canonicalize().unwrap();
    assert_eq!(document.database, Some(Database::File(path)));
    view.read_owned(document).unwrap()
}

/// The names in a directory, and the bytes of the database.
fn beside(directory: &TempDir) -> (Vec<String>, u64) {
    let mut names: Vec<String> = directory
        .path()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    (names, directory.path().join("shop.db").metadata().unwrap().len())
}

#[test]
fn a_named_database_is_described_by_its_tables_and_first_rows() {
    let directory = made(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, \"odd \"\"name\" TEXT, total REAL, picture BLOB);
         INSERT INTO orders VALUES (1, 'a' || char(10) || 'b', 2.5, x'00ff'), (2, NULL, 3, NULL), (3, 'c', 4, NULL), (4, 'd', 5, NULL);
         CREATE VIEW big AS SELECT * FROM orders WHERE total > 3;
         CREATE TABLE users (name TEXT, api_token TEXT);
         INSERT INTO users VALUES ('ann', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a');",
    );
    expect![[r#"
        SQLite database

        CREATE VIEW big AS SELECT * FROM orders WHERE total > 3

        CREATE TABLE orders (id INTEGER PRIMARY KEY, "odd ""name" TEXT, total REAL, picture BLOB)
        -- row: 1 | a b | 2.5 | (2 bytes)
        -- row: 2 | NULL | 3 | NULL
        -- row: 3 | c | 4 | NULL

        CREATE TABLE users (name TEXT, api_token TEXT)
        -- row: ann | [secret:github-token]
    "#]]
    .assert_eq(&described(&directory));
    assert_eq!(beside(&directory).0, ["shop.db"]);
}

#[test]
fn a_database_in_a_folder_is_left_out_as_binary_files_are() {
    let directory = made("CREATE TABLE t (x); INSERT INTO t VALUES (1);");
    put(directory.path(), "a.md", b"text\n");
    let corpus = scan(&[directory.path()]).unwrap();
    assert_eq!(crate::testing::names(&corpus), "a.md\n");
    assert_eq!(crate::testing::skipped(&corpus), "1 binary: shop.db\n");
}

#[test]
fn a_write_ahead_log_is_read_without_a_trace_or_refused() {
    let directory = made("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1);");
    let before = beside(&directory);
    assert_eq!(before.0, ["shop.db"]);
    assert!(described(&directory).ends_with("-- row: 1\n"));
    assert_eq!(beside(&directory), before);
    // A program that has it open and has not moved its changes into the file yet.
    let writer = Connection::open(directory.path().join("shop.db")).unwrap();
    writer.execute_batch("INSERT INTO t VALUES (2);").unwrap();
    let before = beside(&directory);
    assert_eq!(before.0, ["shop.db", "shop.db-shm", "shop.db-wal"]);
    assert!(described(&directory).ends_with("-- row: 1\n-- row: 2\n"));
    assert_eq!(beside(&directory), before);
    // The same files after a crash, on another machine: the log belongs to nobody.
    let copied = tempfile::tempdir().unwrap();
    for name in ["shop.db", "shop.db-wal"] {
        std::fs::copy(directory.path().join(name), copied.path().join(name)).unwrap();
    }
    let refused = scan(&[&copied.path().join("shop.db")]).unwrap_err();
    expect![[r#"
        Extract {
            name: "shop.db",
            source: InUse {
                what: "its last changes are in a write-ahead log",
            },
        }
    "#]]
    .assert_debug_eq(&refused);
    assert_eq!(beside(&copied).0, ["shop.db", "shop.db-wal"]);
}

#[test]
fn a_hostile_file_is_an_error_or_a_description() {
    let directory = made(
        "CREATE TABLE a (x, y AS (zeroblob(900000000)));
         INSERT INTO a (x) VALUES (1);
         CREATE TABLE \"x\"\"; DROP TABLE a; --\" (z); INSERT INTO \"x\"\"; DROP TABLE a; --\" VALUES (7);
         CREATE TABLE \"two\nlines\" (z);
         CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
         CREATE TABLE blobs (b); INSERT INTO blobs VALUES (zeroblob(5000000));
         CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END;",
    );
    let text = described(&directory);
    assert!(text.contains("-- row: 7\n") && text.contains("-- row: (5000000 bytes)\n"), "{text}");
    assert!(text.len() < 2_000, "{text}");
    // Every prefix, and damage at every page.
    let bytes = bytes_of(&directory.path().join("shop.db"));
    for end in [16, 20, 100, 1_000, 4_096, 9_000] {
        put(directory.path(), "cut.db", &bytes[..end]);
        match scan(&[&directory.path().join("cut.db")]) {
            Ok(_) | Err(SourceError::Extract { .. } | SourceError::Empty { .. }) => {}
            Err(other) => panic!("{end}: {other:?}"),
        }
    }
    for at in (100..bytes.len().min(40_000)).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        put(directory.path(), "damaged.db", &damaged);
        match describe(&directory.path().join("damaged.db")) {
            Ok(text) => assert!(text.len() <= TEXT_BYTES_MAX + 20),
            Err(ExtractError::Damaged { what }) => assert!(!what.is_empty()),
            Err(ExtractError::NoText | ExtractError::TooSlow | ExtractError::InUse { .. }) => {}
            Err(other) => panic!("{at}: {other:?}"),
        }
    }
}
