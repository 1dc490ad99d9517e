//! A file of tasks is parsed as a whole or not at all.

use expect_test::expect;

use super::*;
use crate::sink::tests::MemorySink;
use crate::{Order, generate};

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
    let line = GOOD.replace(
        "{\"how\":\"number\"}",
        "{\"how\":\"number\",\"accept\":[\"five\"],\"tolerance\":0.5},\"language\":\"de\",\"corpus\":\"x\"",
    );
    let read = read_tasks(&line).unwrap();
    let first = read.first().unwrap();
    assert_eq!(
        (first.accept.as_slice(), first.tolerance, first.language.as_str()),
        (&["five".to_owned()][..], 0.5, "de")
    );
    assert_eq!(read_tasks(&write_task(first)).unwrap(), read);
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
        with("\"number\"", "\"number\",\"accept\":[\" \"]"),
        with("\"number\"", "\"number\",\"tolerance\":-1"),
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
    expect![[r#"
        line 1 of the tasks cannot be used: there is no kind `hay`
        line 1 of the tasks cannot be used: the id `../x` is not the name of a folder
        line 1 of the tasks cannot be used: `answer` is not a number, and `scoring` says so
        line 1 of the tasks cannot be used: `answer` is empty
        line 1 of the tasks cannot be used: there is no scoring `luck`
        line 1 of the tasks cannot be used: `answer` is not `among` the choices
        line 1 of the tasks cannot be used: `accept` has an empty answer
        line 1 of the tasks cannot be used: `tolerance` is not a distance
        line 1 of the tasks cannot be used: the file `/etc/passwd` does not lie beside the tasks
        line 1 of the tasks cannot be used: the file `a-1/../../x` does not lie beside the tasks
        line 1 of the tasks cannot be used: `files` is empty
        line 1 of the tasks cannot be used: `question` is empty
        line 1 of the tasks cannot be used: invalid type: string "one", expected u64 at line 1 column 40
        line 1 of the tasks cannot be used: missing field `seed` at line 1 column 119
        line 1 of the tasks cannot be used: expected ident at line 1 column 2
        line 2 of the tasks cannot be used: the id `a-1` was used before
        line 1 of the tasks cannot be used: there is no task"#]]
    .assert_eq(&said.join("\n"));
    assert_eq!(read_tasks(&format!("{GOOD}\n\n")).unwrap().len(), 1);
}
