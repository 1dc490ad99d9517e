//! Documents as tables, and what queries may do with them.

use std::sync::Arc;

use expect_test::{Expect, expect};
use spelunk_context::{Corpus, QueryWatch, ScanOptions, SourceInput};

use super::*;

const ORDERS: &str =
    "order,region,customer id,units,price\n1,east,7,2,30\n2,west,8,1,\"1,050\"\n3,east,7,4,N/A\n";
const CUSTOMERS: &str = "[{\"id\": 7, \"name\": \"Ann\"}, {\"id\": 8, \"name\": \"Bob's\"}]";

fn tables(files: &[(&str, &str)]) -> Option<Tables> {
    Tables::of(&view(files), 1_000_000, &QueryWatch::of_ms(u64::MAX)).unwrap()
}

fn view(files: &[(&str, &str)]) -> View {
    let input = |(name, text): &(&str, &str)| SourceInput::Text {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let inputs: Vec<SourceInput> = files.iter().map(input).collect();
    let corpus = Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap();
    View::of(Arc::new(corpus))
}

fn orders() -> Tables {
    tables(&[("orders.csv", ORDERS)]).unwrap()
}

fn check(sql: &str, expected: &Expect) {
    let mut tables = orders();
    let said = match tables.query(sql, 200) {
        Ok(result) => {
            let rows =
                result.rows.iter().map(|row| row.iter().map(Cell::to_string).collect::<Vec<_>>().join(" | "));
            let cut = if result.is_cut { "\n…" } else { "" };
            format!("{}\n{}{cut}\n", result.columns.join(" | "), rows.collect::<Vec<_>>().join("\n"))
        }
        Err(error) => format!("error: {error}\n"),
    };
    expected.assert_eq(&said);
}

#[test]
fn a_table_is_described_by_its_columns_and_values() {
    expect![[r#"
        CREATE TABLE orders ( -- 3 rows from orders.csv
          order_ INTEGER, -- order: one of: 1, 2, 3
          region TEXT, -- one of: east, west
          customer_id INTEGER, -- customer id: one of: 7, 8
          units INTEGER, -- one of: 1, 2, 4
          price INTEGER, -- one of: 1,050, 30, N/A
        );
    "#]]
    .assert_eq(&orders().describe("How many units?"));
}

#[test]
fn queries_compute() {
    check(
        "SELECT sum(units) FROM orders WHERE region = 'east'",
        &expect![[r#"
        sum(units)
        6
    "#]],
    );
    check(
        "SELECT region, avg(price) AS mean FROM orders GROUP BY region ORDER BY mean DESC",
        &expect![[r#"
            region | mean
            west | 1050
            east | 30
        "#]],
    );
    check(
        "SELECT median(units), percentile(units, 50), stddev(units) FROM orders",
        &expect![[r#"
        median(units) | percentile(units, 50) | stddev(units)
        2 | 2 | 1.527525
    "#]],
    );
    check(
        "SELECT max(price) FROM orders WHERE region = 'north'",
        &expect![[r#"
        max(price)
        NULL
    "#]],
    );
}

#[test]
fn queries_only_read() {
    for sql in [
        "DELETE FROM orders",
        "DROP TABLE orders",
        "CREATE TABLE t (a)",
        "ATTACH 'x' AS y",
        "PRAGMA hard_heap_limit",
        "SELECT load_extension('x')",
        "SELECT random()",
        "INSERT INTO orders VALUES (1)",
        "VACUUM",
    ] {
        let error = orders().query(sql, 200).unwrap_err().to_string();
        assert!(error.contains("only SELECT") || error.contains("not authorized"), "{sql}: {error}");
    }
    for sql in ["SELECT date('now')", "SELECT Current_Timestamp"] {
        assert_eq!(orders().query(sql, 200).unwrap_err().to_string(), "the current time is not available");
    }
    check(
        "SELECT colour FROM orders",
        &expect![[r#"
        error: no such column: colour in SELECT colour FROM orders at offset 7
    "#]],
    );
    check(
        "",
        &expect![[r#"
        error: bad parameter or other API misuse
    "#]],
    );
}

#[test]
fn queries_are_bounded() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    assert!(matches!(orders().query(endless, 200), Err(QueryError::TooLong)));
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) SELECT i FROM n";
    let result = orders().query(many, 200).unwrap();
    assert!(result.is_cut && result.rows.len() == 200);
    let wide = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) \
                SELECT printf('%2000d', i) FROM n";
    let result = orders().query(wide, 10_000).unwrap();
    assert!(result.is_cut && result.rows.len() == 5_001);
    assert!(matches!(orders().query("SELECT zeroblob(2000000)", 200), Err(QueryError::TooLarge)));
    assert!(orders().query(&format!("SELECT {}1", "1+".repeat(6_000)), 200).is_err());
}

#[test]
fn tables_of_several_files_are_joined() {
    let mut tables =
        tables(&[("orders.csv", ORDERS), ("customers.json", CUSTOMERS), ("notes.md", "Prose.\n")]).unwrap();
    assert_eq!(tables.others(), ["notes.md"]);
    let sql =
        "SELECT c.name, sum(o.units) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.name";
    let rows = tables.query(sql, 200).unwrap().rows;
    assert_eq!(
        rows,
        [
            vec![Cell::Text("Ann".into()), Cell::Integer(6)],
            vec![Cell::Text("Bob's".into()), Cell::Integer(1)],
        ]
    );
    assert_eq!(
        tables.source_rows(sql, 2),
        ["orders.csv", "orders.csv"]
            .into_iter()
            .zip([2, 3])
            .map(|(name, line)| Place::Line(name.to_owned(), line))
            .collect::<Vec<_>>()
    );
    assert_eq!(tables.unknown_literals("SELECT 1 WHERE 'Bob''s' <> 'north' AND name LIKE '%x%'"), ["north"]);
}

#[test]
fn files_with_the_same_columns_are_one_table() {
    let mut tables = tables(&[("d/a.csv", "x,y\n1,2\n"), ("d/b.csv", "x,y\n3,4\n")]).unwrap();
    let result = tables.query("SELECT file, sum(y) FROM d GROUP BY file", 200).unwrap();
    assert_eq!(result.rows.len(), 2);
    assert_eq!(
        tables.source_rows("SELECT max(x) FROM d WHERE file LIKE '%b.csv'", 3),
        [Place::Line("d/b.csv".to_owned(), 2)]
    );
}

#[test]
fn prose_is_no_table() {
    assert!(tables(&[("notes.md", "Prose.\nMore prose.\n")]).is_none());
    let prose = "Prose that goes on and on.\n".repeat(100);
    let mixed = view(&[("notes.md", &prose), ("api.json", "{\"servers\": [{\"url\": \"x\"}]}")]);
    assert!(!Tables::of(&mixed, 1_000_000, &QueryWatch::of_ms(60_000)).unwrap().unwrap().are_most_of(&mixed));
    let orders = view(&[("orders.csv", ORDERS), ("notes.md", "Prose.\n")]);
    assert!(
        Tables::of(&orders, 1_000_000, &QueryWatch::of_ms(60_000)).unwrap().unwrap().are_most_of(&orders)
    );
}

#[test]
fn a_table_of_a_thousand_columns_is_described_by_those_that_the_question_names() {
    let names: Vec<String> = (0..1_000).map(|n| format!("sensor{n}")).collect();
    let row = vec!["1"; 1_000].join(",");
    let csv = format!("{}\n{row}\n{row}\n", names.join(","));
    let mut tables = tables(&[("wide.csv", &csv)]).unwrap();
    let described = tables.describe("What is the sum of sensor777?");
    assert!(described.contains("  sensor777 INTEGER"), "{described}");
    assert!(described.contains("-- 960 more columns") && described.len() < 3_000, "{described}");
    let rows = tables.query("SELECT sum(sensor777) FROM wide", 10).unwrap().rows;
    assert_eq!(rows, [[Cell::Integer(2)]]);
}
