//! Queries in replies, their results as text, and why a query is sent back.

use super::*;
use crate::testing::view;

const ORDERS: &str = "order,region,units\n1,east,2\n2,west,1\n3,east,4\n";

fn said(sql: &str) -> String {
    let mut tables =
        Tables::of(&view(&[("orders.csv", ORDERS)]), BYTES_MAX, &QueryWatch::of_ms(60_000)).unwrap().unwrap();
    run(&mut tables, sql, true).map_or_else(|fault| fault, |computed| computed.in_words())
}

#[test]
fn a_reply_contains_one_query() {
    let cases = [
        ("```sql\nSELECT 1;\n```", Some("SELECT 1;")),
        (
            "Here it is:\n```\nwith a as (select 1) select * from a\n``` done",
            Some("with a as (select 1) select * from a"),
        ),
        ("SELECT 1", Some("SELECT 1")),
        ("```sql\nSELECT 1", Some("SELECT 1")),
        ("NONE", None),
        ("```sql\nDROP TABLE x\n```", None),
        ("", None),
    ];
    for (reply, expected) in cases {
        assert_eq!(statement(reply), expected, "{reply}");
    }
}

#[test]
fn a_result_is_told_with_its_query() {
    assert_eq!(
        said("SELECT sum(units)\n FROM orders"),
        "7\n\nComputed over 3 rows: SELECT sum(units) FROM orders.\n\
         The first rows that it uses: orders.csv:2, orders.csv:3, orders.csv:4."
    );
    assert_eq!(
        said("SELECT region, units FROM orders ORDER BY units DESC LIMIT 1"),
        "region: east, units: 4\n\nComputed over 3 rows: SELECT region, units FROM orders ORDER BY units DESC LIMIT 1.\n\
         The first rows that it uses: orders.csv:2, orders.csv:3, orders.csv:4."
    );
    assert!(said("SELECT region, units FROM orders").starts_with("- east, 2\n- west, 1\n- east, 4\n\n"));
}

#[test]
fn a_query_that_finds_nothing_is_sent_back() {
    assert_eq!(
        said("SELECT count(*) FROM orders WHERE region = 'north'"),
        "The query found nothing: no cell is `north`."
    );
    let nothing = "The query found nothing. Check the columns, and compare text with LIKE '%…%'.";
    assert_eq!(said("SELECT units FROM orders WHERE units > 9"), nothing);
    let zero = "SELECT count(*) FROM orders WHERE units > 9";
    assert_eq!(said(zero), nothing);
    let mut tables =
        Tables::of(&view(&[("orders.csv", ORDERS)]), BYTES_MAX, &QueryWatch::of_ms(60_000)).unwrap().unwrap();
    assert!(run(&mut tables, zero, false).is_ok_and(|computed| computed.in_words().starts_with("0\n")));
    assert_eq!(
        said("SELECT max(units) FROM orders WHERE units > 9"),
        "The result is an empty cell. Check the conditions, and leave out the rows without a value (`IS NOT NULL`)."
    );
    assert_eq!(
        said("SELECT colour FROM orders"),
        "The query failed: no such column: colour in SELECT colour FROM orders at offset 7."
    );
}

#[test]
fn a_list_that_nobody_asked_for_is_sent_back_once() {
    let rows = "7,1\n".repeat(60);
    let long = view(&[("strikes.csv", &format!("id,night\n{rows}"))]);
    let mut tables = Tables::of(&long, BYTES_MAX, &QueryWatch::of_ms(60_000)).unwrap().unwrap();
    let sql = "SELECT night FROM strikes";
    let fault = run(&mut tables, sql, true).err().unwrap();
    assert_eq!(
        fault,
        "The query returned more than 50 rows. Return only what the question asks for: count, sum up or limit them."
    );
    let text = run(&mut tables, sql, false).unwrap().in_words();
    assert!(text.ends_with("\n- …\n\nComputed over 60 rows: SELECT night FROM strikes."), "{text}");
}

#[test]
fn a_query_whose_error_shows_what_was_meant_is_repaired() {
    let most = "SELECT region FROM orders GROUP BY region HAVING count(*) > 1 ORDER BY count(*) DESC";
    let text = said("SELECT region FROM orders ORDER BY count(*) DESC");
    assert!(text.starts_with(&format!("east\n\nComputed over 3 rows: {most}.\n")), "{text}");
    let unique = said("SELECT units FROM orders ORDER BY count(*) DESC LIMIT 1");
    assert!(unique.starts_with("The query failed: misuse of aggregate"), "{unique}");
}

#[test]
fn a_row_without_a_name_is_no_result() {
    let sales = view(&[("sales.csv", "who,units\n,5\n,6\nAda,1\n")]);
    let mut tables = Tables::of(&sales, BYTES_MAX, &QueryWatch::of_ms(60_000)).unwrap().unwrap();
    let top = "SELECT who, count(*) FROM sales GROUP BY who ORDER BY count(*) DESC LIMIT 1";
    assert!(run(&mut tables, top, true).is_ok_and(|computed| computed.in_words().starts_with("who: Ada")));
    let last = "SELECT who, units FROM sales ORDER BY units DESC LIMIT 1";
    assert!(run(&mut tables, last, true).is_err_and(|fault| fault.contains("an empty cell")));
}

#[test]
fn a_query_that_counts_rows_without_a_value_is_sent_back() {
    for (sql, is_faulty) in [
        ("SELECT count(*) FROM films WHERE rating = 'PG' OR rating IS NULL", true),
        ("SELECT sum(stars)\n / COUNT(*) FROM films", true),
        ("SELECT sum(CASE WHEN genre IS NULL THEN 1 ELSE 0 END) / count(*) FROM films", false),
        ("SELECT count(*) FROM films WHERE rating IS NULL", false),
        ("SELECT count(*) FROM films WHERE rating = 'PG' OR rating = 'R'", false),
        ("SELECT avg(stars) FROM films WHERE genre IS NOT NULL", false),
    ] {
        assert_eq!(fault(sql).is_some(), is_faulty, "{sql}");
    }
}
