//! Forms: what they say, what they come to, and what is made of a bad one.

use expect_test::{Expect, expect};

use super::*;
use crate::strategy::trail::tests::view;

const ORDERS: &str = "order,region,product,customer,units,price\n\
    1,east,desk,ann,2,30\n2,west,desk,bob,1,50\n3,east,lamp,ann,4,\"1,000\"\n4,east,desk,cy,3,9.5\n";

const LOG: &str = "2025-03-07T00:04:39Z INFO  gateway up\n2025-03-07T05:59:59Z ERROR stock gave up\n\
    2025-03-07T06:00:00Z ERROR gateway gave up\n2025-03-07T07:00:00Z INFO  stock up\n\
    2025-03-07T08:00:00Z ERROR gateway gave up\n2025-03-07T12:00:00Z ERROR gateway gave up\n\
    2025-03-07T13:00:00Z INFO  stock up\n2025-03-07T14:00:00Z INFO  stock up\n";

fn sheet(name: &str, text: &str, question: &str) -> Sheet {
    let grid = Grid::of(&view(&[(name, text)]), BYTES_MAX).unwrap();
    let links = links(&grid, question);
    Sheet { grid, question: question.to_owned(), links }
}

fn read(sheet: &Sheet, reply: &str, trust: Trust) -> String {
    match sheet.read(reply, trust) {
        Ok((query, computed)) => format!("{} ({})", computed.value, sheet.explained(&query, &computed)),
        Err(fault) => format!("{}: {}", if fault.is_mendable { "again" } else { "no" }, fault.message),
    }
}

fn check(sheet: &Sheet, reply: &str, expected: &Expect) {
    expected.assert_eq(&read(sheet, reply, Trust::Any));
}

#[test]
fn forms_compute_over_all_rows() {
    let orders = sheet("o.csv", ORDERS, "?");
    let of = |conditions: &str, then: &str| format!("{{\"conditions\": [{conditions}], {then}}}");
    let east = r#"{"column": "region", "is": "=", "value": "East"}"#;
    let cases = [
        (of(east, r#""do": "count rows", "of": "order", "show": "order""#), "3"),
        (of(east, r#""do": "count different values", "of": "customer", "show": "order""#), "2"),
        (of(east, r#""do": "sum", "of": "units", "show": "units""#), "9"),
        (of("", r#""do": "sum", "of": "price", "show": "order""#), "1089.5"),
        (of("", r#""do": "average", "of": "units", "show": "order""#), "2.5"),
        (of(east, r#""do": "largest", "of": "price", "show": "order""#), "3"),
        (of("", r#""do": "smallest", "of": "price", "show": "customer""#), "cy"),
        (of("", r#""do": "most common value", "of": "product", "show": "order""#), "desk"),
        (of(east, r#""do": "last row", "of": "order", "show": "product""#), "desk"),
    ];
    for (form, value) in cases {
        let (_, computed) = orders.read(&form, Trust::Any).map_err(|fault| fault.message).unwrap();
        assert_eq!(computed.value, value, "{form}");
    }
    check(
        &orders,
        &of(east, r#""do": "largest", "of": "price", "show": "order""#),
        &expect!["3 (Computed from 3 of 4 rows: region = east; order where price is largest.)"],
    );
}

#[test]
fn what_the_question_names_and_the_form_forgot_is_added() {
    let question =
        "How many lines with the level ERROR did the service gateway log from 06:00 until before 12:00?";
    let log = sheet("s.log", LOG, question);
    expect![[r#"
        The table has 8 rows. Its columns:
        - date: one of 2025-03-07
        - time: one of 00:04:39, 05:59:59, 06:00:00, 07:00:00, 08:00:00, 12:00:00, 13:00:00, 14:00:00
        - level: one of ERROR, INFO
        - word 2: one of gateway, stock
        - text: one of gave up, up

        Of the words of the question, `ERROR` stands in the column level, `gateway` stands in the column word 2.

        Question: How many lines with the level ERROR did the service gateway log from 06:00 until before 12:00?"#]]
    .assert_eq(&log.described());
    // An order among levels, which have none, and no service.
    let form = r#"{"conditions": [{"column": "level", "is": "<", "value": "error"},
        {"column": "time", "is": ">=", "value": "06:00"}, {"column": "time", "is": "<", "value": "12:00"}],
        "do": "count rows", "of": "level", "show": "text"}"#;
    check(
        &log,
        form,
        &expect![
            "2 (Computed from 2 of 8 rows: level = ERROR and time >= 06:00 and time < 12:00 and word 2 = gateway; counted.)"
        ],
    );
}

#[test]
fn a_time_that_the_form_forgot_is_asked_for() {
    let log = sheet("s.log", LOG, "How many lines has gateway before 06:00?");
    let form = r#"{"conditions": [], "do": "count rows", "of": "level", "show": "text"}"#;
    check(
        &log,
        form,
        &expect!["again: the question names a time, and no condition is about the column time"],
    );
    let log = sheet("s.log", LOG, "How many lines has gateway?");
    check(&log, form, &expect!["4 (Computed from 4 of 8 rows: word 2 = gateway; counted.)"]);
}

#[test]
fn bad_forms_are_asked_for_again() {
    let orders = sheet("o.csv", ORDERS, "?");
    check(&orders, "Four.", &expect!["again: it is no JSON"]);
    check(&orders, r#"{"do": "none of these", "of": "order"}"#, &expect!["no: the table cannot tell"]);
    check(&orders, r#"{"do": "fly", "of": "order"}"#, &expect!["again: `fly` cannot be computed"]);
    check(&orders, r#"{"do": "sum", "of": "weight"}"#, &expect!["again: there is no column `weight`"]);
    check(
        &orders,
        r#"{"conditions": [{"column": "region", "is": "=", "value": "north"}], "do": "count rows", "of": "order"}"#,
        &expect!["again: no row has `north` in the column region; there are east, west"],
    );
    check(
        &orders,
        r#"{"conditions": [{"column": "units", "is": ">", "value": "9"}], "do": "first row", "of": "order", "show": "order"}"#,
        &expect!["again: no row meets it"],
    );
    check(&orders, r#"{"do": "sum", "of": "region"}"#, &expect!["again: no row meets it"]);
}

#[test]
fn what_has_to_be_read_is_left_to_readers() {
    let messages = (0..40)
        .map(|n| format!("#{n} | [size] | Message number {n} is too large.\n"))
        .collect::<Vec<_>>()
        .concat();
    let sheet = sheet("m.txt", &messages, "How many messages have the topic size?");
    let by_tag = r#"{"conditions": [], "do": "count rows", "of": "tag", "show": "tag"}"#;
    assert_eq!(read(&sheet, by_tag, Trust::Kinds), "40 (Computed from 40 of 40 rows: tag = size; counted.)");
    let by_text = r#"{"conditions": [{"column": "part 3", "is": "contains", "value": "size"}], "do": "count rows", "of": "tag"}"#;
    assert_eq!(read(&sheet, by_text, Trust::Kinds), "no: part 3 has to be read");
}

#[test]
fn the_schema_names_the_columns() {
    let schema = sheet("o.csv", ORDERS, "?").schema();
    assert_eq!(
        schema["properties"]["of"]["enum"],
        serde_json::json!(["order", "region", "product", "customer", "units", "price"])
    );
}

#[test]
fn the_words_of_a_question_say_what_may_be_done() {
    let columns = ["order".to_owned(), "units".into()];
    let cases = [
        ("How many different customers?", "count different values, none of these"),
        ("It is too large or small. How many?", "count rows, count different values, none of these"),
        ("Which topic is the most common?", "most common value, none of these"),
        ("Which service failed first?", "first row, smallest, none of these"),
        ("What is the total?", "sum, none of these"),
        ("How many units were ordered?", "sum, count rows, count different values, none of these"),
    ];
    for (question, expected) in cases {
        assert_eq!(operations(question, &columns).join(", "), expected, "{question}");
    }
    assert_eq!(operations("Which is it?", &columns), OPERATIONS);
    let orders = sheet("o.csv", ORDERS, "?");
    check(
        &orders,
        r#"{"conditions": [{"column": "region", "is": "=", "value": "east"}], "do": "count different values", "of": "region"}"#,
        &expect!["3 (Computed from 3 of 4 rows: region = east; counted.)"],
    );
}
