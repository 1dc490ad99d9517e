//! A file of tasks is read as a whole or not at all.

use expect_test::expect;

use super::*;
use crate::{MemorySink, Order, generate};

const GOOD: &str = r#"{"id":"a-1","kind":"needle","seed":1,"tokens":8000,"question":"?","answer":"5","scoring":{"how":"number"},"files":["a-1/b.txt"]}"#;

#[test]
fn what_is_written_is_read_again() {
    for (kind, variant) in
        [(Kind::Needle, "multiple"), (Kind::Labels, "common-read"), (Kind::Absent, "person")]
    {
        let order = Order { kind, variant: Some(variant), tokens: 2000, seed: 3, tree: None };
        let task = generate(&order, &mut MemorySink::default()).unwrap();
        assert_eq!(read_tasks(&write_task(&task)).unwrap(), [task]);
    }
}

#[test]
fn a_wrong_line_is_named_with_what_is_wrong() {
    let with = |from: &str, to: &str| GOOD.replace(from, to);
    let bad = [
        with("\"needle\"", "\"hay\""),
        with("\"id\":\"a-1\"", "\"id\":\"../x\""),
        with("\"answer\":\"5\"", "\"answer\":\"five\""),
        with("\"answer\":\"5\"", "\"answer\":[]"),
        with("\"how\":\"number\"", "\"how\":\"luck\""),
        with("\"how\":\"number\"", "\"how\":\"choice\",\"among\":[\"6\"]"),
        with("a-1/b.txt", "/etc/passwd"),
        with("a-1/b.txt", "a-1/../../x"),
        with("[\"a-1/b.txt\"]", "[]"),
        with("\"question\":\"?\"", "\"question\":\" \""),
        with("\"seed\":1", "\"seed\":\"one\""),
        with(",\"seed\":1", ""),
        "not json".to_owned(),
        format!("{GOOD}\n{GOOD}"),
        String::new(),
    ];
    let said: Vec<String> = bad.iter().map(|line| read_tasks(line).unwrap_err().to_string()).collect();
    expect![[r#""#]].assert_eq(&said.join("\n"));
    assert_eq!(read_tasks(&format!("{GOOD}\n\n")).unwrap().len(), 1);
}
