//! Records of JSON lines and of arrays.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use crate::{JsonRecords, LazyText, RecordShape};

fn open(text: &str, shape: RecordShape) -> Result<JsonRecords, String> {
    JsonRecords::open(Arc::new(LazyText::of_string("data", text)), shape).map_err(|error| error.to_string())
}

fn all(records: &JsonRecords) -> Vec<String> {
    (0..records.n_records()).map(|idx| records.record(idx).unwrap()).collect()
}

#[test]
fn lines_that_are_not_blank_are_records() {
    let records = open("{\"a\":1}\r\n\n  \t\n[2]  \n\"ä\nlast", RecordShape::Lines).unwrap();
    assert_eq!(all(&records), ["{\"a\":1}", "[2]", "\"ä", "last"]);
    let error = records.record(4).unwrap_err().to_string();
    assert_eq!(error, "`data` has no record 4: it has 4, counted from 0");
    assert_eq!(open(" \n\n", RecordShape::Lines).unwrap().n_records(), 0);
}

#[test]
fn elements_of_an_array_are_records() {
    let records = open(" [ 1, \"a,]\\\"[\" ,{\"b\": [1, {}]}, [] \n,null ]\n", RecordShape::Array).unwrap();
    assert_eq!(all(&records), ["1", "\"a,]\\\"[\"", "{\"b\": [1, {}]}", "[]", "null"]);
    assert_eq!(open("[]", RecordShape::Array).unwrap().n_records(), 0);
}

#[test]
fn what_is_no_array_is_refused() {
    let why = |text: &str| open(text, RecordShape::Array).unwrap_err();
    assert_eq!(why("{}"), "`data` is neither JSON lines nor a JSON array: it does not begin with an array");
    assert_eq!(why(" "), "`data` is neither JSON lines nor a JSON array: it has no array");
    assert_eq!(why("[1, [2]"), "`data` is neither JSON lines nor a JSON array: its array does not end");
    assert_eq!(
        why("[1] [2]"),
        "`data` is neither JSON lines nor a JSON array: there is text after its array"
    );
    assert_eq!(
        why("[1,,2]"),
        "`data` is neither JSON lines nor a JSON array: an element of its array is missing"
    );
    assert_eq!(
        why("[1,]"),
        "`data` is neither JSON lines nor a JSON array: an element of its array is missing"
    );
    assert_eq!(why("[1}"), "`data` is neither JSON lines nor a JSON array: its brackets do not match");
}

#[test]
fn secrets_in_records_are_masked() {
    let token = "ghp_R4nd0mT0k3nV4lu3Abc9Xyz7Qwe5Rty3Uio1";
    let records = open(&format!("{{\"t\":\"{token}\"}}\n"), RecordShape::Lines).unwrap();
    assert_eq!(all(&records), [format!("{{\"t\":\"{}\"}}", "█".repeat(40))]);
}

#[test]
fn records_far_apart_are_found_by_marks() {
    let values: Vec<Value> =
        (0..20_000).map(|idx| serde_json::json!({ "idx": idx, "text": "x,]\"ä".repeat(idx % 7) })).collect();
    let lines = values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let array = serde_json::to_string(&values).unwrap();
    for (text, shape) in [(lines, RecordShape::Lines), (array, RecordShape::Array)] {
        let records = open(&text, shape).unwrap();
        assert_eq!(records.n_records(), 20_000);
        for idx in [0, 1, 999, 10_000, 19_998, 19_999] {
            assert_eq!(
                serde_json::from_str::<Value>(&records.record(idx).unwrap()).unwrap(),
                values[usize::try_from(idx).unwrap()]
            );
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[a\"\\\\,\\[{}äx\n]{0,6}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c\"]{0,3}", inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_values_are_found_as_they_were_written(values in prop::collection::vec(any_json(), 0..8), is_pretty: bool) {
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let lines = open(&texts.join("\n"), RecordShape::Lines).unwrap();
        prop_assert_eq!(all(&lines), texts.clone());
        let array = if is_pretty { serde_json::to_string_pretty(&values) } else { serde_json::to_string(&values) };
        let records = all(&open(&array.unwrap(), RecordShape::Array).unwrap());
        let read: Vec<Value> = records.iter().map(|record| serde_json::from_str(record).unwrap()).collect();
        prop_assert_eq!(read, values);
    }
}
